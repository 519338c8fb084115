// Collection of findings, and reports as text.

#include "sim/findings.h"

#include <fmt/format.h>

namespace calotype::sim {

const char* to_string(Fault fault) {
  switch (fault) {
    case Fault::Race:
      return "data race";
    case Fault::OutOfBounds:
      return "out of bounds";
    case Fault::Uninitialised:
      return "uninitialised read";
    case Fault::Unfinished:
      return "unfinished copy";
    case Fault::UnfinishedProduct:
      return "unfinished product";
    case Fault::MissingFence:
      return "missing fence";
    case Fault::RingOverwrite:
      return "ring overwrite";
    case Fault::PhaseMisuse:
      return "phase misuse";
    case Fault::Divergence:
      return "barrier divergence";
    case Fault::Deadlock:
      return "deadlock";
    case Fault::NotRunning:
      return "block not running";
    case Fault::Misaligned:
      return "misaligned access";
    case Fault::IllegalBox:
      return "illegal box";
    case Fault::IllegalMatrix:
      return "illegal matrix";
    case Fault::Registers:
      return "illegal registers";
    case Fault::IndexOverflow:
      return "index overflow";
    case Fault::CheckFailed:
      return "check failed";
    case Fault::StepLimit:
      return "step limit";
  }
  return "";
}

void Findings::place_in_program(Finding& finding, int place) const {
  finding.kernel = code_.name;
  if (place < 0) return;
  const int scope = code_.instructions[static_cast<std::size_t>(place)].scope;
  finding.stage = code_.stage_of(scope);
  finding.directive = code_.origin_of(scope);
}

bool Findings::seen_before(Fault fault, int place) {
  const auto [entry, is_new] = known_.try_emplace({fault, place}, -1);
  if (!is_new) {
    if (entry->second >= 0) ++report_.findings[static_cast<std::size_t>(entry->second)].count;
    return true;
  }
  if (static_cast<std::int64_t>(report_.findings.size()) >= most_) {
    ++report_.dropped;
    return true;
  }
  entry->second = static_cast<std::int64_t>(report_.findings.size());
  return false;
}

std::string to_string(const Report& report) {
  std::string text;
  for (const Finding& f : report.findings) {
    text += fmt::format("{}: {}", f.kind, f.message);
    if (f.count > 1) text += fmt::format(" ({} times here)", f.count);
    text += "\n";
  }
  if (report.dropped > 0) text += fmt::format("and {} more places with findings\n", report.dropped);
  if (report.clean()) text += "no findings\n";
  text += fmt::format("{} blocks, {} barriers, {} loads, {} stores\n", report.blocks, report.barriers,
                      report.loads, report.stores);
  for (const auto& [name, count] : report.instructions) text += fmt::format("  {}: {}\n", name, count);
  return text;
}

}  // namespace calotype::sim
