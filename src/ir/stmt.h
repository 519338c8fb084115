#pragma once
// Statements: what the loop tree becomes at level `lowered`. One node type, as for expressions.

#include "ir/expr_node.h"

namespace calotype::instr {
struct Instruction;
}

namespace calotype::ir {

/// Kinds of statements, with their operands.
///
// clang-format off
/// | kind        | exprs                           | stmts         | attr                                             |
/// | Block       |                                 | in order      |                                                  |
/// | Let         | value                           | body          | Symbol                                           |
/// | For         | min, extent                     | body          | LoopInfo                                         |
/// | If          | condition                       | then [, else] |                                                  |
/// | Store       | value, predicate, coordinates.. |               | Buffer, Atomic, AsyncStore, BulkStore or Remote  |
/// | Allocate    |                                 | body          | Buffer                                           |
/// | Check       | condition, values..             |               | text                                             |
/// | Print       | condition, values..             |               | text                                             |
/// | Barrier     | [slot, [rank]]                  |               | SyncInfo                                         |
/// | Note        |                                 | body          | Note                                             |
/// | Prefetch    | index, (count, step)..          |               | Buffer                                           |
/// | Extern      | as its record says              |               | ExternCall                                       |
/// | Meter       | [amount]                        | [body]        | Meter                                            |
/// | Locked      | index                           | body          | Buffer                                           |
/// | Instruction | index of each operand, [adds]   |               | InstructionUse                                   |
// clang-format on
///
/// Store: predicate is Bool of as many lanes as the value; false lanes touch no memory. It is always there:
/// the constant true where there is no condition (`is_one(predicate)`). With an Atomic the element becomes
/// what it was, combined with the value, in one step that no other thread sees half done; lanes follow each
/// other. As an AsyncStore, of a value that is loaded, it has happened only once its group has been waited
/// for: see SyncInfo. A BulkStore, of a value that is loaded, stands for a row of elements: behind the index
/// of the first follow the slot of its ring, their number, and the distance from one to the next where they
/// are read (they go side by side); no condition. One with a TensorMap stands for a box of elements: behind
/// the index of the first follow the slot, the first one's coordinates in the tensor and, if it goes to
/// several blocks of the cluster, an integer with the bits of their ranks; its value tells the type alone.
/// With a Remote a second coordinate follows the index: the rank in the cluster of the block in whose shared
/// memory the element lies. Check: the text has one {} a value; a false condition ends the call with that
/// message. Print: a line of text where the condition holds; "{{" in it stands for a brace. Note: a comment
/// for printers ("produce blur_y, computed at out.yo"). Prefetch: a hint to load the elements at index + i *
/// step + j * step .. for all i, j .. below their counts; they need not exist. Let: may also bind a vector
/// value. Meter: in profiled programs alone; see struct Meter. Locked: while the body runs, no other thread
/// runs one that is locked by the same element of the buffer. Instruction: what the lanes of a warp, or of
/// four warps, do together to tiles; see InstructionUse.
///
/// The extents, mins and strides of a Buffer are part of its identity, not operands of the statements that
/// name it: visiting and rewriting leave them alone.
enum class StmtKind : std::uint8_t {
  Block,
  Let,
  For,
  If,
  Store,
  Allocate,
  Check,
  Print,
  Barrier,
  Note,
  Prefetch,
  Extern,
  Meter,
  Locked,
  Instruction
};

/// A loop as printers and debuggers see it.
struct LoopInfo {
  SymbolPtr var;
  Binding binding = Binding::Serial;
  int axis = 0;                         ///< for GpuBlock, GpuThread: 0 x, 1 y, 2 z
  ThreadPart part = ThreadPart::Whole;  ///< for GpuThread along x
  std::string func = {};                ///< the Func of the stage that it belongs to
  std::string origin = {};              ///< what made it: "split(y, yo, yi, 32)"; empty: the stage itself
  Partition partition = Partition::Auto;
  std::string partition_origin = {};  ///< the directive that says so
  bool in_text = false;               ///< of an unrolled one: it stays a loop, which the text says to unroll

  /// "blur_y: split(y, yo, yi, 32)".
  std::string text() const { return func.empty() || origin.empty() ? func + origin : func + ": " + origin; }
};
using LoopInfoPtr = std::shared_ptr<const LoopInfo>;

/// What a Store does that combines its value with the element: element = element op value.
struct Atomic {
  BufferPtr buffer;
  Op op;  ///< a reduction: + * min max and those of bits and logic
};
using AtomicPtr = std::shared_ptr<const Atomic>;

/// What a Store does that starts a copy and does not wait for it. Until a Wait of the same thread says so the
/// element is neither the old nor the new one.
struct AsyncStore {
  BufferPtr buffer;
};
using AsyncStorePtr = std::shared_ptr<const AsyncStore>;

/// Barriers in shared memory that count what arrives, one for each slot of a ring: in turn, each time, all
/// warps of the block (Arrive), the bytes of the bulk copies to the slot that they have started before, and
/// the bytes that blocks of the cluster send with it. A ring between roles counts `arrivals` warps instead;
/// whoever waits there need not arrive, and waits the n-th time for the n-th phase; they may be warps of
/// other blocks of the cluster. Where it is `open` slots are free at first: who waits for the first time goes
/// on, and so on one phase behind.
struct Ring {
  std::string name;
  int slots = 1;
  std::int64_t offset = 0;   ///< bytes in the block's shared memory
  SymbolPtr turn = nullptr;  ///< the slot in use, an Int(32) that Turn moves on; null: operands say which
  bool of_cluster = false;   ///< other blocks send with it
  int arrivals = 0;          ///< warps that arrive in a phase; 0: all of the block
  bool open = false;         ///< of a ring between roles
};
using RingPtr = std::shared_ptr<const Ring>;
inline constexpr std::int64_t kBarrierBytes = 8;

/// Memory of a call as a tensor that boxes are copied from, or to. It is one for each kernel, and the plan
/// says at each launch where it lies; coordinates count from the smallest. What a box has outside of it is
/// zeros, and stays as it was where it goes there.
struct TensorMap {
  std::string name;
  BufferPtr source;
  std::vector<std::int64_t> box;  ///< elements along each dimension of the source
  int swizzle = 0;                ///< of the copy in shared memory, as Buffer::swizzle
  std::string origin = {};        ///< the directive that asks for the copy
  std::int64_t elements() const {
    std::int64_t product = 1;
    for (const std::int64_t extent : box) product *= extent;
    return product;
  }
};
using TensorMapPtr = std::shared_ptr<const TensorMap>;

/// What a Store does that starts the copy of a row or box: it has happened when the slot of the ring is
/// complete. One that is `common` is met by all threads of the block, as one copy, one that is `of_warp` by
/// all threads of a warp; else each thread has its own. A box for several blocks lies in the same place of
/// each, whose own ring counts it: there an Arrive says how many bytes come.
///
/// A box that goes `out` is copied the other way, from the buffer to what of the box lies inside the tensor,
/// by each thread that comes there, which is one of a warp or block under an If. No ring counts it: that
/// thread's BoxesCommit, BoxesRead and BoxesWritten do. What threads have written to the buffer is fenced by
/// those, which then meet with the one that sends it. Behind the end of a kernel all has happened that is in
/// a group.
struct BulkStore {
  BufferPtr buffer;
  RingPtr ring;
  bool common = false;
  TensorMapPtr map = nullptr;  ///< of a box; null: a row
  bool of_warp = false;        ///< of a box
  bool out = false;            ///< of a box
};
using BulkStorePtr = std::shared_ptr<const BulkStore>;

/// A Store to the shared memory of a block of the cluster: it has happened behind a barrier of the cluster,
/// or when the slot of that block's ring is complete.
struct Remote {
  BufferPtr buffer;
  RingPtr ring = nullptr;
};
using RemotePtr = std::shared_ptr<const Remote>;

/// A synchronisation, placed by the sync pass alone.
struct SyncInfo {
  enum class Kind : std::uint8_t {
    Block,    ///< all threads of the block meet
    Cluster,  ///< all threads of the cluster's blocks meet, whose stores to each other's memory are then
              ///< complete
    ClusterArrive,  ///< the first half of that: the thread has come
    ClusterWait,    ///< and the second: all others have
    Commit,  ///< the thread's asynchronous stores since its last Commit are a group, maybe an empty one
    Wait,    ///< the thread goes on when all its groups but the `pending` latest have happened
    Arrive,  ///< the warp has started its bulk copies to the slot of the ring, or has none; of a ring between
             ///< roles it may be that of another block, whose rank is the second operand
    Await,   ///< the thread goes on when all that was to arrive in the slot since it was complete last has
    Turn,    ///< the ring's next slot is in use
    Warp,    ///< the lanes of the warp meet
    Some,    ///< warps of `threads` threads of the block meet at the barrier of that `number`
    SomeArrive,    ///< the first half of that: the warp has come and goes on
    Fence,         ///< what threads have done to shared memory comes before what goes another way behind it
    ProductFence,  ///< what the warp has done to its registers comes before products of four warps behind it;
                   ///< `pending` groups of those may be under way
    ProductCommit,  ///< the warp's products of four warps since the last one are a group
    ProductWait,    ///< the warp goes on when all its groups but the `pending` latest are there
    ProductRead,    ///< the same, for what products read of shared memory: nobody looks at results yet
    BoxesCommit,    ///< boxes that the thread has sent out since the last one are a group
    BoxesRead,      ///< the thread goes on when all its groups but the `pending` latest have been read from
                    ///< shared memory; behind the end of a kernel all have
    BoxesWritten,   ///< the same, until they have been written to the tensor as well
    Registers,      ///< the warp has `number` registers a thread from here on; more wait until they are free
  } kind = Kind::Block;
  std::string reason = {};  ///< "tile written by x, read by y"
  int pending = 0;
  RingPtr ring = nullptr;  ///< Arrive, Await, Turn; the operand says which slot
  std::int64_t bytes = 0;  ///< Arrive: that blocks of the cluster send to the slot, or boxes for several
  bool fence = false;      ///< Block, Cluster, Arrive: with a Fence in front
  int number = 0;          ///< Some: from 1 on, 0 is the block's; Registers
  int threads = 0;         ///< Some: a multiple of 32
};
using SyncInfoPtr = std::shared_ptr<const SyncInfo>;

/// A comment on a body, which may be the production of a stage.
struct Note {
  std::string text;
  std::string stage = {};   ///< "blur_y": whose values the body makes
  std::string origin = {};  ///< the directive that has placed it there: "#3 compute_at(out, yo)"
};
using NotePtr = std::shared_ptr<const Note>;

/// What a profiled program measures. Time and Stage stand around a body, Sum and Peak before what they count.
struct Meter {
  enum class Kind : std::uint8_t {
    Time,   ///< while the body runs the clock of `index` does, and none around it
    Stage,  ///< marks what computes stage `index` of a Func; gone once measured
    Sum,    ///< adds the amount to the counter `index`
    Peak,   ///< adds the amount, which may be negative, to the level `index`, whose highest value is kept
  } kind;
  int index = 0;
  std::string name;  ///< for printers
};
using MeterPtr = std::shared_ptr<const Meter>;

/// A call of a function that computes a box. The operands of the statement: for each of `boxes` the index of
/// the element at the smallest coordinates, then for each dimension the smallest coordinate, the extent and
/// the stride; then the scalars.
struct ExternCall {
  /// Part of a buffer, as the function sees it.
  struct Box {
    BufferPtr buffer;
    Type type;  ///< of the values: the buffer's may hold their bits
    int rank = 0;
  };
  ExternPtr callee;
  std::string func;        ///< the Func whose values they are
  std::vector<Box> boxes;  ///< the outputs, one for each value, then the inputs
  std::size_t scalars = 0;
  std::size_t outputs() const { return callee->types.size(); }
};
using ExternCallPtr = std::shared_ptr<const ExternCall>;

/// How an operand of an instruction lies in its buffer, from the element on that the statement's operand is
/// the index of. In registers: the elements that the record gives a lane, side by side. As rows: each lane
/// has the index of its own row. As a matrix in shared memory that is described: as the fields say (PTX ISA,
/// "Matrix descriptor").
struct OperandUse {
  BufferPtr buffer;
  bool transposed = false;  ///< its dimension n or m is dense, not k
  int swizzle = 0;          ///< bytes of the rows whose pieces of 16 bytes change places: 0, 32, 64, 128
  std::int64_t leading = 0, stride = 0;  ///< bytes, what they are between depends on the two above
};

/// What the lanes of a warp, or of four warps from a multiple of four on, do together: all of them come
/// there. Behind the operands' indices, for products, a Bool: whether the sum is added to what the result
/// was, or replaces it.
struct InstructionUse {
  const instr::Instruction* record = nullptr;
  std::string name;  ///< of the record
  std::vector<OperandUse> operands;
};
using InstructionUsePtr = std::shared_ptr<const InstructionUse>;

struct StmtNode;
using Stmt = std::shared_ptr<const StmtNode>;
using StmtAttr = std::variant<std::monostate, SymbolPtr, LoopInfoPtr, BufferPtr, SyncInfoPtr, MeterPtr,
                              std::string, AtomicPtr, ExternCallPtr, AsyncStorePtr, BulkStorePtr, RemotePtr,
                              NotePtr, InstructionUsePtr>;

struct StmtNode {
  StmtKind kind;
  std::vector<Expr> exprs;
  std::vector<Stmt> stmts;
  StmtAttr attr;

  const SymbolPtr& symbol() const { return std::get<SymbolPtr>(attr); }
  const LoopInfo& loop() const { return *std::get<LoopInfoPtr>(attr); }
  const BufferPtr& buffer() const {
    if (const Atomic* update = atomic()) return update->buffer;
    if (const AsyncStorePtr* copy = std::get_if<AsyncStorePtr>(&attr)) return (*copy)->buffer;
    if (const BulkStore* row = bulk()) return row->buffer;
    const Remote* other = remote();
    return other ? other->buffer : std::get<BufferPtr>(attr);
  }
  /// Of a Store that is one; else null.
  const Atomic* atomic() const {
    const AtomicPtr* update = std::get_if<AtomicPtr>(&attr);
    return update ? update->get() : nullptr;
  }
  /// Whether a Store is an AsyncStore.
  bool is_async() const { return std::holds_alternative<AsyncStorePtr>(attr); }
  /// Of a Store that is one; else null.
  const BulkStore* bulk() const {
    const BulkStorePtr* copy = std::get_if<BulkStorePtr>(&attr);
    return copy ? copy->get() : nullptr;
  }
  /// Of a Store of a box; else null.
  TensorMapPtr box() const { return bulk() ? bulk()->map : nullptr; }
  /// Of one that goes to several blocks: the bits of their ranks; else undefined.
  Expr receivers() const {
    const TensorMapPtr map = box();
    return map && exprs.size() > 4 + map->box.size() ? exprs.back() : Expr();
  }
  /// Of a Store to another block's memory; else null.
  const Remote* remote() const {
    const RemotePtr* other = std::get_if<RemotePtr>(&attr);
    return other ? other->get() : nullptr;
  }
  const SyncInfo& sync() const { return *std::get<SyncInfoPtr>(attr); }
  const Meter& meter() const { return *std::get<MeterPtr>(attr); }
  const ExternCall& extern_call() const { return *std::get<ExternCallPtr>(attr); }
  const std::string& text() const {
    return kind == StmtKind::Note ? note().text : std::get<std::string>(attr);
  }
  const InstructionUse& instruction() const { return *std::get<InstructionUsePtr>(attr); }
  const Note& note() const { return *std::get<NotePtr>(attr); }
  const Stmt& body() const { return stmts.front(); }
};

Stmt make_stmt(StmtKind kind, std::vector<Expr> exprs, std::vector<Stmt> stmts, StmtAttr attr = {});
Stmt block(std::vector<Stmt> stmts);  ///< flattens nested blocks; one statement stands for itself
Stmt let_stmt(const SymbolPtr& symbol, Expr value, Stmt body);
Stmt for_loop(LoopInfo loop, Expr min, Expr extent, Stmt body);
Stmt if_then(Expr condition, Stmt then_case, Stmt else_case = nullptr);
Stmt store(const BufferPtr& buffer, Expr value, std::vector<Expr> coordinates, Expr predicate = {});
Stmt atomic_store(const BufferPtr& buffer, Op op, Expr value, std::vector<Expr> coordinates,
                  Expr predicate = {});
/// To the memory that the block of that rank in the cluster has in the buffer's place.
Stmt remote_store(const BufferPtr& buffer, Expr value, Expr index, Expr rank, const RingPtr& ring = nullptr);
/// The same Store (an Atomic, AsyncStore, BulkStore or Remote stays one) with other operands.
Stmt store_like(const Stmt& s, Expr value, std::vector<Expr> coordinates, Expr predicate = {});
Stmt allocate(const BufferPtr& buffer, Stmt body);
Stmt check(Expr condition, std::string text, std::vector<Expr> values = {});
Stmt print_line(Expr condition, std::string text, std::vector<Expr> values = {});
/// A plain Store as an AsyncStore.
Stmt async_store(const Stmt& store);
/// A row of `count` elements from the load on, to `index` and on.
struct RowCopy {
  Expr load, index, count, step, slot;
};
Stmt bulk_store(BulkStore how, RowCopy row);
/// A box from the coordinates `start` of the tensor on, to `index` and on, or the other way. One that goes
/// out has no slot.
struct BoxCopy {
  Expr index, slot;
  std::vector<Expr> start;
  Expr receivers = {};  ///< bits of the ranks of blocks; undefined: this one alone
};
Stmt box_store(BulkStore how, BoxCopy box);
Stmt barrier(std::string reason, SyncInfo::Kind kind = SyncInfo::Kind::Block);
Stmt synchronise(SyncInfo sync, Expr slot = {}, Expr rank = {});
Stmt note(Note note, Stmt body);
Stmt prefetch(const BufferPtr& buffer, Expr index,
              const std::vector<std::pair<Expr, Expr>>& counts_and_steps);
Stmt call_extern(ExternCall call, std::vector<Expr> operands);
Stmt instruction(InstructionUse use, std::vector<Expr> operands);
Stmt metered(Meter meter, Stmt body);  ///< Time, Stage
Stmt count(Meter meter, Expr amount);  ///< Sum, Peak; the amount is an Int(64)
Stmt locked(const BufferPtr& buffer, Expr index, Stmt body);

/// Rebuild with mapped expressions and statements; returns `s` itself if nothing changed. A null statement
/// from `on_stmt` removes it.
Stmt map_children(const Stmt& s, const std::function<Expr(const Expr&)>& on_expr,
                  const std::function<Stmt(const Stmt&)>& on_stmt);
/// Bottom-up rewriting of statements (expressions untouched).
Stmt rewrite(const Stmt& s, const std::function<Stmt(const Stmt&)>& f);
/// Rewrite every expression in the tree.
Stmt rewrite_exprs(const Stmt& s, const std::function<Expr(const Expr&)>& f);
/// Preorder visit of statements.
void visit(const Stmt& s, const std::function<void(const Stmt&)>& f);
/// Visit every expression root in the tree, preorder.
void visit_exprs(const Stmt& s, const std::function<void(const Expr&)>& f);
Stmt substitute(const Stmt& s, const Substitution& map);

/// "barrier", "commit copies", "wait for copies but the latest 1".
std::string to_string(const SyncInfo& sync);
/// Indented pseudo-code, one statement a line.
std::string to_string(const Stmt& s);

}  // namespace calotype::ir
