// Coordinates of a Func as arguments of directives, and what several directives on regions and memory share.
#include "schedule/dims.h"

#include <fmt/format.h>

#include <algorithm>

namespace calotype::schedule {

int find_dim_named(const Application& a, const std::string& name) {
  const lang::FuncDef& f = a.func_def();
  std::vector<std::string> names;
  for (int d = 0; d < f.rank(); d++) {
    names.push_back(f.args[d]->name);
    if (names.back() == name) return d;
  }
  a.refuse(fmt::format("'{}' has no coordinate '{}'", f.name, name), name,
           name_choices(name, names, "coordinates of " + f.name));
}

namespace {

std::int64_t floor_mod(std::int64_t a, std::int64_t b) { return ((a % b) + b) % b; }

}  // namespace

int find_dim(const Application& a, const std::string& arg) { return find_dim_named(a, a.name(arg)); }

std::vector<int> find_dims(const Application& a, const std::string& arg) {
  std::vector<int> dims;
  for (const std::string& name : a.names(arg)) dims.push_back(find_dim_named(a, name));
  return dims;
}

ir::SymbolPtr find_size(const Application& a, const std::string& size) {
  std::vector<std::string> names;
  for (const ir::SymbolPtr& dim : a.state.out.graph.dims) {
    if (dim->name == size) return dim;
    names.push_back(dim->name);
  }
  a.refuse(fmt::format("the algorithm has no size '{}'", size), size, name_choices(size, names, "sizes"));
}

void promise_bound(const Application& a, std::optional<std::int64_t> min) {
  const int dim = find_dim(a);
  std::vector<BoundPromise>& bounds = a.state.out.funcs[a.func.value].bounds;
  for (const BoundPromise& b : bounds)
    if (b.dim == dim)
      a.refuse(fmt::format("'{}' is bounded already, by {}", a.name("dim"), b.origin), a.name("dim"),
               "one bound a coordinate");
  bounds.push_back({dim, min, a.integer("extent"), a.origin()});
}

void align_region(const Application& a, std::int64_t modulus, std::optional<std::int64_t> remainder) {
  const int dim = find_dim(a);
  std::vector<BoundAlignment>& alignments = a.state.out.funcs[a.func.value].alignments;
  for (const BoundAlignment& other : alignments)
    if (other.dim == dim)
      a.refuse(fmt::format("'{}' is aligned already, by {}", a.name("dim"), other.origin), a.name("dim"),
               "one alignment a coordinate");
  alignments.push_back({dim, modulus, remainder, a.origin()});
}

void check_alignment(Application& a) {
  const FuncSchedule& f = a.state.out.of(a.func);
  for (const BoundAlignment& align : f.alignments) {
    if (align.origin != a.origin()) continue;
    for (const BoundPromise& b : f.bounds) {
      if (b.dim != align.dim) continue;
      const bool starts = !align.remainder || !b.min ||
                          floor_mod(*b.min, align.modulus) == floor_mod(*align.remainder, align.modulus);
      if (starts && b.extent % align.modulus == 0) continue;
      a.refuse(fmt::format("the bound of '{}' by {} is no such region", a.name("dim"), b.origin),
               std::to_string(align.modulus), fmt::format("a divisor of {}, or another bound", b.extent));
    }
  }
}

StorageSchedule& own_memory(const Application& a) {
  if (a.state.out.graph.is_output(a.func))
    a.refuse(fmt::format("'{}' is an output, which lives in the caller's memory", a.func_def().name),
             a.func_def().name, "a Func of its own for what goes before it");
  return a.state.out.funcs[a.func.value].storage;
}

StorageSchedule& own_strides(const Application& a) {
  StorageSchedule& memory = own_memory(a);
  if (!memory.layout.empty())
    a.refuse(fmt::format("the memory of '{}' is laid out by {}, whose parts have strides of their own",
                         a.func_def().name, memory.layout_origin),
             a.func_def().name, "other parts; bound_storage, which the parts then divide; or no layout");
  return memory;
}

void set_dim_number(const Application& a, std::vector<DimNumber>& list, std::int64_t value) {
  const int dim = find_dim(a);
  if (const DimNumber* other = StorageSchedule::find(list, dim))
    a.refuse(fmt::format("'{}' has one already, by {}", a.name("dim"), other->origin), a.name("dim"),
             fmt::format("one {} a coordinate", a.spec.name));
  list.push_back({dim, value, a.origin()});
}

ArgSpec dim_argument() { return {.name = "dim", .kind = ArgKind::Dim, .doc = "a coordinate of the Func"}; }

}  // namespace calotype::schedule
