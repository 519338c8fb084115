// Links between loops and code, and the page that shows them.
#include "cli/html_page.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cli/nest_links.h"

namespace calotype::cli {
namespace {

const std::string kNest = R"(produce out:
  for y in [0, 0 + H) parallel:  # #1 parallel(y)
    let f.y.max = y + 1
    realize f f32 over [0, W - 1] x [y, f.y.max] in heap:
      produce f:
        for y in [y, y + f.y.max - y + 1):
          for x.o in [0, 0 + W/8):  # #2 vectorize(x, 8)
            for x.v in [0, 0 + 8) vector:  # #2 vectorize(x, 8)
              where x.v + x.o*8 < W
              x := x.v + x.o*8
              f(x, y) = in(x, y)*2.0
      for x in [0, 0 + W):
        out(x, y) = f(x, y) + f(x, y + 1)
)";

const std::string kLowered = R"(function p(f32 in, f32 out, W, H):
// produce out
for y in [0, H) parallel:  // out: #1 parallel(y)
  let f.y.max = y + 1
  allocate f: f32[W, 2] in heap
  // produce f: compute_at(out, y)
  for y in [y, f.y.max + 1):  // f
    for x.o.side in [0, 2):
      for x.o in [0, W/8):  // f: #2 vectorize(x, 8)
        f[ramp(x.o*8, 1, 8)] = in[ramp(x.o*8, 1, 8)]*broadcast(2.0, 8)
    for x.v.i in [0, W%8):  // f: #2 vectorize(x, 8)
      f[x.v.i] = in[x.v.i]*2.0
  for x in [0, W):  // out
    out[x] = f[x] + f[x + W]
)";

/// Texts of the code lines that come from a line of the nest.
std::vector<std::string> code_of(const std::vector<CodeLine>& code, int line) {
  std::vector<std::string> texts;
  for (const CodeLine& c : code)
    if (std::find(c.from.begin(), c.from.end(), line) != c.from.end())
      texts.push_back(c.text.substr(c.text.find_first_not_of(' ')).substr(0, 12));
  return texts;
}

using Texts = std::vector<std::string>;

TEST(NestLinks, ReadsWhatEachLineIsOf) {
  const std::vector<NestLine> nest = read_nest(kNest);
  ASSERT_EQ(nest.size(), 13u);
  EXPECT_EQ(nest[1].kind, NestLine::Kind::Loop);
  EXPECT_EQ(nest[1].func, "out");
  EXPECT_EQ(nest[3].kind, NestLine::Kind::Realize);
  EXPECT_EQ(nest[3].func, "f");
  EXPECT_EQ(nest[5].func, "f");
  EXPECT_EQ(nest[5].name, "y");
  EXPECT_EQ(nest[10].kind, NestLine::Kind::Body);
  EXPECT_EQ(nest[10].func, "f");
  EXPECT_EQ(nest[11].func, "out");
  EXPECT_EQ(nest[11].parent, 3);
}

TEST(NestLinks, LoopsOfOneNameAreTheirFuncs) {
  const std::vector<NestLine> nest = read_nest(kNest);
  const std::vector<CodeLine> code = link_code(kLowered, nest);
  EXPECT_EQ(code_of(code, 1).size(), 12u);  // out's y: itself and everything inside
  EXPECT_EQ(code_of(code, 5), (Texts{"for y in [y,", "for x.o.side", "for x.o in [", "f[ramp(x.o*8",
                                     "for x.v.i in", "f[x.v.i] = i"}));
  EXPECT_EQ(code_of(code, 11), (Texts{"for x in [0,", "out[x] = f[x"}));
  EXPECT_EQ(code_of(code, 6), (Texts{"for x.o in [", "f[ramp(x.o*8"}));
  EXPECT_EQ(code_of(code, 7), (Texts{"for x.v.i in", "f[x.v.i] = i"}));
  EXPECT_EQ(code_of(code, 3), (Texts{"allocate f: ", "// produce f"}));
}

TEST(NestLinks, LoopsThatLeftNoLineMarkTheirDefinition) {
  const std::string without_rest =
      kLowered.substr(0, kLowered.find("    for x.v.i")) + "  for x in [0, W):  // out\n";
  const std::vector<NestLine> nest = read_nest(kNest);
  EXPECT_EQ(code_of(link_code(without_rest, nest), 7), (Texts{"f[ramp(x.o*8"}));
}

TEST(NestLinks, CudaNamesItsLoopsInTheLineBefore) {
  const std::string cuda = R"(__global__ void p_out(const float* in) {
  // produce f: compute_at(out, y)
  // f: #2 vectorize(x, 8)
  for (int x_o = 0; x_o < W; ++x_o) {
    f[x_o] = in[x_o];
  }
  // out
  for (int x = 0; x < W; ++x) {
    out[x] = f[x];
  }
}
)";
  const std::vector<NestLine> nest = read_nest(kNest);
  const std::vector<CodeLine> code = link_code(cuda, nest);
  EXPECT_EQ(code_of(code, 6), (Texts{"for (int x_o", "f[x_o] = in[", "}"}));
  EXPECT_EQ(code_of(code, 11), (Texts{"for (int x =", "out[x] = f[x", "}"}));
}

TEST(NestLinks, AssemblyHasFunctionsOfParallelLoops) {
  const std::string assembly = "\t.text\np:\n\tret\np.y:\n\tmov\n.LBB1_2:\n\tadd\n";
  const std::vector<NestLine> nest = read_nest(kNest);
  const std::vector<CodeLine> code = link_code(assembly, nest);
  EXPECT_TRUE(code[2].from.empty());
  for (const std::size_t i : {3u, 4u, 5u, 6u}) EXPECT_EQ(code[i].from, std::vector<int>{1}) << i;
}

TEST(NestLinks, NamesWithParentheses) {
  const std::vector<NestLine> nest = read_nest(
      "realize A.in(f) (f32, s32) over [0, N - 1] in heap:\n  produce A.in(f):\n    for x in [0, 0 + N):\n"
      "      A.in(f)(x) = A(x)\n  produce f:\n    for x in [0, 0 + N):\n      f(x) = A.in(f)(x)\n");
  EXPECT_EQ(nest[0].func, "A.in(f)");
  EXPECT_EQ(nest[3].func, "A.in(f)");
  EXPECT_EQ(nest[6].func, "f");
  const std::vector<CodeLine> code =
      link_code("// produce A.in(f): #1 in\nfor x in [0, N):  // A.in(f)\n  A.in(f).1[x] = 0\n", nest);
  EXPECT_EQ(code_of(code, 2).size(), 2u);
  EXPECT_EQ(code_of(code, 3).size(), 1u);
}

TEST(HtmlPage, HoldsEverythingAndEscapesIt) {
  const std::string page = html_page({.title = "a<b for host",
                                      .facts = {{"types", "f32"}},
                                      .loops = kNest,
                                      .schedule = "s[\"out\"].parallel(y);",
                                      .codes = {{"Lowered", kLowered}, {"Assembly", "\tret\n"}}});
  EXPECT_NE(page.find("<title>a&lt;b for host</title>"), std::string::npos);
  EXPECT_NE(page.find("s[&quot;out&quot;].parallel(y);"), std::string::npos);
  for (const char* text :
       {"Storage and regions", "heap, at out.y", "f.y.max = y + 1", "Assembly", "<u>types</u> f32"})
    EXPECT_NE(page.find(text), std::string::npos) << text;
  // Nothing is fetched.
  for (const char* text : {"http:", "https:", "src=", "@import", "url("})
    EXPECT_EQ(page.find(text), std::string::npos) << text;
  // Every block is closed.
  auto count = [&](const std::string& text) {
    std::size_t n = 0;
    for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("<div"), count("</div>"));
  EXPECT_EQ(count("<section"), count("</section>"));
}

TEST(HtmlPage, HundredsOfStages) {
  std::string nest, code;
  for (int i = 0; i < 500; ++i) {
    const std::string f = "f" + std::to_string(i);
    nest += "realize " + f + " f32 over [0, W - 1] in heap:\n  produce " + f +
            ":\n    for x in [0, 0 + W):\n      " + f + "(x) = 1.0\n";
    code += "allocate " + f + ": f32[W] in heap\n// produce " + f + "\nfor x in [0, W):  // " + f + "\n  " +
            f + "[x] = 1.0\n";
  }
  const std::vector<NestLine> lines = read_nest(nest);
  const std::vector<CodeLine> linked = link_code(code, lines);
  for (int i = 0; i < 500; ++i) EXPECT_EQ(linked[4 * i + 3].from, (std::vector<int>{4 * i + 2, 4 * i + 3}));
  EXPECT_LT(html_page({.title = "t", .loops = nest, .codes = {{"Lowered", code}}}).size(),
            std::size_t{2} << 20);
}

}  // namespace
}  // namespace calotype::cli
