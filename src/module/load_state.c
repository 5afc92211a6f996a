/* A state dict into a module. Everything is compared first and reported together, so that a failure changes nothing. */
#include "module/module.h"

#include <assert.h>

typedef struct Target {
  Tensor *to;   /* retained */
  IValue value; /* owned */
} Target;

typedef struct StateLoad {
  const Dict *state;
  VEC(Target) targets;
  StrBuf missing, unexpected, different;
  size_t missing_count, different_count;
  Status status;
} StateLoad;

enum { MAX_LISTED = 20 }; /* names that an error lists; it counts the others */

static void print_sizes(const Tensor *t, StrBuf *out) {
  for (int i = 0; i < t->ndim; i++) strbuf_printf(out, "%s%lld", i ? ", " : "[", (long long)t->sizes[i]);
  strbuf_puts(out, t->ndim ? "]" : "[]");
}
static void list_name(StrBuf *out, size_t count, Str name) {
  if (count < MAX_LISTED) strbuf_printf(out, "%s" STR_FMT, count ? ", " : "", STR_ARG(name));
  if (count == MAX_LISTED) strbuf_puts(out, ", ...");
}

static Status plan_slot(StateLoad *l, Str name, Tensor *to) {
  assert(to);
  IValue key, value;
  TRY(ivalue_from_str(name, &key));
  bool found;
  Status status = dict_get(l->state, key, &value, &found);
  ivalue_release(key);
  TRY(status);
  if (!found) {
    list_name(&l->missing, l->missing_count++, name);
    return OK;
  }
  const char *why = NULL;
  bool is_tensor = value.tag == TAG_TENSOR && tensor_is_defined(value.tensor);
  if (!is_tensor) {
    why = "is no tensor";
  } else if (!tensor_same_sizes(to, value.tensor)) {
    why = "has other sizes";
  } else if (dtype_is_complex((DType)value.tensor->dtype) && !dtype_is_complex((DType)to->dtype)) {
    why = "is complex";
  }
  if (!why) {
    if (vec_push(&l->targets, ((Target){to, value}))) {
      tensor_retain(to);
      return OK;
    }
    ivalue_release(value);
    return status_out_of_memory();
  }
  if (l->different_count++ < MAX_LISTED) {
    strbuf_printf(&l->different, "\n  '" STR_FMT "' %s", STR_ARG(name), why);
    if (is_tensor) {
      strbuf_puts(&l->different, ": ");
      print_sizes(value.tensor, &l->different);
      strbuf_puts(&l->different, ", the module's ");
      print_sizes(to, &l->different);
    }
  }
  ivalue_release(value);
  return OK;
}

static bool plan_visit(void *argument, const ModuleSlot *slot) {
  StateLoad *l = argument;
  if (slot->kind == ATTRIBUTE_PLAIN || slot->value.tag != TAG_TENSOR || !tensor_is_defined(slot->value.tensor))
    return true;
  l->status = plan_slot(l, slot->name, slot->value.tensor);
  return l->status == OK;
}

/* Names of the state that the module does not have. */
static Status find_unexpected(const Module *module, StateLoad *l, size_t *out_count) {
  Dict *own;
  TRY(module_state_dict(module, &own));
  Status status = OK;
  for (DictEntry *e = dict_next(l->state, NULL); e && !status; e = dict_next(l->state, e)) {
    bool found = false;
    if (e->key.tag != TAG_STRING) {
      status = status_new(ERROR_INVALID_ARGUMENT, "a key of the state dict is no text");
    } else {
      status = dict_get(own, e->key, NULL, &found);
    }
    if (!status && !found) {
      list_name(&l->unexpected, (*out_count)++, ivalue_str(e->key));
    }
  }
  ivalue_release(ivalue_dict(own));
  return status;
}

static Status report(const StateLoad *l, size_t unexpected_count) {
  if (!l->missing_count && !unexpected_count && !l->different_count) return OK;
  StrBuf text = {.max_length = 1 << 16};
  strbuf_puts(&text, "the state does not fit the module:");
  if (l->missing_count)
    strbuf_printf(&text, "\n  %zu missing: " STR_FMT, l->missing_count, STR_ARG(strbuf_view(&l->missing)));
  if (unexpected_count)
    strbuf_printf(&text, "\n  %zu unexpected: " STR_FMT, unexpected_count, STR_ARG(strbuf_view(&l->unexpected)));
  strbuf_str(&text, strbuf_view(&l->different));
  if (l->different_count > MAX_LISTED) strbuf_printf(&text, "\n  and %zu more", l->different_count - MAX_LISTED);
  Status status = status_new(ERROR_INVALID_ARGUMENT, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

Status module_load_state(Module *module, const Dict *state) {
  StateLoad l = {.state = state,
                 .missing = {.max_length = 1 << 14},
                 .unexpected = {.max_length = 1 << 14},
                 .different = {.max_length = 1 << 15}};
  size_t unexpected_count = 0;
  Status status = module_each(module, true, plan_visit, &l);
  if (!status) status = l.status;
  if (!status) status = find_unexpected(module, &l, &unexpected_count);
  if (!status) status = report(&l, unexpected_count);
  for (size_t i = 0; i < l.targets.length; i++) {
    Target *target = &l.targets.data[i];
    if (!status) status = tensor_copy(target->to, target->value.tensor, 1);
    if (!status) tensor_bump_version(target->to);
    tensor_release(target->to);
    ivalue_release(target->value);
  }
  vec_dispose(&l.targets);
  strbuf_dispose(&l.missing);
  strbuf_dispose(&l.unexpected);
  strbuf_dispose(&l.different);
  return status;
}
