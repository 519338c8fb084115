#pragma once
// Instruction records: what a statement of a tile program is carried out by. A record is data: its meaning as
// a loop nest, the layouts of its operands, what it reads and writes and when that is complete, and its text
// for each target. Passes and the simulator read records; none of them knows an instruction by name. Adding
// one is one more record.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "layout/layout.h"

namespace calotype::instr {

/// Which unit of a multiprocessor (or core) carries the instruction out.
enum class Engine {
  Generic,     ///< the threads themselves: loads, arithmetic, stores
  AsyncCopy,   ///< copies from global to shared memory that pass no register
  BulkCopy,    ///< copies of whole rows, which one thread starts
  TensorCopy,  ///< copies of boxes of a tensor, which one thread starts
  Tensor,      ///< tensor cores, for a warp that waits for them
  WideTensor,  ///< tensor cores, for four warps that go on meanwhile
};
const char* to_string(Engine engine);

/// Through which path memory is accessed: accesses through different ones need a fence between.
enum class Proxy { Generic, Async };

/// When an access is complete for the issuing thread.
enum class Completion {
  ProgramOrder,  ///< before the thread's next instruction
  CommitGroup,   ///< when the thread has waited for the group of its copies that this one is in
  Transaction,   ///< when a barrier has counted its bytes, for all who have waited for that
  BoxGroup,      ///< when the thread has waited for the group of its boxes that this one is in
  ProductGroup,  ///< when the warp has waited for the group of its products that this one is in
};

/// What an instruction does to one operand.
struct Access {
  int operand = 0;  ///< 0 is the result
  bool writes = false;
  Proxy proxy = Proxy::Generic;
  Completion completion = Completion::ProgramOrder;
};

/// One operand: its role in the meaning and, where the instruction fixes it, the layout of its tile.
struct Operand {
  /// Where it is: elements in memory; a tile dealt to the registers of lanes; a tile in shared memory whose
  /// rows of 16 bytes lanes point at, one each; one in shared memory that a descriptor tells of.
  enum class Place { Elements, Registers, Rows, Matrix };
  std::string name;
  Type type;                            ///< element type; 0 bits: any
  std::vector<layout::Layout> layouts;  ///< empty: any
  Place place = Place::Elements;
};

struct TensorRule;

/// One instruction.
struct Instruction {
  std::string name;
  Engine engine = Engine::Generic;
  /// The loop nest it stands for, innermost loop first, as {name, extent}, 0 for any; empty: one element of
  /// a definition.
  std::vector<std::pair<std::string, std::int64_t>> loops;
  std::string meaning;  ///< "d(n, m) += a(k, m) * b(n, k)"
  std::vector<Operand> operands;
  std::vector<Access> accesses;
  std::vector<std::string> targets;  ///< that have it; empty: all
  int threads = 1;                   ///< that carry it out together: 1, a warp's 32, four warps' 128
  std::string text = {};             ///< in PTX, without its operands
  const TensorRule* rule = nullptr;  ///< of a product: its arithmetic
};

/// One evaluation of a definition by a thread: reads its operands and writes its result in program order.
const Instruction& element();

/// One element from global to shared memory by cp.async: started by a thread, complete with its group.
const Instruction& async_copy();

/// A row of elements from global to shared memory by cp.async.bulk: started by a thread, complete when its
/// barrier has counted its bytes.
const Instruction& bulk_copy();

/// A box of elements of a tensor in global memory to shared memory by cp.async.bulk.tensor: the same.
const Instruction& tensor_copy();

/// A box of elements of shared memory to a tensor in global memory: read, and written, when its group has been
/// waited for.
const Instruction& tensor_store();

/// What bulk and tensor copies ask of memory (PTX ISA, cp.async.bulk and "Tensors"): both ends begin at
/// multiples of so many bytes, and rows take a multiple of them.
inline constexpr int kBulkBytes = 16;
/// The longest side of a box, in elements.
inline constexpr int kBoxSide = 256;
/// Boxes go to multiples of so many bytes of shared memory: with rows of `swizzle` bytes that are swizzled
/// (0: none are) eight rows.
constexpr int box_place_bytes(int swizzle) { return std::max(128, 8 * swizzle); }

/// Every record, for the reference page and the tests.
std::span<const Instruction* const> all();

/// Whether what one instruction writes is seen by another thread's instruction once both have passed a
/// barrier of their block (and needs nothing else): both in program order and through one proxy.
bool ordered_by_barrier(const Instruction& first, const Instruction& second);
/// Whether the result is there only when a commit group has been waited for. After that a barrier orders it.
bool completes_by_group(const Instruction& instruction);
/// Whether it is there only when a group of products has been waited for. After that a barrier orders it.
bool completes_as_product(const Instruction& instruction);
/// Whether it goes out of shared memory meanwhile, which is read when a group of boxes has been waited for.
bool completes_as_boxes(const Instruction& instruction);
/// Whether it is there only when its barrier has counted its bytes, for those who have waited for that.
bool completes_by_transaction(const Instruction& instruction);

}  // namespace calotype::instr
