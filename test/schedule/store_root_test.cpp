// store_root.
#include "helpers.h"

namespace calotype::test {

TEST(StoreRoot, PutsStorageOutsideEveryLoop) {
  Schedule s;
  s["bx"].store_root().compute_at("by", "y");
  EXPECT_EQ(stored(apply(blur(), s), "bx"), "root");
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "bx", "do": "store_root" })", R"(s["bx"].store_root();)");
  s["bx"].store_at("by", "y");
  expect_refused(blur(), s, {"'bx' has its storage already, by #1 store_root()"});
}

}  // namespace calotype::test
