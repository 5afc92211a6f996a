/* Writing to lists, dicts and objects, and to the elements of tensors. */
#include "api/arguments.h"
#include "api/handles.h"
#include "ivalue/lock.h"
#include "tensor/storage_share.h"

static Status wrong_kind(const wick_value *value, const char *wanted) {
  StrBuf text = {.max_length = 300};
  ivalue_print_type(value->value, &text);
  Status status =
      status_new(ERROR_INVALID_ARGUMENT, "%s is expected, got " STR_FMT, wanted, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

/* ---- lists ---- */

static Status list_item(const wick_value *list, const wick_value *item, IValue *out) {
  if (list->value.tag != TAG_LIST) return wrong_kind(list, "a list");
  return argument_convert(item->value, list->value.list->element, "the item", out);
}

wick_status wick_list_append(wick_value *list, const wick_value *item, wick_error **error) {
  IValue converted;
  API_NEED(list);
  API_NEED(item);
  API_TRY(list_item(list, item, &converted));
  return api_status(list_append(list->value.list, converted), error);
}

wick_status wick_list_set(wick_value *list, size_t index, const wick_value *item, wick_error **error) {
  IValue converted;
  API_NEED(list);
  API_NEED(item);
  API_TRY(list_item(list, item, &converted));
  size_t length = list_length(list->value.list);
  if (index >= length) {
    ivalue_release(converted);
    return api_status(status_exception("IndexError", "item %zu of a list of %zu", index, length), error);
  }
  list_set(list->value.list, index, converted);
  return api_status(OK, error);
}

wick_status wick_list_remove(wick_value *list, size_t index, wick_error **error) {
  API_NEED(list);
  if (list->value.tag != TAG_LIST) return api_status(wrong_kind(list, "a list"), error);
  size_t length = list_length(list->value.list);
  if (index >= length)
    return api_status(status_exception("IndexError", "item %zu of a list of %zu", index, length), error);
  ivalue_release(list_remove(list->value.list, index));
  return api_status(OK, error);
}

/* ---- dicts ---- */

wick_status wick_dict_set(wick_value *dict, const wick_value *key, const wick_value *value, wick_error **error) {
  IValue k, v;
  API_NEED(dict);
  API_NEED(key);
  API_NEED(value);
  if (dict->value.tag != TAG_DICT) return api_status(wrong_kind(dict, "a dict"), error);
  Dict *d = dict->value.dict;
  API_TRY(argument_convert(key->value, d->key_type, "the key", &k));
  Status status = argument_convert(value->value, d->value_type, "the value", &v);
  if (status) {
    ivalue_release(k);
    return api_status(status, error);
  }
  return api_status(dict_set(d, k, v), error);
}

wick_status wick_dict_remove(wick_value *dict, const wick_value *key, wick_error **error) {
  API_NEED(dict);
  API_NEED(key);
  if (dict->value.tag != TAG_DICT) return api_status(wrong_kind(dict, "a dict"), error);
  bool found;
  API_TRY(dict_remove(dict->value.dict, key->value, NULL, &found));
  if (!found) return api_status(status_exception("KeyError", "the dict has no such key"), error);
  return api_status(OK, error);
}

/* ---- attributes ---- */

static Status set_attribute(Object *object, Str name, const wick_value *value) {
  const ClassType *type = object->class_type;
  ptrdiff_t slot = class_type_find_attribute(type, name);
  if (slot < 0 || (size_t)slot >= object->slot_count)
    return status_exception("AttributeError", "'" STR_FMT "' has no attribute '" STR_FMT "'", STR_ARG(type->type.name),
                            STR_ARG(name));
  StrBuf what = {.max_length = 300};
  IValue converted;
  strbuf_printf(&what, "attribute '" STR_FMT "'", STR_ARG(name));
  Status status =
      argument_convert(value->value, type->attributes.data[slot].type, what.data ? what.data : "the value", &converted);
  strbuf_dispose(&what);
  if (!status) object_set(object, (uint32_t)slot, converted);
  return status;
}

wick_status wick_object_set(wick_value *object, const char *name, const wick_value *value, wick_error **error) {
  API_NEED(object);
  API_NEED(name);
  API_NEED(value);
  if (object->value.tag != TAG_OBJECT) return api_status(wrong_kind(object, "an object"), error);
  return api_status(set_attribute(object->value.object, str_from(name), value), error);
}

/* The object that has the last part of "layer1.0.weight" as an attribute; owned. */
static Status object_of_path(const wick_module *module, const char *path, Object **out, Str *out_name) {
  if (!module->module) return status_new(ERROR_INVALID_ARGUMENT, "a compiled text has no attributes");
  Str rest = str_from(path);
  IValue at = ivalue_retain(ivalue_object(module->module->object));
  for (ptrdiff_t dot; (dot = str_find_char(rest, '.')) >= 0;) {
    Str name = {rest.data, (size_t)dot};
    rest = (Str){rest.data + dot + 1, rest.length - (size_t)dot - 1};
    ptrdiff_t slot = class_type_find_attribute(at.object->class_type, name);
    IValue inner =
        slot >= 0 && (size_t)slot < at.object->slot_count ? object_get(at.object, (uint32_t)slot) : IVALUE_NONE;
    ivalue_release(at);
    if (inner.tag != TAG_OBJECT) {
      ivalue_release(inner);
      return status_exception("AttributeError", "there is no submodule '" STR_FMT "' on the way to '%s'", STR_ARG(name),
                              path);
    }
    at = inner;
  }
  *out = at.object;
  *out_name = rest;
  return OK;
}

wick_status wick_module_set(wick_module *module, const char *path, const wick_value *value, wick_error **error) {
  Object *object;
  Str name;
  API_NEED(module);
  API_NEED(path);
  API_NEED(value);
  API_TRY(object_of_path(module, path, &object, &name));
  Status status = set_attribute(object, name, value);
  ivalue_release(ivalue_object(object));
  return api_status(status, error);
}

wick_status wick_module_get(const wick_module *module, const char *path, wick_value **out, wick_error **error) {
  Object *object;
  Str name;
  API_OUT(out);
  API_NEED(module);
  API_NEED(path);
  API_TRY(object_of_path(module, path, &object, &name));
  ptrdiff_t slot = class_type_find_attribute(object->class_type, name);
  Status status = OK;
  if (slot < 0 || (size_t)slot >= object->slot_count)
    status = status_exception("AttributeError", "'" STR_FMT "' has no attribute '" STR_FMT "'",
                              STR_ARG(object->class_type->type.name), STR_ARG(name));
  else
    status = value_box_of(object_get(object, (uint32_t)slot), module->unit, out);
  ivalue_release(ivalue_object(object));
  return api_status(status, error);
}

/* ---- elements of tensors ---- */

/* On any device: copies go through it. */
static Status plain_tensor(const wick_value *value, Tensor **out) {
  if (value->value.tag != TAG_TENSOR) return wrong_kind(value, "a tensor");
  if (value->value.tensor->flags & NO_PLAIN_MEMORY & ~(uint32_t)TENSOR_NOT_CPU)
    return status_new(ERROR_UNSUPPORTED, "the tensor has no plain memory");
  *out = value->value.tensor;
  return OK;
}

/* A row-major tensor over the caller's bytes, like t. */
static Status over_bytes(const Tensor *t, void *data, size_t bytes, Tensor **out) {
  Storage *storage;
  size_t wanted = (size_t)t->numel * dtype_size((DType)t->dtype);
  if (dtype_is_quantized((DType)t->dtype)) return status_new(ERROR_UNSUPPORTED, "the tensor is quantized");
  if (bytes != wanted) return status_new(ERROR_INVALID_ARGUMENT, "%zu bytes for a tensor of %zu", bytes, wanted);
  TRY(storage_from_data(data, bytes, NULL, NULL, &storage));
  Status status = tensor_from_storage(storage, (DType)t->dtype, t->ndim, t->sizes, NULL, 0, out);
  storage_release(storage);
  return status;
}

int64_t wick_tensor_count(const wick_value *tensor) {
  return tensor && tensor->value.tag == TAG_TENSOR ? tensor->value.tensor->numel : 0;
}

/* NULL: there is none that may be read, or written. */
static void *data_of(const wick_value *tensor, bool to_write) {
  if (!tensor || tensor->value.tag != TAG_TENSOR) return NULL;
  const Tensor *t = tensor->value.tensor;
  if (!t->contiguous || t->flags & (NO_PLAIN_MEMORY | TENSOR_CONJ | TENSOR_NEG)) return NULL;
  Status status = to_write ? tensor_check_writable(t) : OK;
  if (!status && t->storage) status = storage_show(t->storage);
  bool is_shown = !status;
  status_free(status);
  return is_shown ? tensor_data(t) : NULL;
}
const void *wick_tensor_data(const wick_value *tensor) {
  return data_of(tensor, false);
}
void *wick_tensor_mutable_data(wick_value *tensor) {
  return data_of(tensor, true);
}

wick_status wick_tensor_copy_from(wick_value *tensor, const void *data, size_t bytes, wick_error **error) {
  Tensor *t, *from;
  API_NEED(tensor);
  API_NEED_BYTES(data, bytes);
  API_TRY(plain_tensor(tensor, &t));
  if (t->flags & (TENSOR_CONJ | TENSOR_NEG))
    return api_status(status_new(ERROR_UNSUPPORTED, "the tensor shows another conjugated or negated"), error);
  API_TRY(tensor_check_writable(t));
  API_TRY(over_bytes(t, (void *)(uintptr_t)data, bytes, &from));
  Status status = tensor_copy(t, from, 1);
  if (!status) tensor_bump_version(t);
  tensor_release(from);
  return api_status(status, error);
}

wick_status wick_tensor_copy_to(const wick_value *tensor, void *data, size_t bytes, wick_error **error) {
  Tensor *t, *to;
  API_NEED(tensor);
  API_NEED_BYTES(data, bytes);
  API_TRY(plain_tensor(tensor, &t));
  API_TRY(over_bytes(t, data, bytes, &to));
  Status status = tensor_copy(to, t, 1);
  tensor_release(to);
  return api_status(status, error);
}
