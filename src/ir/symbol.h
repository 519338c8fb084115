#pragma once
// The typed identities that expressions and statements refer to: symbols, callees, buffers and loops.
// A name is for people; identity is the object.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "calotype/expr.h"
#include "calotype/type.h"

namespace calotype::ir {

enum class SymbolKind : std::uint8_t {
  Var,       ///< a free coordinate of a definition (interned by name: equal names are one symbol)
  RVar,      ///< a coordinate of a reduction domain
  Dim,       ///< a named size, bound when a kernel is called
  Param,     ///< a scalar argument
  Loop,      ///< the variable of a loop
  Let,       ///< a value bound by Let
  Thread,    ///< threadIdx.x/y/z or blockIdx.x/y/z once threads are explicit
  Stride,    ///< the stride of a dimension of an argument, in elements
  MinCoord,  ///< the first coordinate of a dimension of an argument
};

/// A scalar variable. `unique` orders symbols deterministically in the order of their creation.
struct Symbol {
  SymbolKind kind;
  std::string name;
  Type type;
  std::uint64_t unique;
};
using SymbolPtr = std::shared_ptr<const Symbol>;

/// A fresh symbol; two calls with one name give two symbols.
SymbolPtr make_symbol(SymbolKind kind, std::string name, Type type = Int(64));
/// The symbol of a Var: one per name in the process.
SymbolPtr var_symbol(const std::string& name);

enum class CalleeKind : std::uint8_t { Func, Input };

/// What a Call refers to: a Func or an input image. Inside a Graph `index` is the FuncId or InputId.
struct Callee {
  CalleeKind kind;
  std::string name;
  int index = -1;
  int component = 0;  ///< which value of a Func that has several
  int rank = 0;
  Type type;
  /// Before a Graph is made: the front end's definition, kept alive by its uses (lang::FuncContents or
  /// lang::ImageContents). Null inside a Graph.
  std::shared_ptr<void> definition;
};
using CalleePtr = std::shared_ptr<const Callee>;
/// Inside a Graph: whether both are of one Func or input, whichever value of it they read.
inline bool same_source(const Callee& a, const Callee& b) { return a.kind == b.kind && a.index == b.index; }

enum class MemorySpace : std::uint8_t {
  Argument,  ///< memory of the caller: an input or output
  Heap,      ///< host memory from the allocator hook
  Stack,     ///< host memory of constant size
  Global,    ///< device workspace of the plan
  Shared,    ///< per block of threads
  Local,     ///< private to a thread, dynamically indexable
  Register,  ///< private to a thread, constant indices once unrolled
};
const char* to_string(MemorySpace space);

/// Memory that statements read and write. Before storage is flat an access has one coordinate a dimension
/// (mins[i] <= coordinate < mins[i] + extents[i]); afterwards one flat index in elements.
struct Buffer {
  std::string name;
  Type type;
  MemorySpace space = MemorySpace::Heap;
  std::vector<Expr> mins;
  std::vector<Expr> extents;
  std::vector<Expr> strides;  ///< in elements
  int argument = -1;          ///< for MemorySpace::Argument: position among the arguments of the pipeline
  bool read_only = false;     ///< never written by the program
  int shared_with = -1;  ///< for MemorySpace::Argument: position of an argument that may be the same memory
  std::int64_t alignment =
      1;                    ///< for MemorySpace::Argument: bytes that divide the address of its first element
  bool idempotent = false;  ///< threads may write an element at the same time, but the same value
  bool stored_copy = false;   ///< beside a Func's own memory, for looking at: no part of what was scheduled
  bool partial = false;       ///< partial results, one a lane: a lane that does not take part keeps its own
  bool stream_loads = false;  ///< its values are used once: loads, or stores, may pass the caches by
  bool stream_stores = false;
  std::int64_t offset =
      0;            ///< for MemorySpace::Shared: byte offset in the block's shared memory (memory pass)
  int swizzle = 0;  ///< for MemorySpace::Shared: bytes of the rows of layout/swizzle.h, 0 for plain addresses
  std::uint64_t unique = 0;  ///< order of creation
};
using BufferPtr = std::shared_ptr<const Buffer>;
BufferPtr make_buffer(Buffer description);

/// What the iterations of a loop are.
/// GpuCluster: the ranks of the blocks of a cluster.
enum class Binding : std::uint8_t { Serial, Unrolled, Vector, Parallel, GpuBlock, GpuThread, GpuCluster };
const char* to_string(Binding binding);

/// What of the threads along x a GpuThread loop is bound to: thread = warp * 32 + lane.
enum class ThreadPart : std::uint8_t { Whole, Lane, Warp };

/// Whether a loop is cut where its body tests for ends (see partition_loops).
enum class Partition : std::uint8_t { Auto, Never, Always };

}  // namespace calotype::ir
