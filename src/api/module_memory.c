/* What a module has in memory. */
#include "api/handles.h"
#include "compute/conv/conv_weights.h"
#include "executor/executor.h"
#include "tensor/storage_share.h"

typedef struct Count {
  wick_memory memory;
  PtrMap known; /* what holds the content of storages that were counted */
  bool has_failed;
} Count;

static bool count_storage(Count *c, const Storage *storage) {
  Storage *content = storage_content(storage);
  if (ptrmap_get(&c->known, content)) return true;
  c->has_failed = !ptrmap_put(&c->known, content, content);
  c->memory.weights += storage->bytes;
  if (content != storage && !ref_is_unique(&content->refs)) c->memory.shared += storage->bytes;
  c->memory.packed_weights += packed_weights_bytes_of(storage);
  return !c->has_failed;
}

static bool count_slot(void *argument, const ModuleSlot *slot) {
  const Tensor *t = slot->value.tag == TAG_TENSOR ? slot->value.tensor : NULL;
  return !t || !t->storage || count_storage(argument, t->storage);
}

wick_status wick_module_memory(const wick_module *module, wick_memory *out, wick_error **error) {
  API_NEED(module);
  API_NEED(out);
  API_TRY(api_check_size("wick_memory", out->size));
  Count c = {.memory = {.size = out->size}};
  ptrmap_init(&c.known, NULL);
  Status status = module->module ? module_each(module->module, true, count_slot, &c) : OK;
  if (!status && c.has_failed) status = status_out_of_memory();
  ptrmap_dispose(&c.known);
  c.memory.plans = executor_plan_bytes(module->unit);
  if (!status) memcpy(out, &c.memory, out->size < sizeof c.memory ? out->size : sizeof c.memory);
  return api_status(status, error);
}
