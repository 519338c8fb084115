// Instruction records are complete, and barriers order what their access tables say.

#include "instr/instruction.h"

#include <gtest/gtest.h>

#include <set>

namespace calotype::instr {
namespace {

TEST(Instruction, RecordsAreComplete) {
  std::set<std::string> names;
  for (const Instruction* i : all()) {
    EXPECT_TRUE(names.insert(i->name).second) << i->name;
    EXPECT_FALSE(i->meaning.empty()) << i->name;
    bool writes_result = false;
    for (const Access& a : i->accesses) {
      EXPECT_LT(a.operand, static_cast<int>(i->operands.size())) << i->name;
      writes_result |= a.writes && a.operand == 0;
    }
    EXPECT_TRUE(writes_result) << i->name;
  }
}

TEST(Instruction, BarriersOrderGenericAccessesOnly) {
  EXPECT_TRUE(ordered_by_barrier(element(), element()));
  Instruction async = element();
  async.accesses[0].proxy = Proxy::Async;
  EXPECT_FALSE(ordered_by_barrier(async, element()));
  EXPECT_FALSE(ordered_by_barrier(element(), async));
}

}  // namespace
}  // namespace calotype::instr
