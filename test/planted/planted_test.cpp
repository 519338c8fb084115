// Planted faults: every damage of a correct program that can change a result, or is a race, is found; nothing
// is found in the undamaged ones. What is expected was written down before: a damage is found, wherever it is
// done, but where kHarmless says why not.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "planted/trial.h"

namespace calotype::test {
namespace {

struct Harmless {
  std::string subject;
  Damage damage;
  int site;
  const char* reason;
};

const std::vector<Harmless> kHarmless = {
    {"sum_x_f32_out_f32_gpu", Damage::DropBarrier, 0,
     "no loop is around it: the partial results are written once, and nobody has read them before"},
    {"softmax_f32_gpu_ring", Damage::ShiftedLoads, 0,
     "goes into the maximum alone, of which any number near the right one gives the same softmax"},
};

class PlantedFaults : public ::testing::TestWithParam<Subject> {};

TEST_P(PlantedFaults, AreFound) {
  const std::string name = GetParam().name();
  Trial trial(GetParam());
  EXPECT_EQ(trial.kinds(trial.program()), std::vector<std::string>()) << "undamaged";
  int planted = 0, harmless = 0, not_passed = 0;
  for (const Planted& p : plant_all(GetParam(), trial)) {
    if (!p.passed) {
      ++not_passed;
      continue;
    }
    ++planted;
    const bool known = std::any_of(kHarmless.begin(), kHarmless.end(), [&](const Harmless& h) {
      return h.subject == name && h.damage == p.damage && h.site == p.site;
    });
    harmless += known;
    EXPECT_EQ(p.kinds.empty(), known)
        << name << " " << to_string(p.damage) << " at " << p.site << (known ? " is found" : " is not found");
  }
  std::printf("%s: %d planted, %d harmless, %d at places not passed\n", name.c_str(), planted, harmless,
              not_passed);
}

INSTANTIATE_TEST_SUITE_P(Operators, PlantedFaults, ::testing::ValuesIn(subjects()),
                         [](const auto& info) { return info.param.name(); });

}  // namespace
}  // namespace calotype::test
