// Definitions by a function: what it reads and is passed, and their checks.

#include <fmt/format.h>

#include <algorithm>

#include "lang/definition.h"
#include "lang/errors.h"

namespace calotype::lang {

namespace {

/// Of coordinates and sizes: something that is there before anything is computed.
bool is_plain(const Expr& e) {
  return !ir::any_of(e, [](const Expr& n) {
    return ir::is(n, ir::Op::Call) || ir::is(n, ir::Op::Require) || ir::is(n, ir::Op::Print) ||
           ir::is(n, ir::Op::Random) || ir::is(n, ir::Op::Undef);
  });
}

void check_function(const FuncContents& func, const ir::Extern& callee) {
  if (callee.function.function == nullptr)
    refuse(fmt::format("the function by which '{}' is defined is null", func.name), func.name,
           callee.function.name, "a function");
  require_name("function", callee.function.name);
  if (callee.types.empty())
    refuse(fmt::format("'{}' is defined by a function of no values", func.name), func.name, "0",
           "one type or more");
  for (const Type& type : callee.types)
    if (!type.is_scalar())
      refuse(fmt::format("a value of '{}' is a vector", func.name), func.name, type.str(), "a scalar type");
}

/// Against what the Func was declared as.
void check_declared(const FuncContents& func, const FuncState& before, const std::vector<Expr>& args,
                    const std::vector<Type>& types) {
  const auto texts = [](const std::vector<Type>& all) {
    std::vector<std::string> list;
    for (const Type& type : all) list.push_back(type.str());
    return fmt::format("{}", fmt::join(list, ", "));
  };
  if (!before.types.empty() && before.types != types)
    refuse(fmt::format("'{}' is declared with values of types {} and defined with {}", func.name,
                       texts(before.types), texts(types)),
           func.name, texts(types), texts(before.types));
  const int rank = static_cast<int>(args.size());
  if (before.rank && rank != *before.rank)
    refuse(fmt::format("'{}' has {} dimensions and is defined with {} coordinates", func.name, *before.rank,
                       rank),
           func.name, std::to_string(rank), fmt::format("{} coordinates", *before.rank));
  if (rank > CALOTYPE_MAX_RANK)
    refuse(fmt::format("'{}' has {} dimensions, and a function is given buffers", func.name, rank), func.name,
           std::to_string(rank), fmt::format("at most {}", static_cast<int>(CALOTYPE_MAX_RANK)));
}

void check_read(const FuncContents& func, const std::vector<ir::SymbolPtr>& args, const Expr& read) {
  if (!read.defined())
    refuse(fmt::format("a read of '{}' is undefined", func.name), func.name, "", "a use, as g(x, y)");
  const bool plain =
      ir::is(read, ir::Op::Call) && std::all_of(read->args.begin(), read->args.end(), is_plain);
  if (!plain)
    refuse(fmt::format("a read of '{}' is no plain use of a Func or input", func.name), func.name, read.str(),
           "uses as g(x - 1, y), at coordinates that depend on no values");
  if (ir::callee_of(read)->rank > CALOTYPE_MAX_RANK)
    refuse(
        fmt::format("'{}' reads '{}', and a function is given buffers", func.name, ir::callee_of(read)->name),
        func.name, read.str(), fmt::format("at most {} dimensions", static_cast<int>(CALOTYPE_MAX_RANK)));
  for (const ir::SymbolPtr& var : vars_in(read))
    if (std::find(args.begin(), args.end(), var) == args.end())
      refuse(
          fmt::format("Var '{}' is used in a read of '{}' and is no coordinate of it", var->name, func.name),
          func.name, read.str(), "the coordinates that it is defined on, and those of an RDom");
}

void check_scalar(const FuncContents& func, const Expr& e) {
  if (!e.defined())
    refuse(fmt::format("a scalar of '{}' is undefined", func.name), func.name, "", "an expression");
  const std::string legal = "numbers, sizes, Params and what is computed of them";
  if (!is_plain(e) || !vars_in(e).empty() || !domains_in(e).empty())
    refuse(fmt::format("a scalar of '{}' is not the same for a whole call", func.name), func.name, e.str(),
           legal);
  if (!e.type().is_scalar() || e.type().is_float8())
    refuse(fmt::format("a scalar of '{}' has the type {}", func.name, e.type().str()), func.name, e.str(),
           "a bool or number of one lane, an 8-bit float cast to a wider one");
}

/// The domain that the reads range over; null if none.
std::shared_ptr<RDomContents> domain_of_reads(const FuncContents& func, const std::vector<Expr>& reads) {
  std::shared_ptr<RDomContents> domain;
  for (const Expr& read : reads)
    for (const std::shared_ptr<RDomContents>& used : domains_in(read)) {
      if (domain && used != domain)
        refuse(
            fmt::format("the reads of '{}' use the RDoms '{}' and '{}'", func.name, domain->name, used->name),
            func.name, used->name, "one RDom, which may have several dimensions");
      domain = used;
    }
  if (domain && domain->condition.defined())
    refuse(fmt::format("the reads of '{}' range over the RDom '{}', which has a condition", func.name,
                       domain->name),
           func.name, domain->name, "an RDom without where(): what is read is a box");
  return domain;
}

}  // namespace

FuncState define_extern(const FuncContents& func, const FuncState& before, const std::vector<Expr>& args,
                        const ir::Extern& function, const std::vector<Expr>& reads,
                        const std::vector<Expr>& scalars) {
  if (before.defined())
    refuse(fmt::format("'{}' is defined already", func.name), func.name, function.function.name,
           "a Func of its own for what a function computes");
  check_function(func, function);
  if (!distinct_vars(args))
    refuse(fmt::format("'{}' is defined on coordinates that are not distinct Vars", func.name), func.name, "",
           "distinct Vars");
  check_declared(func, before, args, function.types);
  FuncState after = before;
  after.types = function.types;
  after.rank = static_cast<int>(args.size());
  for (const Expr& arg : args) after.args.push_back(ir::symbol_of(arg));
  for (const Expr& read : reads) check_read(func, after.args, read);
  for (const Expr& e : scalars) check_scalar(func, e);

  StageDef stage;
  stage.lhs = args;
  if (const auto domain = domain_of_reads(func, reads)) stage.reduction = domain->dims();
  for (const ReductionDim& dim : stage.reduction)
    for (const ir::SymbolPtr& arg : after.args)
      if (arg->name == dim.name)
        refuse(fmt::format("'{}' has both a Var and an RVar named '{}'", func.name, dim.name), func.name,
               dim.name, "an RDom of another name");
  std::vector<Expr> operands = reads;
  operands.insert(operands.end(), scalars.begin(), scalars.end());
  stage.value = ir::make(ir::Op::Extern, function.types.front(), std::move(operands),
                         std::make_shared<const ir::Extern>(function));
  for (const ir::CalleePtr& callee : callees(stage))
    if (auto producer = func_of(callee)) {
      std::vector<std::shared_ptr<FuncContents>>& known = after.producers;
      if (std::find(known.begin(), known.end(), producer) == known.end()) known.push_back(producer);
    }
  after.stages.push_back(std::move(stage));
  return after;
}

}  // namespace calotype::lang
