// The defaults behind compiled host code: oneTBB for parallel loops, aligned memory, messages of failed
// checks.
#include "codegen/llvm/hooks.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "codegen/llvm/backend.h"
#include "codegen/llvm/hand_over.h"
#include "codegen/llvm/scratch.h"
#include "ir/extern_call.h"
#include "ir/runtime_type.h"
#include "runtime/print.h"

namespace calotype::llvm_backend {
namespace {

std::atomic<int> thread_limit{0};

int parallel_for_tbb(void* context, ParallelBody body, std::int64_t begin, std::int64_t end, void* closure) {
  if (thread_limit.load(std::memory_order_relaxed) == 1 || end - begin == 1) {
    return begin < end ? body(context, begin, end, closure) : 0;
  }
  std::atomic<int> status{0};
  tbb::task_group_context group;
  HandOver start, finish;
  start.give();
  tbb::parallel_for(
      tbb::blocked_range<std::int64_t>(begin, end),
      [&](const tbb::blocked_range<std::int64_t>& range) {
        start.take();
        if (int code = body(context, range.begin(), range.end(), closure)) {
          int expected = 0;
          status.compare_exchange_strong(expected, code);
          group.cancel_group_execution();
        }
        finish.give();
      },
      tbb::auto_partitioner{}, group);
  finish.take();
  return status;
}

/// `text` with each {} replaced by the next value; kinds: 'i' signed, 'u' unsigned, 'f' float (bits of a
/// double).
std::string format_message(const char* text, const std::int64_t* values, const char* kinds) {
  std::string message;
  for (const char* at = text; *at != 0; ++at) {
    if (at[0] != '{' || at[1] != '}' || *kinds == 0) {
      message += *at;
      continue;
    }
    std::int64_t value = *values++;
    switch (*kinds++) {
      case 'f':
        message += fmt::format("{}", std::bit_cast<double>(value));
        break;
      case 'u':
        message += fmt::format("{}", static_cast<std::uint64_t>(value));
        break;
      default:
        message += fmt::format("{}", value);
    }
    ++at;
  }
  return message;
}

/// The next box of a call, from its slots: the pointer to its first element, then smallest coordinate, extent
/// and stride of each dimension.
calotype_buffer take_box(const ir::ExternCall::Box& box, const std::int64_t*& slots) {
  static_assert(sizeof(void*) == sizeof(std::int64_t), "a slot holds a pointer");
  calotype_buffer b{};
  b.data = std::bit_cast<void*>(*slots++);
  b.type = ir::runtime_type(box.type);
  b.rank = box.rank;
  for (int d = 0; d < box.rank; ++d, slots += 3) b.dims[d] = {slots[0], slots[1], slots[2]};
  return b;
}

std::optional<std::string> run_extern(const ir::ExternCall& call, const std::int64_t* slots) {
  std::vector<calotype_buffer> outputs, inputs;
  for (const ir::ExternCall::Box& box : call.boxes)
    (outputs.size() < call.outputs() ? outputs : inputs).push_back(take_box(box, slots));
  const std::vector<std::int64_t> scalars(slots, slots + call.scalars);
  return ir::call_extern(*call.callee, call.func, outputs, inputs, scalars);
}

}  // namespace

// The entry points of compiled code: they go through the caller's hooks where there are any.
extern "C" {

int calotype_host_parallel_for(void* context, ParallelBody body, std::int64_t begin, std::int64_t end,
                               void* closure) {
  auto* hooks = static_cast<Hooks*>(context);
  if (hooks && hooks->parallel_for) return hooks->parallel_for(hooks, body, begin, end, closure);
  return parallel_for_tbb(context, body, begin, end, closure);
}

void* calotype_host_allocate(void* context, std::int64_t bytes) {
  auto* hooks = static_cast<Hooks*>(context);
  if (hooks && hooks->allocate) return hooks->allocate(hooks, bytes);
  return allocate_scratch(bytes);
}

void calotype_host_no_memory(void* context, const char* buffer, std::int64_t bytes) {
  auto* hooks = static_cast<Hooks*>(context);
  if (hooks && hooks->no_memory) hooks->no_memory(hooks, buffer, bytes);
}

void calotype_host_release(void* context, void* memory) {
  auto* hooks = static_cast<Hooks*>(context);
  if (hooks && hooks->allocate) return hooks->release(hooks, memory);
  release_scratch(memory);
}

void calotype_host_check_failed(void* context, const char* text, const std::int64_t* values,
                                const char* kinds) {
  auto* hooks = static_cast<Hooks*>(context);
  if (hooks && hooks->failed) hooks->failed(hooks, format_message(text, values, kinds).c_str());
}

int calotype_host_extern(void* context, const ir::ExternCall* call, const std::int64_t* slots) {
  try {
    const std::optional<std::string> failed = run_extern(*call, slots);
    if (!failed) return kGood;
    auto* hooks = static_cast<Hooks*>(context);
    if (hooks && hooks->failed) hooks->failed(hooks, failed->c_str());
    return kCheckFailed;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  }
}

void calotype_host_enter(void* context, int clock) {
  auto* hooks = static_cast<Hooks*>(context);
  if (hooks && hooks->enter) hooks->enter(hooks, clock);
}

void calotype_host_leave(void* context) {
  auto* hooks = static_cast<Hooks*>(context);
  if (hooks && hooks->leave) hooks->leave(hooks);
}

void calotype_host_count(void* context, int counter, std::int64_t amount) {
  auto* hooks = static_cast<Hooks*>(context);
  if (hooks && hooks->count) hooks->count(hooks, counter, amount);
}

void calotype_host_grow(void* context, int level, std::int64_t amount) {
  auto* hooks = static_cast<Hooks*>(context);
  if (hooks && hooks->grow) hooks->grow(hooks, level, amount);
}

void calotype_host_print(void* context, const char* text, const std::int64_t* values, const char* kinds) {
  auto* hooks = static_cast<Hooks*>(context);
  if (hooks && hooks->print) return hooks->print(hooks, text, values, kinds);
  calotype_print(nullptr, text, values, kinds);
}

}  // extern "C"

void set_threads(int count) {
  static std::mutex mutex;
  static std::unique_ptr<tbb::global_control> control;
  std::lock_guard lock(mutex);
  control.reset();
  if (count > 0) {
    control = std::make_unique<tbb::global_control>(tbb::global_control::max_allowed_parallelism,
                                                    static_cast<std::size_t>(count));
  }
  thread_limit = count;
}

std::vector<std::pair<const char*, void*>> runtime_symbols() {
  using Unary = double (*)(double);
  using Binary = double (*)(double, double);
  auto address = [](auto* function) { return reinterpret_cast<void*>(function); };
  auto unary = [&](Unary function) { return address(function); };
  return {{"calotype_host_parallel_for", address(&calotype_host_parallel_for)},
          {"calotype_host_allocate", address(&calotype_host_allocate)},
          {"calotype_host_no_memory", address(&calotype_host_no_memory)},
          {"calotype_host_release", address(&calotype_host_release)},
          {"calotype_host_check_failed", address(&calotype_host_check_failed)},
          {"calotype_host_extern", address(&calotype_host_extern)},
          {"calotype_host_enter", address(&calotype_host_enter)},
          {"calotype_host_leave", address(&calotype_host_leave)},
          {"calotype_host_count", address(&calotype_host_count)},
          {"calotype_host_grow", address(&calotype_host_grow)},
          {"calotype_host_print", address(&calotype_host_print)},
          {"exp", unary(&std::exp)},
          {"log", unary(&std::log)},
          {"tanh", unary(&std::tanh)},
          {"erf", unary(&std::erf)},
          {"sin", unary(&std::sin)},
          {"cos", unary(&std::cos)},
          {"exp2", unary(&std::exp2)},
          {"expm1", unary(&std::expm1)},
          {"log2", unary(&std::log2)},
          {"log1p", unary(&std::log1p)},
          {"tan", unary(&std::tan)},
          {"asin", unary(&std::asin)},
          {"acos", unary(&std::acos)},
          {"atan", unary(&std::atan)},
          {"sinh", unary(&std::sinh)},
          {"cosh", unary(&std::cosh)},
          {"asinh", unary(&std::asinh)},
          {"acosh", unary(&std::acosh)},
          {"atanh", unary(&std::atanh)},
          {"atan2", address(static_cast<Binary>(&std::atan2))},
          {"hypot", address(static_cast<Binary>(&std::hypot))},
          {"pow", address(static_cast<Binary>(&std::pow))},
          {"memcpy", address(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memcpy))},
          {"memmove", address(static_cast<void* (*)(void*, const void*, std::size_t)>(&std::memmove))},
          {"memset", address(static_cast<void* (*)(void*, int, std::size_t)>(&std::memset))}};
}

}  // namespace calotype::llvm_backend
