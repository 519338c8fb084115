// Schedules with default tails, and those that ask for guards and masks, on every size from 0 to two tiles
// and one: none may refuse a size or touch what is not there.

#include <functional>
#include <map>

#include "support/pipelines.h"
#include "support/run.h"

namespace calotype {
namespace {

using testing::random_buffer;

using Edit = std::function<void(Schedule&)>;

/// Inputs and output of one size, and the values expected.
struct Instance {
  std::vector<Buffer> inputs;
  Buffer output;
  Evaluation reference;
};

Instance instance(const Pipeline& pipeline, std::vector<Buffer> inputs, std::vector<std::int64_t> extents) {
  Evaluation reference = pipeline.evaluate(inputs);
  return {std::move(inputs), Buffer(Float(32), std::move(extents)), std::move(reference)};
}

/// Tiles of 8 by 2 and less: everything up to 17 by 5.
std::vector<Instance> stencils(const Pipeline& pipeline) {
  std::vector<Instance> all;
  for (std::int64_t h = 0; h <= 5; ++h)
    for (std::int64_t w = 0; w <= 17; ++w)
      all.push_back(instance(pipeline, {random_buffer(Float(32), {w, h}, 1)}, {w, h}));
  return all;
}

/// Tiles of 4 along every dimension.
std::vector<Instance> products(const Pipeline& pipeline) {
  std::vector<Instance> all;
  for (std::int64_t m : {0, 1, 3, 4, 5, 9})
    for (std::int64_t n = 0; n <= 9; ++n)
      for (std::int64_t k : {0, 1, 3, 4, 5, 9})
        all.push_back(instance(
            pipeline, {random_buffer(Float(32), {k, m}, 2), random_buffer(Float(32), {n, k}, 3)}, {n, m}));
  return all;
}

void run_all(const Pipeline& pipeline, const std::vector<Instance>& instances, const Target& target,
             const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    Schedule s;
    edit(s);
    const Kernel kernel = pipeline.compile(s, target);
    for (const Instance& i : instances) {
      testing::poison(i.output);
      std::vector<Arg> args(i.inputs.begin(), i.inputs.end());
      args.push_back(i.output);
      kernel.call(args);
      const lang::EqualityReport result = lang::compare_with_reference(i.output, i.reference, 0, false);
      ASSERT_TRUE(result.ok) << target.str() << " on " << i.output.extent(0) << " x " << i.output.extent(1)
                             << " under\n"
                             << s.str() << "\n"
                             << result.str();
    }
  }
}

#ifdef CALOTYPE_HAS_LLVM

TEST(SmallSizes, StencilOnAHost) {
  const Pipeline p = testing::stencil();
  run_all(
      p, stencils(p), Target::host(),
      {[](Schedule&) {}, [](Schedule& s) { s["out"].vectorize("x", 8); },
       [](Schedule& s) { s["out"].vectorize("x", 8).parallel("y"); },
       [](Schedule& s) { s["out"].unroll("x", 8).unroll("y", 2); },
       [](Schedule& s) { s["out"].split("x", "xo", "xi", 8, Tail::Guard).vectorize("xi"); },
       [](Schedule& s) { s["out"].split("x", "xo", "xi", 8, Tail::Predicate).vectorize("xi"); },
       [](Schedule& s) {
         s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 2).vectorize("xi").unroll("yi").parallel("yo");
       },
       [](Schedule& s) {
         s["out"].fuse("x", "y", "f").split("f", "fo", "fi", 8).vectorize("fi");
         s["bx"].compute_root().fuse("x", "y", "f").vectorize("f", 8);
       },
       [](Schedule& s) {
         s["out"].split("x", "xo", "xi", 6).split("xi", "xa", "xb", 4).vectorize("xb");
         s["bx"].compute_root().split("x", "xo", "xi", 8, Tail::RoundUp).vectorize("xi");
       },
       [](Schedule& s) {
         s["out"].split("y", "yo", "yi", 2).vectorize("x", 8).parallel("yo");
         s["bx"].compute_at("out", "yo").vectorize("x", 8);
       },
       [](Schedule& s) {
         s["out"].split("y", "yo", "yi", 2).vectorize("x", 8).parallel("yo");
         s["bx"].store_at("out", "yo").compute_at("out", "yi").vectorize("x", 8);
         s["edged"].compute_at("out", "yi").vectorize("x", 8);
       },
       [](Schedule& s) {
         s["out"].serial("y").vectorize("x", 8);
         s["bx"].store_root().compute_at("out", "y").vectorize("x", 4);
       },
       [](Schedule& s) {
         s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 2).vectorize("xi");
         s["bx"].compute_at("out", "xo").align_bounds("x", 8).vectorize("x", 8);
       }});
}

TEST(SmallSizes, ProductOnAHost) {
  const Pipeline p = testing::product();
  run_all(p, products(p), Target::host(),
          {[](Schedule&) {},
           [](Schedule& s) {
             s["C"].tile("j", "i", "jo", "io", "ji", "ii", 4, 4).vectorize("ji").parallel("io");
             s["acc"].compute_at("C", "jo").vectorize("j", 4);
             s["acc"]
                 .update()
                 .split("r", "ro", "ri", 4)
                 .reorder("j", "ri", "i", "ro")
                 .vectorize("j", 4)
                 .unroll("ri");
           },
           [](Schedule& s) {
             s["acc"]
                 .compute_root()
                 .vectorize("j", 4)
                 .update()
                 .reorder("j", "r", "i")
                 .vectorize("j", 4)
                 .unroll("i", 4);
           }});
}

#endif  // CALOTYPE_HAS_LLVM

TEST(SmallSizes, StencilOnAGpu) {
  const Pipeline p = testing::stencil();
  const auto tiles = [](Schedule& s) {
    s["out"].tile("x", "y", "xo", "yo", "xi", "yi", 8, 2).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  };
  run_all(p, stencils(p), Target::interpreter("sm_90a"),
          {[](Schedule&) {}, tiles, [](Schedule& s) { s["out"].gpu_blocks("y").gpu_threads("x", 8); },
           [&](Schedule& s) {
             tiles(s);
             s["bx"].compute_at("out", "xo").store_in(Memory::Shared).gpu_threads("x", "y");
           },
           [&](Schedule& s) {
             tiles(s);
             s["bx"].compute_at("out", "xo").store_in(Memory::Shared);
             s["edged"].compute_at("out", "xo").store_in(Memory::Shared);
           },
           [](Schedule& s) {
             s["out"].split("x", "xo", "xi", 8).vectorize("xi", 4).gpu_blocks("xo", "y").gpu_threads("xi.o");
             s["bx"].compute_at("out", "xi.o").vectorize("x").unroll("y");
           }});
}

TEST(SmallSizes, ProductOnAGpu) {
  const Pipeline p = testing::product();
  run_all(
      p, products(p), Target::interpreter("sm_90a"),
      {[](Schedule&) {},
       [](Schedule& s) {
         s["C"].tile("j", "i", "jo", "io", "ji", "ii", 4, 4).gpu_blocks("jo", "io").gpu_threads("ji", "ii");
         s["acc"].compute_at("C", "ji").update().split("r", "ro", "ri", 4).unroll("ri");
       }});
}

}  // namespace
}  // namespace calotype
