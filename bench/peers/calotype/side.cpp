// Our side of every comparison: a registered operator under a schedule of its own, on this machine.
//
//   calotype_side OPERATOR TYPE SCHEDULE NAME=SIZE,... [INPUT FILE]...
//
// SCHEDULE is "shipped", or as for `calotype run`: a file, "best", "@NAME" or "empty". Commands on standard
// input: see serve.h.
#include <memory>

#include "../../arguments.h"
#include "../../shipped.h"
#include "../serve.h"
#include "calotype/calotype.h"

namespace {

using namespace calotype;

peers::Side side(const Operator& op, const peers::Job& job) {
  const OperatorTypes types = OperatorTypes::parse(job.type);
  const auto pipeline = std::make_shared<const Pipeline>(op.pipeline(types));
  const cli::ChosenSchedule chosen =
      bench::schedule_named(job.schedule, op, types, *pipeline, Target::host());
  const auto schedule = std::make_shared<const Schedule>(chosen.schedule);
  const auto arguments = std::make_shared<const bench::Arguments>(
      bench::make_arguments(*pipeline, {job.sizes.begin(), job.sizes.end()}));
  if (job.files.size() != arguments->inputs.size()) throw std::runtime_error("one file an input is needed");
  for (std::size_t i = 0; i < job.files.size(); ++i)
    peers::read_bytes(job.files[i], arguments->inputs[i].data(), bench::bytes_of(arguments->inputs[i]));
  const auto kernel = std::make_shared<const Kernel>(pipeline->compile(*schedule, Target::host()));

  peers::Side made;
  made.about = "calotype " CALOTYPE_VERSION ", schedule " + chosen.source;
  for (const std::string& note : chosen.notes) made.about += ", " + note;
  made.run = [=] { kernel->call(arguments->all); };
  made.compile = [&op, types, schedule] { op.pipeline(types).compile(*schedule, Target::host()); };
  made.write = [=](const std::string& path) {
    peers::write_bytes(path, arguments->outputs[0].data(), bench::bytes_of(arguments->outputs[0]));
  };
  return made;
}

}  // namespace

int main(int argc, char** argv) {
  return peers::serve_or_fail([&] {
    if (argc < 2)
      throw std::runtime_error("usage: calotype_side OPERATOR TYPE SCHEDULE NAME=SIZE,... [FILE]...");
    return side(find_operator(argv[1]), peers::parse_job(argc, argv, 2));
  });
}
