#pragma once
// One kernel as CUDA C: the state that its parts share.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "codegen/cuda/expr_printer.h"
#include "codegen/cuda/printer.h"

namespace calotype::cuda {

class KernelPrinter final : private Hoister {
 public:
  KernelPrinter(const lower::Function& kernel, const PrintOptions& options, Prelude& prelude);
  std::string print(const std::string& name);

 private:
  // Statements (kernel_printer.cpp)
  std::string parameters(std::size_t indent);
  ir::Stmt take_narrow_scalars(const ir::Stmt& body);
  void place_variables();
  void statement(const ir::Stmt& s);
  void let(const ir::Stmt& s);
  void loop(const ir::Stmt& s);
  void branch(const ir::Stmt& s);
  void scalar_store(const ir::Stmt& s);
  void remote_store(const ir::Stmt& s);
  void allocation(const ir::Stmt& s);
  void own_array(const ir::BufferPtr& buffer, const ir::Stmt& body, std::int64_t elements);
  void print_line(const ir::Stmt& s);
  void braced(const std::string& head, const ir::Stmt& body);
  void line(const std::string& text);
  void comment(const std::string& text);
  void find_index_symbols(const ir::Stmt& s);
  Arithmetic arithmetic_of(const ir::SymbolPtr& symbol) const;
  std::string scalar(const Expr& e, Arithmetic a, Precedence p = Precedence::Conditional);

  // Synchronisations (synchronisation.cpp)
  void synchronisation(const ir::Stmt& s);
  std::string of_threads(const ir::SyncInfo& sync);
  std::string of_products(const ir::SyncInfo& sync);
  std::string change_registers(int number);

  // Instructions of tiles (tile_instructions.cpp)
  void find_tile_registers();
  bool is_tile(const ir::BufferPtr& buffer) const { return tile_registers_.contains(buffer.get()); }
  void instruction(const ir::Stmt& s);
  void call(const std::string& function, const std::vector<std::string>& arguments);
  std::string registers_of(const ir::InstructionUse& use, std::size_t i, const Expr& index);
  std::string matrix_at(const ir::OperandUse& use, const Expr& index);
  void pin_products();

  // Shared memory (shared_memory.cpp)
  void shared_memory();
  void shared_array(const ir::BufferPtr& buffer, std::int64_t elements);

  // Hoister
  void declare(const ir::SymbolPtr& symbol, const Expr& value) override;
  Expr take_apart(const Expr& e) override;

  // Atomic updates (atomics.cpp)
  void atomic_store(const ir::Stmt& s);
  void atomic_update(const ir::Atomic& update, const Expr& index, const Expr& value);

  // Asynchronous copies (async_copies.cpp)
  void async_store(const ir::Stmt& s);
  void copy_lane(const ir::Stmt& s, const Expr& value, const Expr& at);
  void copy_pieces(const ir::Stmt& s, const Expr& value, int bytes);
  void copy_element(const ir::BufferPtr& to, const Expr& index, const Expr& value);
  void start_copy(const ir::BufferPtr& to, const Expr& index, const ir::BufferPtr& from,
                  const Expr& from_index, int bytes);

  // Bulk copies and the rings that count them (bulk_copies.cpp)
  void make_rings();
  void make_common_ring(const ir::Ring& ring);
  void make_role_ring(const ir::Ring& ring);
  void finish_rings();
  void finish_boxes();
  void bulk_store(const ir::Stmt& s);
  void box_store(const ir::Stmt& s);
  void row_by_threads(const ir::Stmt& s, const std::string& first);
  std::string slot_of(const ir::Ring& ring, const Expr& slot);
  std::string arrival(const ir::Stmt& s);
  std::string awaiting(const ir::Stmt& s);
  std::string turn(const ir::Ring& ring);

  // Vectors (vector_printer.cpp): a loop over lanes, around which dense accesses are wide
  using Conditions = std::vector<Expr>;
  void vector_store(const ir::Stmt& s);
  void store_all_lanes(const ir::Stmt& s, const Conditions& known);
  void store_some_lanes(const ir::Stmt& s, const Conditions& conditions);
  void vector_let(const ir::Stmt& s);
  /// Declare the vector and return it as a variable.
  Expr vector_value(const Expr& value, const std::string& name, Arithmetic arithmetic);
  void fill_lanes(const std::string& lanes_of, const Expr& value, Arithmetic arithmetic);
  Expr lane(const Expr& e, const Expr& at);
  Expr name_shared(Expr value);
  void lane_loop(int lanes, const std::function<void(const Expr& lane)>& body);
  Expr vector_variable(const std::string& name, Type type, bool in_struct);
  void one_store(const ir::Stmt& s, const Expr& at, const Expr& value);

  // Dense accesses (wide_access.cpp)
  /// `e` with the loads of whole vectors declared before it, and masks that are known to hold left out.
  Expr hoist_loads(const Expr& e, const Conditions& known);
  Expr hoist_load(const Expr& load, const Conditions& known);
  void declare_masked(const Expr& load, const Conditions& masks, const std::string& name,
                      const std::string& type);
  bool any_wide(const ir::Stmt& s) const;
  /// Bytes of one access to a dense vector, 0 if single elements are as good.
  int wide_bytes(const ir::BufferPtr& buffer, const Expr& index) const;
  /// The same of pieces that it may be taken apart into.
  int piece_bytes(const ir::BufferPtr& buffer, const Expr& index) const;
  std::string wide_type(const ir::BufferPtr& buffer, const Expr& index);
  std::string wide_address(const ir::BufferPtr& buffer, const Expr& index, const std::string& type);
  std::string wide_load(const ir::BufferPtr& buffer, const Expr& index, const std::string& type);
  void wide_store(const ir::BufferPtr& buffer, const Expr& index, const std::string& type,
                  const std::string& value);
  bool can_stream(const ir::BufferPtr& buffer, const Expr& index) const;

  // Registers that hold two elements each, or four (packed.cpp)
  bool is_packed(const ir::Stmt& body, const ir::BufferPtr& buffer) const;
  bool fills_words(const ir::BufferPtr& buffer, const Expr& index) const;
  void store_words(const ir::Stmt& s, const Expr& value);
  void store_element(const ir::BufferPtr& buffer, const Expr& index, const std::string& value);

  const lower::Function& kernel_;
  const PrintOptions& options_;
  Prelude& prelude_;
  Names names_;
  ExprPrinter expressions_;
  ir::Facts facts_;
  std::string out_;
  int depth_ = 0;
  bool one_shared_block_ = false;
  std::map<const ir::Ring*, std::string> rings_;      // names
  std::map<const ir::Buffer*, bool> tile_registers_;  // of instructions; whether of products that go on
  std::vector<ir::BufferPtr> pinned_;                 // those of such products that are in scope
  std::set<const ir::Symbol*> index_symbols_;
  std::set<const ir::Symbol*> narrow_scalars_;  // arguments of 64 bits that the kernel takes in 32
  std::set<const ir::Symbol*> in_structs_;      // vectors whose lanes are name.v[lane], not name[lane]
  std::vector<ir::SymbolPtr> kept_;             // symbols made here, as long as names refer to them
};

/// Comments stay on their line, and no text ends one.
std::string one_line(std::string text);
/// Lane `lane` (an integer expression) of a vector expression. `lane_of` gives the lanes of vector variables;
/// the vectors inside are Ramps, Broadcasts, loads and operations on them.
Expr lane_of(const Expr& e, const Expr& lane,
             const std::function<Expr(const Expr& vector, const Expr& lane)>& lane_of_variable);
/// A scalar condition that holds if and only if all lanes of the predicate do; undefined where none is found.
Expr all_lanes(const Expr& predicate);
/// The conditions that the predicate is an And of.
std::vector<Expr> conjuncts(const Expr& predicate);
/// Whether each is the same for all lanes.
bool uniform(const std::vector<Expr>& conditions);
/// Whether the lanes of a vector index are neighbours.
bool is_dense(const Expr& index);
/// Loads under masks that are known to hold, without them.
Expr drop_known(const Expr& e, const std::vector<Expr>& known);

}  // namespace calotype::cuda
