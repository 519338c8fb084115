// layout.
#include "helpers.h"

namespace calotype::test {

namespace {

void expect_part_refused(const std::vector<std::string>& layout, const std::string& message,
                         const std::string& value, const std::string& legal) {
  Schedule s;
  s["bx"].compute_root().layout(layout);
  const std::vector<Diagnostic> found = s.check(blur(), Target::host());
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, message);
  EXPECT_EQ(found[0].value, value);
  EXPECT_EQ(found[0].legal, legal);
  EXPECT_NE(found[0].directive.find("layout("), std::string::npos);
}

}  // namespace

TEST(Layout, IsRecorded) {
  Schedule s;
  s["bx"].compute_root().layout({"x % 8", "y", "x / 8 % 4", "x / 32"});
  const auto applied = apply(blur(), s);
  const auto& parts = applied.of(applied.graph.find_func("bx")->id).storage.layout;
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(parts[0].dim, 0);
  EXPECT_EQ(parts[0].divide, 1);
  EXPECT_EQ(parts[0].modulo, 8);
  EXPECT_EQ(parts[1].dim, 1);
  EXPECT_FALSE(parts[1].modulo);
  EXPECT_EQ(parts[2].divide, 8);
  EXPECT_EQ(parts[2].modulo, 4);
  EXPECT_EQ(parts[3].divide, 32);
  EXPECT_TRUE(has_line(schedule::to_string(applied),
                       "  in memory x % 8, y, x / 8 % 4, x / 32  [#2 layout(x % 8, y, x / 8 % 4, x / 32)]"))
      << schedule::to_string(applied);
  expect_round_trip(blur(), s);
  expect_spelling(blur(), s,
                  R"({ "stage": "bx", "do": "layout", "parts": ["x % 8", "y", "x / 8 % 4", "x / 32"] })",
                  R"(s["bx"].layout({"x % 8", "y", "x / 8 % 4", "x / 32"});)");
}

TEST(Layout, SpacesDoNotMatter) {
  Schedule s;
  s["bx"].compute_root().layout({"x%8", " y ", "x/8"});
  expect_refused(blur(), s, {"' y ' is no part of a coordinate"});
  Schedule close;
  close["bx"].compute_root().layout({"x%8", "y", "x  /8"});
  const auto applied = apply(blur(), close);
  EXPECT_EQ(applied.of(applied.graph.find_func("bx")->id).storage.layout[2].divide, 8);
  expect_round_trip(blur(), close);
}

TEST(Layout, RefusesPartsThatDoNotTellTheCoordinates) {
  expect_part_refused({"x % 8", "x / 8"}, "no part tells the coordinate 'y'", "bx",
                      "'y' beside them, or parts that tell it, as 'y % 8' and 'y / 8'");
  expect_part_refused({"x % 8", "y"}, "no part tells 'x / 8', so that elements would share a place", "x % 8",
                      "'x / 8' beside it, or 'x' in its place");
  expect_part_refused({"x % 8", "y", "x / 16"},
                      "no part tells 'x / 8' below 'x / 16', so that elements would share a place", "x / 16",
                      "'x / 8 % 2' beside it");
  expect_part_refused({"x % 8", "y", "x / 12"},
                      "no part tells 'x / 8' below 'x / 12', so that elements would share a place", "x / 12",
                      "'x / 8' in its place");
  expect_part_refused({"x / 8", "y"}, "no part tells 'x' below 'x / 8', so that elements would share a place",
                      "x / 8", "'x % 8' beside it");
  expect_part_refused({"x % 8", "y", "x / 4"}, "'x % 8' and 'x / 4' tell a part of 'x' twice", "x / 4",
                      "'x / 8'");
  expect_part_refused({"x % 8", "y", "x % 8", "x / 8"}, "'x % 8' and 'x % 8' tell a part of 'x' twice",
                      "x % 8", "'x / 8'");
  expect_part_refused({"x % 8", "x / 8", "y", "x / 32"},
                      "'x / 8' tells what 'x / 32' does, so that elements would be stored twice", "x / 8",
                      "'x / 8 % 4'");
  expect_part_refused({"x", "y", "x"}, "'x' tells what 'x' does, so that elements would be stored twice", "x",
                      "one of them");
}

TEST(Layout, RefusesWhatIsNoPart) {
  for (const std::string part : {"x * 8", "x /", "x % 0", "x / -8", "8", "", "x % 8 / 8", "x / 99999999999"})
    expect_part_refused({part, "y"}, "'" + part + "' is no part of a coordinate", part,
                        "'x', 'x / 8', 'x % 8' or 'x / 8 % 4', with whole numbers from 1 on");
  Schedule unknown;
  unknown["bx"].compute_root().layout({"x", "y", "z % 2"});
  expect_refused(blur(), unknown, {"'bx' has no coordinate 'z'", "coordinates of bx: x, y"});
}

TEST(Layout, IsRefused) {
  Schedule output, twice, ordered, padded, aligned, fetched;
  output["by"].layout({"y", "x"});
  expect_refused(blur(), output, {"'by' is an output, which lives in the caller's memory"});
  twice["bx"].compute_root().layout({"y", "x"}).layout({"x", "y"});
  expect_refused(blur(), twice, {"the memory of 'bx' has its layout already, by #2 layout(y, x)"});
  ordered["bx"].compute_root().layout({"y", "x"}).reorder_storage("y", "x");
  expect_refused(blur(), ordered,
                 {"#3 reorder_storage(", "the memory of 'bx' is laid out by #2 layout(y, x)"});
  padded["bx"].compute_root().pad("x", 1).layout({"y", "x"});
  expect_refused(blur(), padded, {"#2 pad(x, 1) gives 'bx' more elements along 'x'"});
  aligned["bx"].compute_root().layout({"y", "x"}).align_storage("y", 4);
  expect_refused(
      blur(), aligned,
      {"#3 align_storage(y, 4)", "the memory of 'bx' is laid out by #2 layout(y, x)", "bound_storage"});
  fetched["bx"].compute_root().layout({"y", "x"});
  fetched["by"].prefetch("bx", "y", "y", 1);
  expect_refused(blur(), fetched, {"prefetch(bx, y, y, 1) fetches rows of 'bx'"});
}

}  // namespace calotype::test
