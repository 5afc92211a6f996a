/* The slow parts of instructions: making and taking apart containers, raising, casts, tolist. */
#include <assert.h>
#include <limits.h>
#include <stdio.h>

#include "interp/task.h"

/* ---- raise ---- */

/* PyTorch keeps "ClassName: message" for builtin exceptions in the message when no class is given (`assert`). */
Status value_raise(const Site *site, const IValue *arguments) {
  assert(site->arg_count > 0);
  Str message = arguments[0].tag == TAG_STRING ? ivalue_str(arguments[0]) : STR("");
  Str name = site->arg_count > 1 && arguments[1].tag == TAG_STRING ? ivalue_str(arguments[1]) : STR("");
  int length = message.length > INT_MAX ? INT_MAX : (int)message.length;
  Status status = status_new(ERROR_RAISED, "%.*s", length, message.data);
  if (!name.length || status->code != ERROR_RAISED) return status;
  ptrdiff_t dot = str_starts_with(name, "builtins.") ? 8 : -1;
  Str shown = str_slice(name, (size_t)(dot + 1), name.length);
  char *copy = mem_alloc(shown.length + 1);
  if (!copy) return status;
  memcpy(copy, shown.data, shown.length);
  copy[shown.length] = 0;
  mem_free(status->class_name);
  status->class_name = copy;
  status->exception = copy;
  return status;
}

/* ---- casts ---- */

bool value_fits(IValue v, const Type *type) {
  if (type->kind == TYPE_CLASS && v.tag == TAG_OBJECT && v.object->class_type == type->class_type) return true;
  if (type->kind == TYPE_LIST && v.tag == TAG_LIST && v.list->element == type->elements[0]) return true;
  return ivalue_is_instance(v, type);
}

Status value_cast_error(IValue v, const Type *type) {
  StrBuf wanted = {.max_length = 500}, found = {.max_length = 500};
  type_print_annotation(type, &wanted);
  ivalue_print_type(v, &found);
  Status status = status_new(ERROR_RUNTIME, "a value of type '" STR_FMT "' was expected, found '" STR_FMT "'",
                             STR_ARG(strbuf_view(&wanted)), STR_ARG(strbuf_view(&found)));
  strbuf_dispose(&wanted);
  strbuf_dispose(&found);
  return status;
}

Status value_key_error(IValue key) {
  StrBuf text = {.max_length = 500};
  Status printed = ivalue_print(key, &text);
  status_free(printed);
  Status status = status_exception("KeyError", STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return status;
}

/* ---- lists ---- */

Status value_list_construct(const Type *element, const IValue *values, uint32_t count, IValue *out) {
  List *list;
  TRY(list_new(element, count, &list));
  switch (list->kind) {
    case LIST_INTS:
      for (uint32_t i = 0; i < count; i++) list->ints[i] = values[i].i;
      break;
    case LIST_FLOATS:
      for (uint32_t i = 0; i < count; i++) list->floats[i] = values[i].f;
      break;
    case LIST_BOOLS:
      for (uint32_t i = 0; i < count; i++) list->bools[i] = values[i].b;
      break;
    default:
      for (uint32_t i = 0; i < count; i++) list->values[i] = ivalue_retain(values[i]);
  }
  list->length = count;
  *out = ivalue_list(list);
  return OK;
}

/* Nested lists of one dimension each; data lies dense in row-major order. */
static Status nested_list(const Type *type, DType dtype, const char *data, const int64_t *sizes, int ndim,
                          IValue *out) {
  if (ndim == 0) {
    DType to = type->kind == TYPE_FLOAT     ? DTYPE_FLOAT64
               : type->kind == TYPE_BOOL    ? DTYPE_BOOL
               : type->kind == TYPE_COMPLEX ? DTYPE_COMPLEX128
                                            : DTYPE_INT64;
    union {
      int64_t i;
      double f;
      uint8_t b;
      complex128 c;
    } item = {0};
    dtype_convert(to, &item, 1, dtype, data, 1, 1);
    if (to == DTYPE_FLOAT64)
      *out = ivalue_float(item.f);
    else if (to == DTYPE_BOOL)
      *out = ivalue_bool(item.b != 0);
    else if (to == DTYPE_COMPLEX128)
      return ivalue_from_complex(item.c, out);
    else
      *out = ivalue_int(item.i);
    return OK;
  }
  List *list;
  TRY(list_new(type->elements[0], (size_t)sizes[0], &list));
  size_t stride = dtype_size(dtype);
  for (int d = 1; d < ndim; d++) stride *= (size_t)sizes[d];
  Status status = OK;
  for (int64_t i = 0; i < sizes[0] && !status; i++) {
    IValue item;
    status = nested_list(type->elements[0], dtype, data + (size_t)i * stride, sizes + 1, ndim - 1, &item);
    if (!status) status = list_append(list, item);
  }
  *out = ivalue_list(list);
  if (status) {
    ivalue_release(*out);
    *out = IVALUE_NONE;
  }
  return status;
}

/* Row-major on the host, from wherever it is. */
static Status fetch_dense(const Tensor *t, Tensor **out) {
  TensorSpec spec;
  if (tensor_device(t).type == DEVICE_CPU || t->flags & TENSOR_META) {
    TRY(tensor_check_host(t));
    return tensor_contiguous(t, out);
  }
  tensor_spec_of(t, &spec);
  spec.device = DEVICE_CPU_0;
  TRY(tensor_new(&spec, out));
  Status status = tensor_copy(*out, t, 1);
  if (status) tensor_release(*out);
  return status;
}

Status value_to_list(const Type *type, IValue value, IValue *out) {
  if (value.tag != TAG_TENSOR || !tensor_is_defined(value.tensor))
    return status_new(ERROR_RUNTIME, "tolist() of something that is not a tensor");
  if (value.tensor->flags & TENSOR_META)
    return status_new(ERROR_UNSUPPORTED, "tolist() of a tensor without data (device 'meta')");
  int depth = 0;
  const Type *element = type;
  for (; element->kind == TYPE_LIST; element = element->elements[0]) depth++;
  Tensor *t = value.tensor;
  if (depth != t->ndim)
    return status_new(ERROR_RUNTIME,
                      "Output annotation list dimension and runtime tensor dimension must match for tolist()");
  bool fits;
  switch (element->kind) {
    case TYPE_INT:
      fits = t->dtype == DTYPE_INT64;
      break;
    case TYPE_FLOAT:
      fits = dtype_is_floating((DType)t->dtype);
      break;
    case TYPE_BOOL:
      fits = t->dtype == DTYPE_BOOL;
      break;
    case TYPE_COMPLEX:
      fits = dtype_is_complex((DType)t->dtype);
      break;
    default:
      fits = false;
  }
  if (!fits)
    return status_new(ERROR_RUNTIME,
                      "Output annotation element type and runtime tensor element type must match for tolist(): %s",
                      dtype_scalar_name((DType)t->dtype));
  Tensor *dense;
  void *data;
  TRY(fetch_dense(t, &dense));
  Status status = tensor_host(dense, &data);
  if (!status) status = nested_list(type, (DType)dense->dtype, data, dense->sizes, dense->ndim, out);
  tensor_release(dense);
  return status;
}

/* ---- containers of modules ---- */

/* ModuleList[i] and ModuleDict[key] where the result is an interface: submodules are attributes in order, a list's are
 * named 0, 1, ... */
Status value_container_index(IValue container, IValue key, IValue *out) {
  if (container.tag != TAG_OBJECT) return status_new(ERROR_RUNTIME, "indexing something that is not a module");
  Object *object = container.object;
  const ClassType *c = object->class_type;
  char digits[32];
  Str name;
  if (key.tag == TAG_STRING) {
    name = ivalue_str(key);
  } else if (key.tag == TAG_INT) {
    int64_t i = key.i, n = 0;
    for (size_t k = 0; k < c->attributes.length; k++)
      n += c->attributes.data[k].type->kind == TYPE_CLASS || c->attributes.data[k].type->kind == TYPE_INTERFACE;
    if (i < 0) i += n;
    if (i < 0 || i >= n) return status_exception("IndexError", "index %lld is out of range", (long long)key.i);
    snprintf(digits, sizeof digits, "%lld", (long long)i);
    name = str_from(digits);
  } else {
    return status_new(ERROR_RUNTIME, "a module container is indexed by int or str");
  }
  ptrdiff_t slot = class_type_find_attribute(c, name);
  if (slot < 0) return value_key_error(key);
  *out = object_get(object, (uint32_t)slot);
  return OK;
}

/* ---- parts of containers ---- */

Status value_unpack_list(List *l, uint32_t count, IValue *out) {
  List *items;
  TRY(list_hold(l, &items));
  Status status = OK;
  if (items->length == count)
    for (uint32_t i = 0; i < count; i++) out[i] = list_get(items, i);
  else
    status = status_new(ERROR_RUNTIME, "Expected %u elements in a list but found %zu", count, items->length);
  ivalue_release(ivalue_list(items));
  return status;
}

Status value_dict_construct(const Type *type, const IValue *values, uint32_t count, IValue *out) {
  assert(count % 2 == 0);
  Dict *dict;
  TRY(dict_new(type->elements[0], type->elements[1], &dict));
  Status status = OK;
  for (uint32_t i = 0; i + 1 < count && !status; i += 2)
    status = dict_set(dict, ivalue_retain(values[i]), ivalue_retain(values[i + 1]));
  *out = ivalue_dict(dict);
  if (status) {
    ivalue_release(*out);
    *out = IVALUE_NONE;
  }
  return status;
}

Status value_tuple_slice(const Tuple *t, int64_t begin, int64_t end, IValue *out) {
  int64_t n = t->length;
  begin = begin < 0 ? begin + n < 0 ? 0 : begin + n : begin > n ? n : begin;
  end = end < 0 ? end + n : end > n ? n : end;
  Tuple *slice;
  TRY(tuple_new((uint32_t)(end > begin ? end - begin : 0), NULL, &slice));
  for (int64_t i = begin; i < end; i++) slice->values[i - begin] = ivalue_retain(t->values[i]);
  *out = ivalue_tuple(slice);
  return OK;
}

Status value_enum_part(IValue v, bool name, IValue *out) {
  if (v.tag != TAG_ENUM) return status_new(ERROR_RUNTIME, "name or value of something that is not an enum");
  const EnumType *type = v.enum_value->type->enum_type;
  assert(v.enum_value->index < type->count);
  if (name) return ivalue_from_str(type->names[v.enum_value->index], out);
  *out = ivalue_retain(type->values[v.enum_value->index]);
  return OK;
}
