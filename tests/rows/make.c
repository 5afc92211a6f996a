/* Values made of samples. Tensors borrow memory of just their size, so that a sanitizer sees each byte beyond it. */
#include "sample.h"

#include <math.h>
#include <stdlib.h>

#include "call/call.h"
#include "ivalue/future.h"
#include "schema/schema.h"
#include "tensor/random.h"
#include "type/class_type.h"

static void free_data(void *context, void *data, size_t bytes) {
  (void)context;
  (void)bytes;
  free(data);
}

/* ---- strides ---- */

/* false: too large for an int64. */
static bool row_major(const Sample *s, int64_t *strides) {
  int64_t stride = 1;
  for (int d = s->ndim - 1; d >= 0; d--) {
    strides[d] = stride;
    if (s->sizes[d] > 1 && !int64_mul(stride, s->sizes[d], &stride)) return false;
  }
  return true;
}
static bool layout_strides(const Sample *s, int64_t *strides, int64_t *offset) {
  *offset = 0;
  if (s->layout == LAYOUT_EXPANDED || s->layout == LAYOUT_OVERLAPPING) {
    for (int d = 0; d < s->ndim; d++) strides[d] = s->layout == LAYOUT_OVERLAPPING;
    return true;
  }
  if (s->layout == LAYOUT_TRANSPOSED) {
    int64_t stride = 1;
    for (int d = 0; d < s->ndim; d++) {
      strides[d] = stride;
      if (s->sizes[d] > 1 && !int64_mul(stride, s->sizes[d], &stride)) return false;
    }
    return true;
  }
  if (!row_major(s, strides)) return false;
  if (s->layout == LAYOUT_CHANNELS_LAST && (s->ndim == 4 || s->ndim == 5))
    strides_channels_last(s->ndim, s->sizes, strides);
  if (s->layout == LAYOUT_EXPANDED_FIRST && s->ndim) strides[0] = 0;
  if (s->layout == LAYOUT_GAPS) {
    *offset = 1;
    for (int d = 0; d < s->ndim; d++)
      if (!int64_mul(strides[d], 2, &strides[d])) return false;
  }
  return true;
}
/* Elements that the memory must have; false: more than a test should take. */
static bool memory_extent(const Sample *s, const int64_t *strides, int64_t offset, int64_t *out) {
  int64_t extent = offset + 1;
  for (int d = 0; d < s->ndim; d++) {
    int64_t reach;
    if (s->sizes[d] == 0) return *out = 0, true;
    if (s->sizes[d] < 0 || !int64_mul(s->sizes[d] - 1, strides[d], &reach) || !int64_add(extent, reach, &extent))
      return false;
  }
  *out = extent;
  return extent <= 1 << 20;
}

/* ---- elements ---- */
static double element(const Sample *s, int64_t i, int64_t n) {
  bool whole = !dtype_is_floating(s->dtype) && !dtype_is_complex(s->dtype);
  int64_t columns = s->ndim ? s->sizes[s->ndim - 1] : 1;
  switch (s->fill) {
    case FILL_NUMBER:
      return (double)s->number;
    case FILL_DEFINITE: /* of square matrices */
      return columns && i / columns % columns == i % columns ? 4 : 0.5;
    case FILL_NAN:
      return whole ? 0 : NAN;
    case FILL_NEGATIVE:
      return -1 - (double)(i % 3);
    case FILL_ONE_WRONG:
      return i == n - 1 ? 1000 : 0;
    case FILL_COUNT:
      return (double)i;
    default:
      return whole ? 1 + (double)(i % 2) : 0.25 + 0.125 * (double)(i * 5 % 7);
  }
}
static void extreme(DType dtype, bool least, void *out) {
  static const int64_t bounds[][2] = {[DTYPE_UINT8] = {0, UINT8_MAX},
                                      [DTYPE_INT8] = {INT8_MIN, INT8_MAX},
                                      [DTYPE_INT16] = {INT16_MIN, INT16_MAX},
                                      [DTYPE_INT32] = {INT32_MIN, INT32_MAX},
                                      [DTYPE_INT64] = {INT64_MIN, INT64_MAX}};
  double infinite = least ? -INFINITY : INFINITY;
  if (dtype_is_integral(dtype))
    dtype_convert(dtype, out, 1, DTYPE_INT64, &bounds[dtype][!least], 1, 1);
  else
    dtype_convert(dtype, out, 1, DTYPE_FLOAT64, &infinite, 1, 1);
}
static void fill_memory(const Sample *s, char *data, int64_t n) {
  size_t item = dtype_size(s->dtype);
  Chance chance = {(uint64_t)n};
  for (int64_t i = 0; i < n; i++) {
    char *at = data + (size_t)i * item;
    double value = element(s, i, n);
    if (s->fill == FILL_LEAST || s->fill == FILL_GREATEST)
      extreme(s->dtype, s->fill == FILL_LEAST, at);
    else if (s->fill == FILL_NOISE && s->dtype != DTYPE_BOOL)
      for (size_t b = 0; b < item; b++) at[b] = (char)chance_next(&chance);
    else if (s->dtype == DTYPE_UINT8 && value < 0)
      *at = (char)255;
    else
      dtype_convert(s->dtype, at, 1, DTYPE_FLOAT64, &value, 1, 1);
  }
}

/* ---- tensors ---- */
static Tensor *strided_tensor(const Sample *s) {
  int64_t strides[SAMPLE_MAX_DIMS], offset, extent;
  Tensor *t = NULL;
  Storage *storage;
  if (!layout_strides(s, strides, &offset) || !memory_extent(s, strides, offset, &extent)) return NULL;
  size_t bytes = (size_t)extent * dtype_size(s->dtype);
  if (s->state == STATE_OWN) {
    check(storage_new(bytes, &storage));
  } else {
    check(storage_from_data(malloc(bytes), bytes, free_data, NULL, &storage));
    if (s->state == STATE_READ_ONLY) storage->flags |= STORAGE_READ_ONLY;
  }
  fill_memory(s, storage->data, extent);
  if (!extent) offset = 0;
  Status status = tensor_from_storage(storage, s->dtype, s->ndim, s->sizes, strides, offset, &t);
  status_free(status);
  storage_release(storage);
  return t;
}
static Tensor *meta_tensor(const Sample *s) {
  TensorSpec spec = {.dtype = s->dtype, .device = {DEVICE_META, -1}, .flags = TENSOR_META, .ndim = s->ndim};
  Tensor *t = NULL;
  memcpy(spec.sizes, s->sizes, sizeof s->sizes);
  status_free(tensor_new(&spec, &t));
  return t;
}
/* The first tensor's memory from its second element on, as far as it goes. */
static Tensor *shifted_view(const Tensor *first) {
  Tensor *t = NULL;
  if (!first->storage || first->numel < 2) return NULL;
  int64_t size = first->numel - 1, stride = 1;
  status_free(tensor_as_strided(first, 1, &size, &stride, first->offset + 1, &t));
  return t;
}
static Tensor *by_operator(OpRef *op, Tensor *t, IValue a, IValue b, IValue c, IValue d, uint32_t count) {
  Exec exec;
  IValue out = IVALUE_NONE, inputs[] = {ivalue_tensor(t), a, b, c, d};
  exec_init(&exec, NULL);
  status_free(op_call(&exec, op, count, inputs, 1, &out));
  for (uint32_t i = 0; i < count; i++) ivalue_release(inputs[i]);
  return out.tag == TAG_TENSOR ? out.tensor : NULL;
}
static Tensor *filled(DType dtype, int ndim, const int64_t *sizes, int64_t number) {
  Sample s = sample_tensor(dtype, ndim, sizes);
  s.fill = FILL_NUMBER;
  s.number = number;
  return strided_tensor(&s);
}
static Tensor *quantized_tensor(const Sample *s);
/* One element, repeated: a kernel that quantizes would write each. */
static Tensor *expanded_quantized(const Sample *s) {
  static OpRef expand = OP_REF("aten::expand", "");
  Sample one = *s;
  List *sizes;
  one.layout = LAYOUT_DENSE;
  for (int d = 0; d < s->ndim; d++) one.sizes[d] = 1;
  Tensor *t = quantized_tensor(&one);
  if (!t) return NULL;
  check(list_from_ints(s->sizes, (size_t)s->ndim, &sizes));
  return by_operator(&expand, t, ivalue_list(sizes), ivalue_bool(false), IVALUE_NONE, IVALUE_NONE, 3);
}
static Tensor *quantized_tensor(const Sample *s) {
  static OpRef whole = OP_REF("aten::quantize_per_tensor", ""), channels = OP_REF("aten::quantize_per_channel", "");
  if (s->layout == LAYOUT_EXPANDED) return expanded_quantized(s);
  Tensor *t = strided_tensor(s);
  if (!t) return NULL;
  if (s->state == STATE_QUANTIZED)
    return by_operator(&whole, t, ivalue_float(0.1), ivalue_int(2), ivalue_int(DTYPE_QUINT8), IVALUE_NONE, 4);
  if (!s->ndim || s->sizes[0] > 1000) return tensor_release(t), NULL;
  return by_operator(&channels, t, ivalue_tensor(filled(DTYPE_FLOAT64, 1, s->sizes, 1)),
                     ivalue_tensor(filled(DTYPE_INT64, 1, s->sizes, 2)), ivalue_int(0), ivalue_int(DTYPE_QUINT8), 5);
}
static Tensor *nested_tensor(const Sample *s) {
  static OpRef from_mask = OP_REF("aten::_nested_tensor_from_mask", "");
  if (s->ndim != 3) return NULL;
  Tensor *t = strided_tensor(s), *mask = t ? filled(DTYPE_BOOL, 2, s->sizes, 1) : NULL;
  if (!mask) return tensor_release(t), NULL;
  return by_operator(&from_mask, t, ivalue_tensor(mask), ivalue_bool(true), IVALUE_NONE, IVALUE_NONE, 3);
}
static Tensor *sparse_tensor(const Sample *s) {
  static OpRef coo = OP_REF("aten::to_sparse", ""), first = OP_REF("aten::to_sparse", "sparse_dim"),
               compressed = OP_REF("aten::to_sparse_csr", "");
  Tensor *t = strided_tensor(s);
  if (!t) return NULL;
  if (s->state == STATE_HYBRID) return by_operator(&first, t, ivalue_int(1), IVALUE_NONE, IVALUE_NONE, IVALUE_NONE, 2);
  return by_operator(s->state == STATE_SPARSE ? &coo : &compressed, t, IVALUE_NONE, IVALUE_NONE, IVALUE_NONE,
                     IVALUE_NONE, 1);
}
static bool is_sparse(const Sample *s) {
  return s->state == STATE_SPARSE || s->state == STATE_HYBRID || s->state == STATE_COMPRESSED;
}
static Tensor *make_tensor(const Sample *s, MadeCall *made) {
  if (s->state == STATE_UNDEFINED) return tensor_undefined();
  if (s->state == STATE_SAME) return made->first ? tensor_retain(made->first) : NULL;
  if (s->state == STATE_SHIFTED) return made->first ? shifted_view(made->first) : NULL;
  Tensor *t = s->state == STATE_META                                         ? meta_tensor(s)
              : s->state == STATE_QUANTIZED || s->state == STATE_PER_CHANNEL ? quantized_tensor(s)
              : s->state == STATE_NESTED                                     ? nested_tensor(s)
              : is_sparse(s)                                                 ? sparse_tensor(s)
                                                                             : strided_tensor(s);
  if (!t) return NULL;
  if (s->state == STATE_CONJUGATE && dtype_is_complex(s->dtype)) t->flags |= TENSOR_CONJ;
  if (s->state == STATE_NEGATED) t->flags |= TENSOR_NEG;
  if (s->state == STATE_WRAPPED && s->ndim == 0) t->flags |= TENSOR_WRAPPED_NUMBER;
  if (s->state == STATE_RECORDS && (dtype_is_floating(s->dtype) || dtype_is_complex(s->dtype)))
    t->flags |= TENSOR_REQUIRES_GRAD;
  if (!made->first) made->first = t;
  return t;
}

/* ---- containers ---- */
static bool make(const Sample *s, const Type *type, MadeCall *made, IValue *out);

static const Type *element_type(const Type *type, uint32_t i) {
  if (type->kind == TYPE_OPTIONAL) type = type->elements[0];
  return i < type->count ? type->elements[i] : TYPE(ANY);
}
/* What a list without a declared element type holds. */
static const Type *type_of(const Sample *s) {
  switch (s->kind) {
    case SAMPLE_INT:
      return TYPE(INT);
    case SAMPLE_FLOAT:
      return TYPE(FLOAT);
    case SAMPLE_BOOL:
      return TYPE(BOOL);
    case SAMPLE_COMPLEX:
      return TYPE(COMPLEX);
    case SAMPLE_TEXT:
      return TYPE(STRING);
    case SAMPLE_TENSOR:
      return TYPE(TENSOR);
    case SAMPLE_LIST:
      return s->count && s->items[0].kind == SAMPLE_FLOAT ? type_list_of(TYPE_FLOAT) : type_list_of(TYPE_INT);
    default:
      return TYPE(ANY);
  }
}
static bool make_list(const Sample *s, const Type *type, MadeCall *made, IValue *out) {
  const Type *element = element_type(type, 0);
  if (element->kind == TYPE_VAR || element->kind == TYPE_ANY) element = s->count ? type_of(&s->items[0]) : TYPE(INT);
  List *list;
  check(list_new(element, s->count, &list));
  *out = ivalue_list(list);
  for (size_t i = 0; i < s->count; i++) {
    IValue item;
    if (!make(&s->items[i], element, made, &item)) return ivalue_release(*out), false;
    check(list_append(list, item));
  }
  return true;
}
static bool make_tuple(const Sample *s, const Type *type, MadeCall *made, IValue *out) {
  Tuple *tuple;
  check(tuple_new((uint32_t)s->count, NULL, &tuple));
  *out = ivalue_tuple(tuple);
  for (uint32_t i = 0; i < s->count; i++) {
    IValue item;
    if (!make(&s->items[i], element_type(type, i), made, &item)) return ivalue_release(*out), false;
    tuple->values[i] = item;
  }
  return true;
}
static bool make_dict(const Sample *s, const Type *type, MadeCall *made, IValue *out) {
  const Type *key = element_type(type, 0), *value = element_type(type, 1);
  Dict *dict;
  if (value->kind == TYPE_VAR || value->kind == TYPE_ANY) value = s->count ? type_of(&s->items[1]) : TYPE(INT);
  check(dict_new(key, value, &dict));
  *out = ivalue_dict(dict);
  for (size_t i = 0; i + 1 < s->count; i += 2) {
    IValue k, v;
    if (!make(&s->items[i], key, made, &k)) return ivalue_release(*out), false;
    if (!make(&s->items[i + 1], value, made, &v)) return ivalue_release(k), ivalue_release(*out), false;
    status_free(dict_set(dict, k, v));
  }
  return true;
}
static void make_storage(IValue *out) {
  Storage *storage;
  check(storage_from_data(calloc(1, 64), 64, free_data, NULL, &storage));
  *out = (IValue){.tag = TAG_STORAGE, .storage = storage};
}
static void make_future(IValue *out) {
  Future *future;
  check(future_new(TYPE(INT), &future));
  future_complete(future, ivalue_int(3));
  *out = ivalue_future(future);
}

static void make_enum(IValue *out) {
  static const Type *type;
  static IValue values[2];
  static const Str names[] = {{"RED", 3}, {"BLUE", 4}};
  EnumValue *value;
  values[0] = ivalue_int(3);
  values[1] = ivalue_int(4);
  TypeStore *store = type_store_process();
  Catch here, *outer = store->arena.catch_point;
  store->arena.catch_point = &here;
  if (!type && catch_enter(&here)) type = &enum_type_new(store, STR("Color"), TYPE(INT), 2, names, values)->type;
  store->arena.catch_point = outer;
  check(enum_value_new(type, 1, &value));
  *out = (IValue){.tag = TAG_ENUM, .enum_value = value};
}

static bool make(const Sample *s, const Type *type, MadeCall *made, IValue *out) {
  *out = IVALUE_NONE;
  Device device;
  Generator *generator;
  switch (s->kind) {
    case SAMPLE_NONE:
      break;
    case SAMPLE_INT:
      *out = ivalue_int(s->number);
      break;
    case SAMPLE_FLOAT:
      *out = ivalue_float(s->real);
      break;
    case SAMPLE_BOOL:
      *out = ivalue_bool(s->number);
      break;
    case SAMPLE_COMPLEX:
      check(ivalue_from_complex(1 + s->real * 1.0i, out));
      break;
    case SAMPLE_TEXT:
      *out = text_value(s->text);
      break;
    case SAMPLE_DEVICE:
      check(device_parse(str_from(s->text), &device));
      *out = ivalue_device(device);
      break;
    case SAMPLE_GENERATOR:
      check(generator_new(1, &generator));
      *out = ivalue_generator(generator);
      break;
    case SAMPLE_STORAGE:
      make_storage(out);
      break;
    case SAMPLE_FUTURE:
      make_future(out);
      break;
    case SAMPLE_ENUM:
      make_enum(out);
      break;
    case SAMPLE_TENSOR: {
      Tensor *t = make_tensor(s, made);
      if (!t) return false;
      *out = ivalue_tensor(t);
      break;
    }
    case SAMPLE_LIST:
      return make_list(s, type, made, out);
    case SAMPLE_TUPLE:
      return make_tuple(s, type, made, out);
    case SAMPLE_DICT:
      return make_dict(s, type, made, out);
  }
  return true;
}

bool sample_make_call(const SampleCall *call, MadeCall *out) {
  const FunctionSchema *schema = operator_schema(call->op);
  *out = (MadeCall){.count = 0};
  for (uint32_t i = 0; i < call->count; i++, out->count++) {
    const Type *type = i < schema->argument_count ? schema->arguments[i].type : TYPE(ANY);
    if (make(&call->arguments[i], type, out, &out->inputs[i])) continue;
    made_call_release(out);
    return false;
  }
  return true;
}

void made_call_release(MadeCall *made) {
  for (uint32_t i = 0; i < made->count; i++) ivalue_release(made->inputs[i]);
  made->count = 0;
}
