// The whole command line: from argv to printed text or JSON and the exit code.
#include <cstdio>
#include <cstring>
#include <new>

#include "calotype/error.h"
#include "cli/command.h"

namespace calotype::cli {
namespace {

Outcome dispatch(const Options& options) {
  if (options.command == "list") return list_command();
  if (options.command == "run") return run_command(options.run);
  if (options.command == "show") return show_command(options.show);
  if (options.command == "explain") return explain_command(options.explain);
  if (options.command == "verify") return verify_command(options.verify);
  return schedule_command(options.schedule);
}

// Known before the command line is parsed, since a failure to parse is reported as JSON too.
bool wants_json(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--json") == 0) return true;
  return false;
}

int fail(bool json, const Options& options, const Diagnostic& diagnostic) {
  std::fprintf(stderr, "calotype: %s error: %s\n", to_string(diagnostic.kind), diagnostic.str().c_str());
  if (json) {
    Json object;
    if (!options.command.empty()) object["command"] = options.command;
    for (const Selection* select : {&options.run.select, &options.verify.run.select})
      if (!select->op.empty()) object["operator"] = select->op;
    object["error"] = to_json(diagnostic);
    std::fputs(dump(object).c_str(), stdout);
  }
  return exit_code(diagnostic.kind);
}

Diagnostic internal(const std::string& message) {
  Diagnostic d;
  d.message = message;
  return d;
}

}  // namespace

int command_line(int argc, const char* const* argv) {
  const bool json = wants_json(argc, argv);
  Options options;
  try {
    options = parse_options(argc, argv);
    if (!options.help.empty()) {
      std::fputs(options.help.c_str(), stdout);
      return 0;
    }
    const Outcome outcome = dispatch(options);
    std::fputs(json ? dump(outcome.json).c_str() : outcome.text.c_str(), stdout);
    return outcome.code;
  } catch (const Error& error) {
    return fail(json, options, error.diagnostic());
  } catch (const std::bad_alloc&) {
    Diagnostic d;
    d.kind = ErrorKind::Usage;
    d.message = "there is not enough memory for these sizes";
    d.legal = "smaller sizes";
    return fail(json, options, d);
  } catch (const std::exception& error) {
    return fail(json, options, internal(error.what()));
  }
}

}  // namespace calotype::cli
