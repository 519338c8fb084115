#pragma once
// Coordinates of a Func as arguments of directives, and what several directives on regions and memory share.

#include <optional>
#include <vector>

#include "schedule/state.h"

namespace calotype::schedule {

/// The position of the coordinate that argument `arg` names; refused if the Func has none of that name.
int find_dim(const Application& a, const std::string& arg = "dim");
int find_dim_named(const Application& a, const std::string& name);
std::vector<int> find_dims(const Application& a, const std::string& arg);

/// The named size; refused if the algorithm has none of that name.
ir::SymbolPtr find_size(const Application& a, const std::string& size);

/// Records a bound of [min, min + extent), or of the extent alone, and refuses a second one.
void promise_bound(const Application& a, std::optional<std::int64_t> min);
/// Records an alignment of the region and refuses a second one.
void align_region(const Application& a, std::int64_t modulus, std::optional<std::int64_t> remainder);
/// Refuses where an alignment and a bound of one coordinate contradict each other.
void check_alignment(Application& a);

/// The memory of the Func, refused for an output: that is the caller's.
StorageSchedule& own_memory(const Application& a);
/// The same for a directive on strides, refused where a layout gives them.
StorageSchedule& own_strides(const Application& a);
/// Records `value` for argument "dim" in a list of the Func's memory, and refuses a second one.
void set_dim_number(const Application& a, std::vector<DimNumber>& list, std::int64_t value);

/// The argument of all of them.
ArgSpec dim_argument();

}  // namespace calotype::schedule
