#pragma once
// Operator: an algorithm by name, with the element types it comes in and the schedules that go with it. Every
// operator linked into a program that links `calotype::cli` is known to its command line.
//
//   // brighten.cpp
//   Pipeline brighten(const OperatorTypes& types) { ... }
//   CALOTYPE_OPERATOR(brighten).describe("adds `by` to an image").types({"u8", "f32"}).algorithm(brighten);
//
//   // brighten_schedules.cpp
//   CALOTYPE_SCHEDULES(brighten).schedule("tiled", Target::Kind::Host, "tiles of 64 x 64 in parallel",
//   tiled);

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "calotype/pipeline.h"
#include "calotype/schedule.h"

namespace calotype {

/// The element types an operator is made for: one for all arguments, or one for each named argument.
class OperatorTypes {
 public:
  OperatorTypes(Type all) : all_(all) {}
  OperatorTypes(std::vector<std::pair<std::string, Type>> named) : named_(std::move(named)) {}

  /// "bf16", or "A=s8,B=s8,C=s32". Error(Usage) for anything else.
  static OperatorTypes parse(const std::string& text);
  /// The inverse of `parse`.
  std::string str() const;

  /// The type of an argument. Error(Usage) if types are named and this argument is not among them.
  Type of(const std::string& argument) const;
  /// The one type of all arguments. Error(Usage) if types are named.
  Type all() const;
  /// Whether every argument has this type.
  bool all_are(Type type) const;
  bool operator==(const OperatorTypes&) const = default;

 private:
  std::optional<Type> all_;
  std::vector<std::pair<std::string, Type>> named_;
};

/// A schedule that goes with an operator, for documentation, benchmarks and `--schedule @NAME`.
struct NamedSchedule {
  std::string name;
  Target::Kind kind = Target::Kind::Host;  ///< Cuda stands for the interpreter too
  std::string description;
  std::function<Schedule(const OperatorTypes&)> make;
};

struct Operator {
  std::string name;
  std::string description;
  std::vector<OperatorTypes> types;  ///< the combinations it has; the first is the default
  std::function<Pipeline(const OperatorTypes&)> make;
  std::vector<NamedSchedule> schedules;
  /// Inputs that files may give with fewer dimensions: the outermost ones then have extent 1, and outputs of
  /// the input's rank are written without them. Input name to the least rank.
  std::map<std::string, int> least_rank;
  int registrations = 0;  ///< CALOTYPE_OPERATORs of this name; more than one is an error when it is looked up

  /// The one of `types` that is meant: itself, or for one type of all arguments the first that gives each of
  /// them that type. Error(Usage) lists them for any other.
  const OperatorTypes& combination(const OperatorTypes& asked) const;
  /// The Pipeline for one of `types`. Error(Usage) lists them for any other.
  Pipeline pipeline(const OperatorTypes& chosen) const;
  /// Error(Usage) lists the schedules if there is none of that name.
  const NamedSchedule& schedule(const std::string& schedule_name) const;
};

/// Every operator linked in, by name.
std::vector<const Operator*> operators();
/// Error(Usage) with the nearest names if there is none of that name, or two.
const Operator& find_operator(const std::string& name);

/// What the macros make: each call adds to the operator of that name.
class OperatorRegistration {
 public:
  explicit OperatorRegistration(Operator& entry) : entry_(&entry) {}
  OperatorRegistration& describe(const std::string& text);
  /// Each as for OperatorTypes::parse; the first is the default.
  OperatorRegistration& types(const std::vector<std::string>& combinations);
  OperatorRegistration& algorithm(std::function<Pipeline(const OperatorTypes&)> make);
  OperatorRegistration& least_rank(const std::string& input, int rank);
  OperatorRegistration& schedule(const std::string& name, Target::Kind kind, const std::string& description,
                                 std::function<Schedule(const OperatorTypes&)> make);

 private:
  Operator* entry_;
};

OperatorRegistration register_operator(const std::string& name);
OperatorRegistration register_schedules(const std::string& name);

}  // namespace calotype

/// At namespace scope of a source that is linked in as an object (not from a static library that nothing
/// refers to; `calotype_add_operators` in CMake sees to that).
#define CALOTYPE_OPERATOR(name)                                                             \
  [[maybe_unused]] static const ::calotype::OperatorRegistration calotype_operator_##name = \
      ::calotype::register_operator(#name)
/// Adds schedules to an operator, from the same or another source.
#define CALOTYPE_SCHEDULES(name)                                                             \
  [[maybe_unused]] static const ::calotype::OperatorRegistration calotype_schedules_##name = \
      ::calotype::register_schedules(#name)
