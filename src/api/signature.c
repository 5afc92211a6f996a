/* Descriptions of a method's inputs and outputs. */
#include "module/signature.h"

#include <assert.h>

#include "api/find.h"

typedef struct Item {
  wick_value_info info;
  char *name, *type; /* owned */
  int64_t sizes[TENSOR_MAX_DIMS];
} Item;
struct wick_signature {
  RefCount refs;
  size_t input_count, output_count;
  Item items[]; /* the inputs, then the outputs */
};

static Status item_fill(Item *item, const Port *port) {
  StrBuf type = {.max_length = 1 << 16}, name = {.max_length = 1 << 16};
  bool is_optional = port->type->kind == TYPE_OPTIONAL;
  type_print_annotation(port->type, &type);
  strbuf_str(&name, port->name);
  Status status = strbuf_take(&type, &item->type), named = strbuf_take(&name, &item->name);
  if (status) {
    status_free(named);
    return status;
  }
  TRY(named);
  memcpy(item->sizes, port->sizes, sizeof item->sizes);
  item->info = (wick_value_info){.kind = kind_of_type(is_optional ? port->type->elements[0] : port->type),
                                 .name = item->name,
                                 .type = item->type,
                                 .is_optional = is_optional || port->type->kind == TYPE_NONE,
                                 .has_default = port->has_default,
                                 .dtype = port->dtype,
                                 .ndim = port->ndim,
                                 .sizes = port->ndim < 0 ? NULL : item->sizes,
                                 .last_size = port->last,
                                 .index_limit = port->below};
  return OK;
}

static Status signature_new(const Signature *found, wick_signature **out) {
  size_t count = (size_t)found->input_count + found->output_count;
  wick_signature *signature = mem_calloc(1, sizeof *signature + count * sizeof(Item));
  if (!signature) return status_out_of_memory();
  ref_init(&signature->refs);
  signature->input_count = found->input_count;
  signature->output_count = found->output_count;
  Status status = OK;
  for (size_t i = 0; i < count && !status; i++)
    status = item_fill(&signature->items[i],
                       i < found->input_count ? &found->inputs[i] : &found->outputs[i - found->input_count]);
  if (status)
    wick_signature_release(signature);
  else
    *out = signature;
  return status;
}

wick_status wick_module_signature(const wick_module *module, const char *method, wick_signature **out,
                                  wick_error **error) {
  Function *function;
  Signature found;
  Exec exec;
  API_OUT(out);
  API_NEED(module);
  API_NEED(method);
  API_TRY(module_find(module, method, &function));
  api_exec_init(&exec, module->runtime);
  HEAP_SCOPE(exec.runtime->heap);
  exec.device_map = &module->unit->device_map;
  API_TRY(signature_find(function, module->module ? module->module->object : NULL, &exec, &found));
  Status status = signature_new(&found, out);
  signature_dispose(&found);
  return api_status(status, error);
}

wick_signature *wick_signature_retain(wick_signature *signature) {
  if (signature) ref_retain(&signature->refs);
  return signature;
}
void wick_signature_release(wick_signature *signature) {
  if (!signature || !ref_release(&signature->refs)) return;
  for (size_t i = 0; i < signature->input_count + signature->output_count; i++) {
    mem_free(signature->items[i].name);
    mem_free(signature->items[i].type);
  }
  mem_free(signature);
}

size_t wick_signature_input_count(const wick_signature *signature) {
  return signature ? signature->input_count : 0;
}
size_t wick_signature_output_count(const wick_signature *signature) {
  return signature ? signature->output_count : 0;
}

static Status item_give(const wick_signature *signature, const char *what, size_t first, size_t count, size_t index,
                        wick_value_info *out) {
  TRY(api_check_size("wick_value_info", out->size));
  uint32_t size = out->size < sizeof *out ? out->size : (uint32_t)sizeof *out;
  if (index >= count) return status_new(ERROR_NOT_FOUND, "there is no %s %zu, of %zu", what, index, count);
  wick_value_info info = signature->items[first + index].info;
  info.size = out->size;
  memcpy(out, &info, size);
  return OK;
}
wick_status wick_signature_input(const wick_signature *signature, size_t index, wick_value_info *out,
                                 wick_error **error) {
  API_NEED(out);
  API_NEED(signature);
  return api_status(item_give(signature, "input", 0, signature->input_count, index, out), error);
}
wick_status wick_signature_output(const wick_signature *signature, size_t index, wick_value_info *out,
                                  wick_error **error) {
  API_NEED(out);
  API_NEED(signature);
  return api_status(item_give(signature, "output", signature->input_count, signature->output_count, index, out), error);
}
