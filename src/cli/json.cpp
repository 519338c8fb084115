// JSON on standard output.
#include "cli/json.h"

#include <cmath>

namespace calotype::cli {

Json to_json(const Diagnostic& d) {
  return {{"kind", to_string(d.kind)},
          {"func", d.func},
          {"subject", d.func.empty() ? "" : to_string(d.subject)},
          {"stage", d.stage},
          {"directive", d.directive},
          {"value", d.value},
          {"legal", d.legal},
          {"message", d.message}};
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::string dump(const Json& object) {
  return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::Target:
      return 3;
    case ErrorKind::Internal:
      return 4;
    default:
      return 2;
  }
}

}  // namespace calotype::cli
