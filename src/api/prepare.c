/* wick_prepare: calls over a copy of the module's attributes until nothing is compiled any more. The copy has the
 * module's own tensors, so that weights are packed for good; what the calls write into tensors is put back. */
#include "api/find.h"
#include "api/function.h"
#include "executor/executor.h"
#include "report/reason.h"

enum { MOST_RUNS = 32 };

/* What a tensor held before. */
typedef struct Kept {
  Tensor *tensor, *before; /* owned */
  uint32_t version;        /* of its storage */
} Kept;
typedef struct KeptTensors {
  VEC(Kept) kept;
  PtrMap known;       /* tensors in `kept`, containers that were entered */
  VEC(IValue) coming; /* owned */
} KeptTensors;

static Status come_to(KeptTensors *s, IValue v) { /* takes over the reference */
  bool is_met = v.tag < TAG_TENSOR || ptrmap_get(&s->known, v.counted);
  bool has_items = v.tag == TAG_LIST || v.tag == TAG_DICT || v.tag == TAG_TUPLE || v.tag == TAG_OBJECT;
  if (!is_met && (has_items || v.tag == TAG_TENSOR)) {
    if (ptrmap_put(&s->known, v.counted, v.counted) && vec_push(&s->coming, v)) return OK;
    ivalue_release(v);
    return status_out_of_memory();
  }
  ivalue_release(v);
  return OK;
}

static Status keep_tensor(KeptTensors *s, Tensor *t) {
  if (t->flags & NO_PLAIN_MEMORY || !t->storage) return OK;
  Kept kept = {t, NULL, atomic_load(&t->storage->version)};
  TRY(tensor_clone(t, &kept.before));
  if (!vec_push(&s->kept, kept)) {
    tensor_release(kept.before);
    return status_out_of_memory();
  }
  tensor_retain(t);
  return OK;
}

static Status come_to_items(KeptTensors *s, IValue v) {
  IValue key, value;
  switch (v.tag) {
    case TAG_TENSOR:
      return keep_tensor(s, v.tensor);
    case TAG_LIST:
      for (size_t i = 0; list_find(v.list, i, &value); i++) TRY(come_to(s, value));
      return OK;
    case TAG_DICT:
      for (size_t i = 0; dict_entry(v.dict, i, &key, &value); i++) {
        ivalue_release(key);
        TRY(come_to(s, value));
      }
      return OK;
    case TAG_TUPLE:
      for (uint32_t i = 0; i < v.tuple->length; i++) TRY(come_to(s, ivalue_retain(v.tuple->values[i])));
      return OK;
    default:
      for (uint32_t i = 0; i < v.object->slot_count; i++) TRY(come_to(s, object_get(v.object, i)));
      return OK;
  }
}

static Status kept_tensors_take(KeptTensors *s, IValue root) {
  Status status = come_to(s, ivalue_retain(root));
  while (s->coming.length) {
    IValue v = vec_pop(&s->coming);
    if (!status) status = come_to_items(s, v);
    ivalue_release(v);
  }
  return status;
}

static Status put_back(const Kept *kept) {
  Tensor *t = kept->tensor;
  const Tensor *before = kept->before;
  if (!tensor_same_sizes(t, before)) TRY(tensor_resize(t, before->ndim, before->sizes));
  TRY(tensor_copy(t, before, 1));
  tensor_bump_version(t);
  return OK;
}
/* Always to the end: the first error. */
static Status kept_tensors_restore(KeptTensors *s) {
  Status status = OK;
  for (size_t i = 0; i < s->kept.length; i++) {
    const Kept *kept = &s->kept.data[i];
    if (kept->tensor->storage && atomic_load(&kept->tensor->storage->version) == kept->version) continue;
    Status one = put_back(kept);
    if (status) {
      status_free(one);
    } else {
      status = one;
    }
  }
  return status;
}
static void kept_tensors_dispose(KeptTensors *s) {
  for (size_t i = 0; i < s->kept.length; i++) {
    tensor_release(s->kept.data[i].tensor);
    tensor_release(s->kept.data[i].before);
  }
  vec_dispose(&s->kept);
  vec_dispose(&s->coming);
  ptrmap_dispose(&s->known);
}

/* Runs watch first, then come to plans, which may find that they want more: until a run made nothing new. */
static Status run_until_settled(const wick_module *copy, Function *function, const wick_value *const *arguments,
                                size_t count, const char *const *names, size_t named_count,
                                const wick_run_options *options, Generator *aside) {
  Exec exec;
  api_exec_init(&exec, copy->runtime);
  HEAP_SCOPE(exec.runtime->heap);
  uint32_t least = executor_options_of(&exec)->profiled_runs + 2;
  uint64_t made = 0;
  for (uint32_t run = 0; run < MOST_RUNS; run++) {
    IValue result;
    uint64_t before = STATISTIC_GET(compiles);
    TRY(function_call(copy, function, (CallManner){.aside = aside}, arguments, count, names, named_count, options,
                      &result));
    ivalue_release(result);
    executor_drain();
    made = STATISTIC_GET(compiles) - before;
    if (!made && run + 1 >= least) break;
  }
  return OK;
}

static Status prepare(wick_module *module, Function *function, const wick_value *const *arguments, size_t count,
                      const char *const *names, size_t named_count, const wick_run_options *options) {
  KeptTensors kept = {0};
  Generator *aside = NULL;
  IValue object = IVALUE_NONE;
  wick_module copy = *module;
  Module copied;
  ptrmap_init(&kept.known, NULL);
  Status status = generator_new(0, &aside);
  for (size_t i = 0; i < count && !status; i++)
    if (arguments[i]) status = kept_tensors_take(&kept, arguments[i]->value);
  if (!status && module->module) {
    status = kept_tensors_take(&kept, ivalue_object(module->module->object));
    if (!status) status = ivalue_copy_containers(ivalue_object(module->module->object), &object);
    if (!status) {
      ivalue_mark_shared(object);
      copied = *module->module;
      copied.object = object.object;
      copy.module = &copied;
    }
  }
  if (!status) status = run_until_settled(&copy, function, arguments, count, names, named_count, options, aside);
  Status restored = kept_tensors_restore(&kept);
  if (status) {
    status_free(restored);
  } else {
    status = restored;
  }
  kept_tensors_dispose(&kept);
  ivalue_release(object);
  if (aside) generator_release(aside);
  return status;
}

wick_status wick_prepare(wick_module *module, const char *method, const wick_value *const *arguments, size_t count,
                         const char *const *names, size_t named_count, const wick_run_options *options,
                         wick_error **error) {
  Function *function;
  API_NEED(module);
  API_NEED(method);
  if (count) API_NEED(arguments);
  API_NEED_ITEMS(names, named_count);
  API_TRY(module_find(module, method, &function));
  return api_status(prepare(module, function, arguments, count, names, named_count, options), error);
}
