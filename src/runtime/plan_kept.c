/* Values that a call finds or leaves in the cache. */

#include "runtime/plan_call.h"

static calotype_error_kind make(const call* c, uint32_t i) {
  const calotype_plan_kept* k = &c->plan->kept[i];
  int64_t* bytes = c->key + k->key_count;
  for (uint32_t w = 0; w < k->workspace_count; ++w) {
    calotype_error_kind kind = call_evaluate(c, c->plan->workspace[k->first_workspace + w].bytes, k->func,
                                             "the size of its storage", &bytes[w]);
    if (kind) return kind;
  }
  c->kept[i].values = calotype_values_make(i, c->key, k->key_count, bytes, k->workspace_count);
  c->kept[i].made = 1;
  if (c->kept[i].values) return CALOTYPE_GOOD;
  return calotype_fail(c->context, CALOTYPE_OUT_OF_MEMORY, k->func, NULL,
                       "no memory for %lld bytes of values that are kept", (long long)bytes[0]);
}

calotype_error_kind call_take_kept(const call* c) {
  if (!c->code->cache) return CALOTYPE_GOOD;
  for (uint32_t i = 0; i < c->plan->kept_count; ++i) {
    const calotype_plan_kept* k = &c->plan->kept[i];
    for (uint32_t n = 0; n < k->key_count; ++n) {
      calotype_error_kind kind =
          call_evaluate(c, c->plan->keys[k->first_key + n], k->func, "what its values depend on", &c->key[n]);
      if (kind) return kind;
    }
    c->kept[i].values = calotype_values_find(c->code->cache, i, c->key, k->key_count);
    c->slots[k->slot] = c->kept[i].values != NULL;
    if (!c->kept[i].values) {
      calotype_error_kind kind = make(c, i);
      if (kind) return kind;
    }
    for (uint32_t w = 0; w < k->workspace_count; ++w)
      c->workspace[k->first_workspace + w].pointer = calotype_values_memory(c->kept[i].values, w);
  }
  return CALOTYPE_GOOD;
}

void call_leave_kept(const call* c, int good) {
  for (uint32_t i = 0; i < c->plan->kept_count; ++i) {
    if (!c->kept[i].values) continue;
    if (good && c->kept[i].made) calotype_values_publish(c->code->cache, c->kept[i].values);
    calotype_values_give_back(c->code->cache, c->kept[i].values);
  }
}
