// Small algorithms and checks that the tests of schedules share.
#include "helpers.h"

namespace calotype::test {

Pipeline blur() {
  Dim W("W"), H("H");
  ImageParam image(Float(32), {W + 2, H + 2}, "image");
  Var x("x"), y("y");
  Func bx("bx"), by("by");
  bx(x, y) = image(x, y) + image(x + 1, y) + image(x + 2, y);
  by(x, y) = bx(x, y) + bx(x, y + 1) + bx(x, y + 2);
  return Pipeline("blur", {image}, {{by, {W, H}}});
}

Pipeline matmul(Type type) {
  Dim M("M"), N("N"), K("K");
  ImageParam A(type, {K, M}, "A"), B(type, {N, K}, "B");
  Var n("n"), m("m");
  RDom k(0, K, "k");
  Func acc("acc"), C("C");
  acc(n, m) += A(k, m) * B(n, k);
  C(n, m) = acc(n, m) * 2;
  return Pipeline("matmul", {A, B}, {{C, {N, M}}});
}

Pipeline product() {
  Dim M("M"), N("N"), K("K");
  ImageParam A(BFloat(16), {K, M}, "A"), B(BFloat(16), {K, N}, "B");
  Var n("n"), m("m");
  RDom k(0, K, "k");
  Func acc("acc"), C("C");
  acc(n, m) += cast<float>(A(k, m)) * cast<float>(B(k, n));
  C(n, m) = acc(n, m);
  return Pipeline("product", {A, B}, {Output(C, {N, M})});
}

Schedule product_tiles() {
  Schedule s;
  s["C"].tile("n", "m", "no", "mo", "ni", "mi", 64, 64).gpu_blocks("no", "mo");
  s["acc"].compute_at("C", "no").store_in(Memory::Register);
  s["acc"].update().split("k", "ko", "ki", 64).reorder("ki", "n", "m", "ko");
  for (const char* operand : {"A", "B"}) {
    const Stage copy = s.in(operand, {"acc"});
    s[copy].compute_at(s["acc"].update(), "ko").store_in(Memory::Shared).copy(Copy::Tma).swizzle(128);
  }
  return s;
}

Pipeline histogram() {
  Dim W("W"), H("H");
  ImageParam image(UInt(8), {W, H}, "image");
  Var b("b");
  RDom r({{0, W}, {0, H}}, "r");
  Func hist("hist"), out("out");
  hist(b) = cast<std::int32_t>(0);
  hist(cast<std::int64_t>(image(r.x(), r.y()))) += 1;
  out(b) = hist(b);
  return Pipeline("histogram", {image}, {{out, {256}}});
}

Pipeline recurrence() {
  Dim W("W"), H("H");
  ImageParam image(Int(32), {W, H}, "image");
  Var x("x"), y("y");
  RDom r({{1, W - 1}, {1, H - 1}}, "r");
  Func s("s"), out("out");
  s(x, y) = image(x, y);
  s(r.x(), r.y()) = s(r.x(), r.y() - 1) + s(r.x() - 1, r.y()) * 3;
  out(x, y) = s(x, y);
  return Pipeline("recurrence", {image}, {{out, {W, H}}});
}

Pipeline column_scan() {
  Dim W("W"), H("H");
  ImageParam image(Float(32), {W, H}, "image");
  Var x("x"), y("y");
  RDom k(1, H - 1, "k");
  Func scan("scan"), out("out");
  scan(x, y) = image(x, y);
  scan(x, k) = scan(x, k) + scan(x, k - 1);
  out(x, y) = scan(x, y);
  return Pipeline("column_scan", {image}, {{out, {W, H}}});
}

std::vector<std::string> loops(const schedule::Scheduled& s, const std::string& func, int stage) {
  const lang::FuncDef* f = s.graph.find_func(func);
  std::vector<std::string> names;
  if (!f) return {"no such Func"};
  for (schedule::LoopId id : s.of(f->id).stages[stage].loops) {
    const schedule::Loop& l = s.loop(id);
    std::string text = l.name;
    if (l.binding != ir::Binding::Serial) text += std::string(":") + ir::to_string(l.binding);
    if (l.binding == ir::Binding::GpuBlock || l.binding == ir::Binding::GpuThread) text += "xyz"[l.axis];
    names.push_back(text);
  }
  return names;
}

std::string place(const schedule::Scheduled& s, const schedule::Place& p) {
  if (p.kind == schedule::Place::Kind::Inline) return "inline";
  if (p.kind == schedule::Place::Kind::Root) return "root";
  return lang::stage_name(s.graph.func(p.func), p.stage) + "." + s.loop(p.loop).name;
}

void expect_refused(const Pipeline& p, const Schedule& s, const std::vector<std::string>& parts,
                    const Target& target) {
  const std::vector<Diagnostic> found = s.check(p, target);
  ASSERT_EQ(found.size(), 1u) << (found.empty() ? s.str() : found[0].str() + "\n" + found.back().str());
  EXPECT_EQ(found[0].kind, ErrorKind::Schedule);
  const std::string text = found[0].str();
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nin\n" << text;
}

void expect_round_trip(const Pipeline& p, const Schedule& s, const Target& target) {
  apply(p, s, target);
  const std::string text = s.to_json(p, target);
  const Schedule read = Schedule::from_json(text, p, "test.json");
  EXPECT_TRUE(read == s) << text;
  EXPECT_EQ(read.to_json(p, target), text);
}

void expect_spelling(const Pipeline& p, const Schedule& s, const std::string& json, const std::string& cpp,
                     const Target& target) {
  const std::string text = s.to_json(p, target);
  EXPECT_NE(text.find("\n      " + json), std::string::npos) << json << "\nin\n" << text;
  EXPECT_TRUE(has_line(s.str(), cpp)) << cpp << "\nin\n" << s.str();
}

Schedule tiled() {
  Schedule s;
  s["by"].tile("x", "y", "xo", "yo", "xi", "yi", 32, 8).gpu_blocks("xo", "yo").gpu_threads("xi", "yi");
  return s;
}

}  // namespace calotype::test
