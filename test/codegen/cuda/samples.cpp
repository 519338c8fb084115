// The sample kernels.

#include "samples.h"

namespace calotype_test {

lower::Function blur_row() {
  const auto in = argument("in", UInt(8), 0, true), out = argument("out", UInt(8), 1, false);
  const auto w = symbol("W", Int(64), ir::SymbolKind::Dim), narrow_w = symbol("W"),
             pitch = symbol("in.stride.1");
  const auto y = symbol("y", Int(32), ir::SymbolKind::Thread),
             thread = symbol("thread_x", Int(32), ir::SymbolKind::Thread);
  const auto xo = symbol("xo", Int(32), ir::SymbolKind::Loop), x = symbol("x");
  const auto sum = storage("sum", UInt(16), ir::MemorySpace::Register, 1);
  const auto at = [&](const Expr& column) {
    const Expr clamped =
        node(Op::Max, Int(32), {node(Op::Min, Int(32), {column, add(var(narrow_w), number(-1))}), number(0)});
    return to(UInt(16), load(in, add(mul(var(y), var(pitch)), clamped)));
  };
  const Expr total = add(add(at(add(var(x), number(-1))), at(var(x))), at(add(var(x), number(1))));
  const Expr value =
      to(UInt(8), node(Op::Div, UInt(16),
                       {add(load(sum, number(0)), ir::make_int(UInt(16), 4)), ir::make_int(UInt(16), 9)}));
  ir::Stmt body = ir::block(
      {ir::store(sum, total, {number(0)}), ir::store(out, value, {add(mul(var(y), var(narrow_w)), var(x))})});
  body = ir::if_then(less(var(x), var(narrow_w)), ir::note({"produce out"}, ir::allocate(sum, body)));
  body = ir::let_stmt(x, add(mul(var(xo), number(64)), var(thread)), body);
  body = serial(xo, node(Op::TruncDiv, Int(32), {add(var(narrow_w), number(63)), number(64)}), body,
                ir::Binding::Serial, "out: split(x, xo, xi, 64)");
  body = ir::let_stmt(narrow_w, to(Int(32), var(w)), body);
  lower::Function f;
  f.name = "blur.row";
  f.gpu = true;
  f.buffers = {in, out};
  f.scalars = {w, pitch};
  f.grid = {ir::index(17), ir::index(1), ir::index(1)};
  f.block = {ir::index(64), ir::index(1), ir::index(1)};
  f.block_vars[0] = y;
  f.thread_vars[0] = thread;
  f.max_threads = 64;
  f.body = body;
  return f;
}

lower::Function normalise_rows() {
  const int threads = 64, lanes = 8;
  const auto x = argument("x", BFloat(16), 0, true), out = argument("out", BFloat(16), 1, false);
  const auto n = symbol("n", Int(32), ir::SymbolKind::Dim),
             pitch = symbol("x.stride.1", Int(32), ir::SymbolKind::Stride);
  const auto r = symbol("r", Int(32), ir::SymbolKind::Thread),
             t = symbol("t", Int(32), ir::SymbolKind::Thread);
  const auto sums = storage("sums", Float(32), ir::MemorySpace::Shared, threads);
  const auto row = storage("row", Float(32), ir::MemorySpace::Register, lanes),
             mean = storage("mean", Float(32), ir::MemorySpace::Register, 1);
  const Expr c = mul(var(t), number(lanes)), columns = ramp(c, lanes);
  const Expr mask = less(columns, splat(var(n), lanes));
  const Expr index = ramp(add(mul(var(r), var(pitch)), c), lanes);
  const Expr held = load(row, ramp(number(0), lanes));
  const auto k = symbol("k", Int(32), ir::SymbolKind::Loop);
  const ir::Stmt gather =
      ir::block({ir::store(mean, ir::make_float(Float(32), 0), {number(0)}),
                 serial(k, number(threads),
                        ir::store(mean, add(load(mean, number(0)), load(sums, var(k))), {number(0)}))});
  const Expr scale = node(Op::Rsqrt, Float(32),
                          {add(node(Op::Div, Float(32), {load(mean, number(0)), to(Float(32), var(n))}),
                               ir::make_float(Float(32), 1e-6))});
  ir::Stmt body = ir::block({ir::store(row, to(Float(32), load_if(mask, x, index)), {ramp(number(0), lanes)}),
                             ir::store(sums, node(Op::ReduceAdd, Float(32), {mul(held, held)}), {var(t)}),
                             ir::barrier("sums written by t, read by k"), gather,
                             ir::store(out, to(BFloat(16), mul(held, splat(scale, lanes))), {index}, mask)});
  body = ir::allocate(sums, ir::allocate(row, ir::allocate(mean, body)));
  lower::Function f;
  f.name = "normalise";
  f.gpu = true;
  f.buffers = {x, out};
  f.scalars = {n, pitch};
  f.grid = {ir::index(33), ir::index(1), ir::index(1)};
  f.block = {ir::index(threads), ir::index(1), ir::index(1)};
  f.block_vars[0] = r;
  f.thread_vars[0] = t;
  f.max_threads = threads;
  f.shared_bytes = threads * 4;
  f.body = body;
  return f;
}

lower::Function reverse_in_shared() {
  const int threads = 256, each = 64;
  const auto in = argument("in", Float(32), 0, true), out = argument("out", Float(32), 1, false);
  const auto tile = storage("tile", Float(32), ir::MemorySpace::Shared, threads * each);
  const auto t = symbol("t", Int(32), ir::SymbolKind::Thread), i = symbol("i", Int(32), ir::SymbolKind::Loop),
             j = symbol("i", Int(32), ir::SymbolKind::Loop);
  const auto at = [&](const ir::SymbolPtr& step) { return add(mul(var(step), number(threads)), var(t)); };
  const Expr back = node(Op::Sub, Int(32), {number(threads * each - 1), at(j)});
  lower::Function f;
  f.name = "reverse";
  f.gpu = true;
  f.buffers = {in, out};
  f.grid = {ir::index(1), ir::index(1), ir::index(1)};
  f.block = {ir::index(threads), ir::index(1), ir::index(1)};
  f.thread_vars[0] = t;
  f.max_threads = threads;
  f.shared_bytes = threads * each * 4;
  f.body = ir::allocate(
      tile,
      ir::block({serial(i, number(each), ir::store(tile, load(in, at(i)), {at(i)})), ir::barrier(""),
                 serial(j, number(each), ir::store(out, load(tile, back), {at(j)}), ir::Binding::Unrolled)}));
  return f;
}

std::vector<lower::Function> vector_kernels() {
  const auto in = argument("in", Float(32), 0, true), out = argument("out", Float(32), 1, false);
  std::vector<lower::Function> all;
  const auto add_kernel = [&](const std::string& name,
                              const std::function<ir::Stmt(Elementwise&, const Expr&)>& body) {
    Elementwise k(name, {in, out}, 32);
    all.push_back(k.with(body(k, mul(k.i, number(4)))));
  };
  const auto one = ir::make_const(Float(32, 4), 1.0);
  add_kernel("gather", [&](Elementwise&, const Expr& base) {
    const Expr index = node(Op::BitXor, Int(32, 4), {ramp(base, 4), splat(number(3), 4)});
    return ir::store(out, load(in, index), {ramp(base, 4)});
  });
  add_kernel("stride", [&](Elementwise& k, const Expr&) {
    return ir::store(out, add(load(in, ramp(k.i, 4, 1)), one), {ramp(k.i, 4, 64)});
  });
  add_kernel("shifted", [&](Elementwise&, const Expr& base) {  // not aligned: single accesses
    return ir::store(out, load(in, ramp(add(base, number(1)), 4)), {ramp(base, 4)});
  });
  add_kernel("in_place", [&](Elementwise&, const Expr& base) {  // all lanes are read before any is written
    return ir::block({ir::store(out, load(in, ramp(base, 4)), {ramp(base, 4)}),
                      ir::store(out, load(out, ramp(add(base, number(3)), 4, -1)), {ramp(base, 4)})});
  });
  add_kernel("masked", [&](Elementwise& k, const Expr& base) {
    const Expr lanes = ramp(base, 4);
    const Expr inside = less(lanes, splat(add(mul(var(k.n), number(4)), number(-2)), 4));
    const Expr odd = node(Op::Ne, Bool(4),
                          {node(Op::BitAnd, Int(32, 4), {lanes, splat(number(1), 4)}), splat(number(0), 4)});
    return ir::block(
        {ir::store(out, splat(ir::make_float(Float(32), -1), 4), {lanes}),
         ir::store(out, load_if(inside, in, lanes), {lanes}, inside),
         ir::store(out, add(load_if(node(Op::And, Bool(4), {inside, odd}), in, lanes), one), {lanes}, odd)});
  });
  add_kernel("uniform", [&](Elementwise& k, const Expr& base) {
    const Expr mask = splat(less(k.i, number(3)), 4);
    return ir::store(out, node(Op::Select, Float(32, 4), {mask, load_if(mask, in, ramp(base, 4)), one}),
                     {ramp(base, 4)});
  });
  add_kernel("reduce", [&](Elementwise& k, const Expr& base) {
    const auto v = symbol("v", Float(32, 4));
    const Expr vector = var(v);
    const Expr sum = node(Op::ReduceAdd, Float(32), {vector}),
               most = node(Op::ReduceMax, Float(32), {mul(vector, one)});
    const Expr last = ir::make(Op::Lane, Float(32), {vector, number(3)});
    return ir::let_stmt(v, load(in, ramp(base, 4)), ir::store(out, add(add(sum, most), last), {k.i}));
  });
  add_kernel("lets", [&](Elementwise&, const Expr& base) {
    const auto s = symbol("s", Float(32)), v = symbol("v", Float(32, 4));
    const Expr inner = ir::make(Op::Let, Float(32), {load(in, base), mul(var(s), var(s))}, s);
    return ir::let_stmt(v, mul(load(in, ramp(base, 4)), splat(inner, 4)),
                        ir::store(out, add(var(v), var(v)), {ramp(base, 4)}));
  });
  return all;
}

std::vector<Type> all_types() {
  return {Bool(),  Int(8),   UInt(8),   Int(16),    UInt(16),  Int(32),  UInt(32),
          Int(64), UInt(64), Float(16), BFloat(16), Float(32), Float(64)};
}

std::vector<Operation> all_operations() {
  std::vector<Operation> all;
  for (const Type t : all_types()) {
    const auto put = [&](Op op, Type result, int arity, bool strict = false) {
      all.push_back({std::string(ir::info(op).name) + "_" + t.str() +
                         (result == t ? "" : "_" + result.str()) + (strict ? "_strict" : ""),
                     op, t, result, arity, strict});
    };
    for (const Type other : all_types()) {
      if (other != t) put(Op::Cast, other, 1);
      if (other != t && other.bits == t.bits && !t.is_bool()) put(Op::Bitcast, other, 1);
    }
    for (const Op op : {Op::Eq, Op::Ne, Op::Lt, Op::Le}) put(op, Bool(), 2);
    put(Op::Select, t, 3);
    if (t.is_bool()) {
      for (const Op op : {Op::And, Op::Or, Op::BitAnd, Op::BitOr, Op::BitXor}) put(op, t, 2);
      put(Op::Not, t, 1);
      continue;
    }
    for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Mod, Op::Min, Op::Max}) put(op, t, 2);
    put(Op::Neg, t, 1);
    put(Op::Abs, t.is_int() ? UInt(t.bits) : t, 1);
    put(Op::Fma, t, 3);
    if (t.is_integral()) {
      for (const Op op : {Op::BitAnd, Op::BitOr, Op::BitXor, Op::Shl, Op::Shr}) put(op, t, 2);
      for (const Op op : {Op::BitNot, Op::Popcount, Op::CountLeadingZeros, Op::CountTrailingZeros})
        put(op, t, 1);
      continue;
    }
    for (const Op op : {Op::Add, Op::Sub, Op::Mul, Op::Div}) put(op, t, 2, true);
    for (const Op op :
         {Op::Exp,   Op::Log,   Op::Sqrt,    Op::Rsqrt,   Op::Tanh,    Op::Erf,     Op::Sin,  Op::Cos,
          Op::Floor, Op::Ceil,  Op::Trunc,   Op::Round,   Op::FastExp, Op::Tan,     Op::Asin, Op::Acos,
          Op::Atan,  Op::Sinh,  Op::Cosh,    Op::Asinh,   Op::Acosh,   Op::Atanh,   Op::Exp2, Op::Expm1,
          Op::Log2,  Op::Log1p, Op::FastLog, Op::FastSin, Op::FastCos, Op::FastTanh})
      put(op, t, 1);
    for (const Op op : {Op::Pow, Op::Atan2, Op::Hypot, Op::FastDivide}) put(op, t, 2);
  }
  return all;
}

lower::Function operations_kernel(Type operand, const std::vector<Operation>& operations) {
  std::vector<ir::BufferPtr> buffers;
  for (const char* name : {"a", "b", "c"})
    buffers.push_back(argument(name, operand, static_cast<int>(buffers.size()), true));
  std::vector<const Operation*> mine;
  for (const Operation& o : operations) {
    if (o.operand == operand) mine.push_back(&o);
  }
  for (const Operation* o : mine)
    buffers.push_back(argument(o->name, o->result, static_cast<int>(buffers.size()), false));
  Elementwise k("ops_" + operand.str(), buffers);
  std::vector<ir::Stmt> stores;
  for (std::size_t j = 0; j < mine.size(); ++j) {
    std::vector<Expr> args;
    for (int a = 0; a < mine[j]->arity; ++a) args.push_back(load(buffers[a], k.i));
    if (mine[j]->op == Op::Select) args[0] = node(Op::Lt, Bool(), {args[0], args[1]});
    Expr value = node(mine[j]->op, mine[j]->result, args);
    if (mine[j]->strict) value = node(Op::Strict, mine[j]->result, {value});
    stores.push_back(ir::store(buffers[3 + j], value, {k.i}));
  }
  return k.with(ir::block(stores));
}

std::vector<AtomicKernel> atomic_kernels() {
  std::vector<AtomicKernel> all;
  for (const Type type : all_types())
    for (const Op op :
         {Op::Add, Op::Mul, Op::Min, Op::Max, Op::BitAnd, Op::BitOr, Op::BitXor, Op::And, Op::Or}) {
      const bool bits = op == Op::BitAnd || op == Op::BitOr || op == Op::BitXor,
                 logic = op == Op::And || op == Op::Or;
      if (logic ? !type.is_bool() : bits ? type.is_float() : type.is_bool()) continue;
      const auto in = argument("in", type, 0, true), out = argument("out", type, 1, false);
      Elementwise k("atomic_" + std::to_string(all.size()), {in, out}, 64);
      const Expr element = ramp(mul(k.i, number(2)), 2);
      const Expr inside = less(element, splat(add(var(k.n), number(-1)), 2));
      const Expr place = node(Op::Mod, Int(32, 2), {element, splat(number(5), 2)});
      all.push_back(
          {op, type, k.with(ir::atomic_store(out, op, load_if(inside, in, element), {place}, inside))});
    }
  return all;
}

}  // namespace calotype_test
