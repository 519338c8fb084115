// Stores behind the loads of an unrolled nest: which nests are split, and that their values stay.
#include <gtest/gtest.h>

#include "ir/stmt.h"
#include "lower/passes.h"

namespace calotype::test {
namespace {

using ir::MemorySpace;

ir::BufferPtr memory(const char* name, MemorySpace space = MemorySpace::Shared) {
  return ir::make_buffer({.name = name,
                          .type = Float(32),
                          .space = space,
                          .mins = {ir::index(0)},
                          .extents = {ir::index(64)},
                          .strides = {ir::index(1)}});
}

/// for j < 4, i < `extent`: to[i + j * 4] = from[i] + 1, in text or not.
struct Copy {
  ir::BufferPtr to = memory("to"), from = memory("from");
  std::int64_t extent = 4;
  bool in_text = true, guarded = false;

  ir::Stmt nest() const {
    const ir::SymbolPtr i = ir::make_symbol(ir::SymbolKind::Loop, "i"),
                        j = ir::make_symbol(ir::SymbolKind::Loop, "j");
    const Expr value = ir::make(ir::Op::Load, Float(32), {ir::make_var(i)}, from) + 1.0f;
    ir::Stmt body = ir::store(to, value, {ir::make_var(i) + ir::make_var(j) * ir::index(4)});
    if (guarded) body = ir::if_then(ir::make_var(i) < ir::make_var(j), body);
    const auto loop = [&](const ir::SymbolPtr& var, std::int64_t count, const ir::Stmt& s) {
      return ir::for_loop({.var = var, .binding = ir::Binding::Unrolled, .in_text = in_text}, ir::index(0),
                          ir::index(count), s);
    };
    return loop(j, 4, loop(i, extent, body));
  }
  bool is_split() const {
    return !(lower::store_last(nest()) == nest()) && text().find("to.held[") != std::string::npos;
  }
  std::string text() const { return ir::to_string(lower::store_last(nest())); }
};

TEST(StoreLast, KeepsAllValuesBeforeTheFirstIsStored) {
  const std::string text = Copy{}.text();
  const std::size_t held = text.find("to.held[j*4 + i] = from[i] + 1"), stored = text.find("to[i");
  ASSERT_NE(held, std::string::npos) << text;
  ASSERT_NE(stored, std::string::npos) << text;
  EXPECT_LT(held, stored) << text;
  EXPECT_NE(text.find("= to.held["), std::string::npos) << text;
}

TEST(StoreLast, LeavesOthersAlone) {
  EXPECT_TRUE(Copy{}.is_split());
  EXPECT_FALSE(Copy{.in_text = false}.is_split());
  EXPECT_FALSE(Copy{.guarded = true}.is_split());
  EXPECT_FALSE(Copy{.extent = 64}.is_split());  // of 64 registers the inner loop alone
  EXPECT_FALSE((Copy{.from = memory("from", MemorySpace::Argument)}).is_split());
  EXPECT_FALSE((Copy{.to = memory("to", MemorySpace::Argument)}).is_split());
  Copy own;
  own.from = own.to;  // what an iteration reads another one may have stored
  EXPECT_FALSE(own.is_split());
}

}  // namespace
}  // namespace calotype::test
