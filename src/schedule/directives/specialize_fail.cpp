// specialize_fail: calls that no branch took are turned away.
#include <fmt/format.h>

#include "schedule/state.h"

namespace calotype {

Stage& Stage::specialize_fail(const std::string& message) {
  return record("specialize_fail", {{"message", message}});
}

namespace schedule {

/// The call's error is made by lowering: see Scheduled::rejection.
static void apply(Application& a) {
  const std::string& message = a.name("message");
  if (message.find_first_of("{}") != std::string::npos)
    a.refuse("the message has a brace, which stands for a value in messages of calls", message,
             "a text without '{' and '}'");
}

DirectiveSpec specialize_fail_spec() {
  return {.name = "specialize_fail",
          .addresses = Addresses::Stage,
          .doc =
              "Turns away calls that no branch of the stage took: an error with the message, and nothing is "
              "written.",
          .args = {{.name = "message", .kind = ArgKind::Text, .doc = "what the caller is told"}},
          .keeps_defaults = true,
          .refused = {"the stage, or branch, has a specialize_fail already", "the message has braces"},
          .apply = apply};
}

}  // namespace schedule
}  // namespace calotype
