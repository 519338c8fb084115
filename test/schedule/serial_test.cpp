// serial.
#include "helpers.h"

namespace calotype::test {

TEST(Serial, KeepsDefaultLoopsAway) {
  Schedule s;
  s["by"].serial("y");
  EXPECT_EQ(loops(apply(blur(), s), "by"), (Names{"x", "y"}));
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s, R"({ "stage": "by", "do": "serial", "loop": "y" })", R"(s["by"].serial("y");)");
}

TEST(Serial, IsRefusedForABoundLoop) {
  Schedule s;
  s["by"].parallel("y").serial("y");
  expect_refused(blur(), s, {"the loop 'y' is bound already, by #1 parallel(y)"});
}

}  // namespace calotype::test
