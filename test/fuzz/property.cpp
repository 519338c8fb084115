// The property that random pairs are tried on.
#include "fuzz/property.h"

#include <fmt/format.h>

#include <sstream>

#include "fuzz/guarded.h"
#include "fuzz/justified.h"
#include "lang/equality.h"
#include "schedule/directive.h"

namespace calotype::fuzz {

namespace {

struct Failure {
  std::string what, detail;
};

/// The buffers of one call.
struct Call {
  std::vector<Guarded> inputs, outputs;
  std::vector<const OutputSpec*> output_of;  ///< by output: of one with several values as often as it has
  std::vector<Buffer> input_buffers() const {
    std::vector<Buffer> all;
    for (const Guarded& g : inputs) all.push_back(g.buffer());
    return all;
  }
};

std::vector<std::int64_t> extents_of(const std::vector<Node>& nodes, const Sizes& sizes) {
  std::vector<std::int64_t> extents;
  for (const Node& n : nodes) extents.push_back(number(n, sizes));
  return extents;
}

void fill(Random& random, const InputSpec& spec, const Buffer& b) {
  std::vector<std::int64_t> at(b.rank(), 0);
  for (int d = 0; d < b.rank();) {
    double v = static_cast<double>(random.within(spec.low, spec.high));
    if (!spec.whole) v += static_cast<double>(random.below(1000)) / 1000;
    b.set_value(at, v);
    for (d = 0; d < b.rank() && ++at[d] == b.extent(d); ++d) at[d] = 0;
  }
}

Call make_call(const Program& p, const Sizes& sizes, bool tensors) {
  Random random(p.data_seed);
  Call call;
  for (const InputSpec& i : p.inputs) {
    call.inputs.emplace_back(random, i.type, extents_of(i.extents, sizes), tensors);
    fill(random, i, call.inputs.back().buffer());
    call.inputs.back().remember();
  }
  return call;
}

void add_outputs(Call& call, const Program& p, const Evaluation& reference, const Sizes& sizes) {
  Random random(p.data_seed + 1);
  for (const OutputSpec& o : p.outputs)
    for (int c = 0; c < components(*p.func(o.func)); ++c) {
      const Type type = reference.outputs[call.outputs.size()].type();
      call.outputs.emplace_back(random, type, extents_of(o.extents, sizes));
      call.outputs.back().remember();
      call.output_of.push_back(&o);
    }
}

/// Whole numbers are equal in any order of adding; others within the reference's bound.
lang::EqualityReport compare(const Buffer& got, const Evaluation& reference, std::size_t i, bool whole) {
  const Buffer& values = reference.outputs[i];
  if (!whole || !values.type().is_float()) return lang::compare_with_reference(got, reference, i, false);
  Buffer zeros(Float(64), std::vector<std::int64_t>([&] {
                 std::vector<std::int64_t> e;
                 for (int d = 0; d < values.rank(); ++d) e.push_back(values.extent(d));
                 return e;
               }()));
  zeros.fill(0);
  return lang::compare(got, {.values = values, .exact = values, .bound = zeros, .counted = {}}, false);
}

void check_margins(const Call& call, const Program& p) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    if (!call.inputs[i].unchanged()) throw Failure{"an input was written", p.inputs[i].name};
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    if (!call.outputs[i].margins_whole()) throw Failure{"written outside an output", call.output_of[i]->func};
}

/// Of a message, up to what names a place or a number.
std::string first_words(const std::string& message) {
  std::stringstream words(message);
  std::string all;
  int left = 4;
  for (std::string word; left > 0 && words >> word; --left) {
    if (word.find_first_of("0123456789'(") != std::string::npos) break;
    all += (all.empty() ? "" : " ") + word;
  }
  return all;
}

class Trial {
 public:
  explicit Trial(const Pair& pair) : pair_(pair) {}

  Outcome run() {
    try {
      pipeline_.emplace(build(pair_.program));
    } catch (const std::exception& e) {
      return {Verdict::BadProgram, "no pipeline", e.what()};
    }
    try {
      return compiled();
    } catch (const Failure& f) {
      return {Verdict::Failed, f.what, f.detail};
    }
  }

 private:
  Outcome compiled() {
    std::optional<Kernel> kernel;
    try {
      kernel.emplace(pipeline_->compile(pair_.schedule, pair_.target));
    } catch (const Error& e) {
      return refused(e.diagnostic());
    } catch (const std::exception& e) {
      throw Failure{"exception while compiling", e.what()};
    }
    check_round_trip();
    for (const Sizes& sizes : pair_.program.runs) {
      const Outcome outcome = called(*kernel, sizes);
      if (outcome.verdict != Verdict::Accepted) return outcome;
    }
    return {};
  }

  Outcome refused(const Diagnostic& d) {
    if (d.kind != ErrorKind::Schedule)
      throw Failure{fmt::format("refused as {}: {}", to_string(d.kind), d.message.substr(0, 30)), d.str()};
    if (d.directive.empty()) throw Failure{"refused without a directive", d.str()};
    if (d.directive[0] != '#') throw Failure{"refused for what no directive said", d.str()};
    const std::vector<Diagnostic> found = pair_.schedule.check(*pipeline_, pair_.target);
    if (found.empty()) throw Failure{"check finds nothing, compile refuses", d.str()};
    for (const Diagnostic& other : found)
      if (other.kind != ErrorKind::Schedule) throw Failure{"check finds another kind", other.str()};
    return {Verdict::Refused, d.message, d.str(), name_of(d.directive)};
  }

  /// Of "#3 split(...)": split.
  static std::string name_of(const std::string& directive) {
    const std::size_t start = directive.find(' ') + 1;
    return directive.substr(start, directive.find('(') - start);
  }

  void check_round_trip() {
    try {
      const std::string json = pair_.schedule.to_json(*pipeline_, pair_.target);
      const Schedule read = Schedule::from_json(json, *pipeline_, "fuzz.json");
      if (!(read == pair_.schedule)) throw Failure{"the file is another schedule", json};
      if (read.to_json(*pipeline_, pair_.target) != json) throw Failure{"the file has other bytes", json};
    } catch (const Error& e) {
      throw Failure{"the file is refused", e.what()};
    }
  }

  Outcome called(const Kernel& kernel, const Sizes& sizes) {
    Call call = make_call(pair_.program, sizes, copies_boxes(pair_.schedule));
    Evaluation reference;
    try {
      std::map<std::string, double> params;
      for (const ParamSpec& p : pair_.program.params) params[p.name] = static_cast<double>(p.value);
      reference = pipeline_->evaluate(call.input_buffers(), params, sizes);
    } catch (const std::exception& e) {
      return {Verdict::BadProgram, "no reference", e.what()};
    }
    add_outputs(call, pair_.program, reference, sizes);
    try {
      call_silently(kernel, arguments(call));
    } catch (const Error& e) {
      return call_refused(call, e);
    }
    check_margins(call, pair_.program);
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
      const OutputSpec& o = *call.output_of[i];
      const lang::EqualityReport r = compare(call.outputs[i].buffer(), reference, i, o.whole);
      if (!r.ok) throw Failure{"another result than the reference's", o.func + ": " + r.str()};
    }
    return {};
  }

  /// Lines of `trace` go nowhere.
  static void call_silently(const Kernel& kernel, const std::vector<Arg>& args) {
    calotype_context context{};
    context.print = [](void*, const char*) {};
    kernel.call(args, context);
  }

  std::vector<Arg> arguments(const Call& call) const {
    std::vector<Arg> args;
    for (const Guarded& g : call.inputs) args.emplace_back(g.buffer());
    for (const ParamSpec& p : pair_.program.params) args.emplace_back(static_cast<double>(p.value));
    for (const Guarded& g : call.outputs) args.emplace_back(g.buffer());
    return args;
  }

  Outcome call_refused(const Call& call, const Error& e) {
    const std::string kind = to_string(e.kind());
    if (e.diagnostic().message.find("data race") != std::string::npos) throw Failure{"a data race", e.what()};
    if (e.kind() != ErrorKind::Argument)
      throw Failure{fmt::format("the call fails as {}: {}", kind, e.diagnostic().message.substr(0, 30)),
                    e.what()};
    for (const Guarded& g : call.outputs)
      if (!g.unchanged()) throw Failure{"a refused call has written", e.what()};
    const std::string& message = e.diagnostic().message;
    const std::string promise = named_promise(pair_.schedule, message);
    if (promise.empty() && is_about_regions(message) && !holds_what_is_read(call))
      return {Verdict::BadProgram, "the arguments are too small", e.what()};
    if (promise.empty() && !(is_about_regions(message) && fits_exactly(call)))
      throw Failure{"the call is refused: " + first_words(message), e.what()};
    return {Verdict::CallRefused, message, e.what(), promise};
  }

  /// Whether the arguments are large enough for the algorithm as it is, without directives.
  bool holds_what_is_read(const Call& call) const {
    try {
      call_silently(pipeline_->compile(Schedule(), pair_.target), arguments(call));
    } catch (const Error& e) {
      return false;
    }
    return true;
  }

  /// Whether the arguments are large enough where no directive asks for more than the algorithm. What then
  /// is refused as a schedule, or for what a directive promises, tells nothing.
  bool fits_exactly(const Call& call) const {
    const Schedule exact = with_exact_regions(pair_.schedule);
    if (exact == pair_.schedule) return false;
    try {
      call_silently(pipeline_->compile(exact, pair_.target), arguments(call));
    } catch (const Error& e) {
      return e.kind() == ErrorKind::Schedule || !named_promise(exact, e.diagnostic().message).empty();
    }
    return true;
  }

  const Pair& pair_;
  std::optional<Pipeline> pipeline_;
};

}  // namespace

Outcome try_pair(const Pair& pair) { return Trial(pair).run(); }

}  // namespace calotype::fuzz
