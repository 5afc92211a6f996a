/* What the names of a pickle mean: tensors, typed lists, ordered dicts, complex numbers, classes of the archive. */
#include <assert.h>

#include "serial/pickle/pickle_globals.h"
#include "tensor/device_map.h"
#include "tensor/quantizer.h"
#include "tensor/sparse.h"
#include "type/class_type.h"

static Status malformed(const char *what) {
  return status_new(ERROR_DATA, "damaged pickle: malformed arguments of %s", what);
}

static void free_name(Capsule *capsule) {
  PickleName *name = (PickleName *)capsule;
  storage_release(name->storage);
  ivalue_release(name->text);
  mem_free(name);
}
Status pickle_name_new(PickleCallKind kind, PickleName **out) {
  PickleName *name = mem_calloc(1, sizeof *name);
  if (!name) return status_out_of_memory();
  ref_init(&name->base.refs);
  name->base.free = free_name;
  name->kind = (uint8_t)kind;
  *out = name;
  return OK;
}
static IValue wrap(PickleName *name) {
  return (IValue){.tag = TAG_CAPSULE, .capsule = &name->base};
}

/* ---- names ---- */

typedef struct GlobalRow {
  const char *module, *name;
  int value;
} GlobalRow;
static const GlobalRow call_rows[] = {
#define X(kind, module, global) {module, global, PICKLE_##kind},
    PICKLE_CALLS(X)
#undef X
};
static const GlobalRow int_rows[] = {
#define X(module, global, number) {module, global, number},
    PICKLE_INTS(X)
#undef X
#define X(layout, name) {"torch", name, LAYOUT_##layout},
        PICKLE_LAYOUTS(X)
#undef X
};
static const struct {
  const char *dtype_name, *storage_name;
  DType dtype;
} dtype_rows[] = {
#define X(name, number, type, bytes, text, storage) {text, storage, DTYPE_##name},
    DTYPES(X)
#undef X
};

static const GlobalRow *find_row(const GlobalRow *rows, size_t count, Str module, Str name) {
  for (size_t i = 0; i < count; i++)
    if (str_is(name, rows[i].name) && str_is(module, rows[i].module)) return &rows[i];
  return NULL;
}

static Status qualified_text(Str module, Str name, char **out) {
  StrBuf qualified = {0};
  strbuf_str(&qualified, module);
  strbuf_char(&qualified, '.');
  strbuf_str(&qualified, name);
  return strbuf_take(&qualified, out);
}

static Status foreign_name(Str module, Str name, IValue *out) {
  PickleName *result;
  char *text;
  TRY(qualified_text(module, name, &text));
  Status status = pickle_name_new(PICKLE_FOREIGN, &result);
  if (!status) {
    status = ivalue_from_str(str_from(text), &result->text);
    *out = wrap(result);
    if (status) {
      result->text = IVALUE_NONE;
      ivalue_release(*out);
    }
  }
  mem_free(text);
  return status;
}

static Status find_torch_class(PickleReader *r, Str module, Str name, IValue *out) {
  if (r->host->keeps_foreign) return foreign_name(module, name, out);
  if (!r->host->resolve_class)
    return status_new(ERROR_DATA,
                      "the pickle names the class " STR_FMT "." STR_FMT ", which only a TorchScript archive defines",
                      STR_ARG(module), STR_ARG(name));
  char *text;
  TRY(qualified_text(module, name, &text));
  const Type *type = NULL;
  Status status = r->host->resolve_class(r->host->context, str_from(text), &type);
  mem_free(text);
  if (status) return status;
  PickleName *result;
  TRY(pickle_name_new(PICKLE_TORCH_CLASS, &result));
  result->type = type;
  *out = wrap(result);
  return OK;
}

Status pickle_find_global(PickleReader *r, Str module, Str name, IValue *out) {
  if (str_is(module, "__torch__") || str_starts_with(module, "__torch__."))
    return find_torch_class(r, module, name, out);
  const GlobalRow *row = find_row(int_rows, sizeof int_rows / sizeof *int_rows, module, name);
  if (row) {
    *out = ivalue_int(row->value);
    return OK;
  }
  PickleName *result = NULL;
  row = find_row(call_rows, sizeof call_rows / sizeof *call_rows, module, name);
  if (row) TRY(pickle_name_new((PickleCallKind)row->value, &result));
  if (!row && (str_is(module, "torch") || str_is(module, "torch.storage"))) {
    bool untyped = str_is(name, "UntypedStorage") || str_is(name, "_UntypedStorage");
    for (size_t i = 0; i < sizeof dtype_rows / sizeof *dtype_rows; i++) {
      if (str_is(name, dtype_rows[i].dtype_name)) {
        *out = ivalue_int(dtype_rows[i].dtype);
        return OK;
      }
      if (!str_is(name, dtype_rows[i].storage_name) && !(untyped && dtype_rows[i].dtype == DTYPE_UINT8)) continue;
      TRY(pickle_name_new(PICKLE_STORAGE_CLASS, &result));
      result->dtype = (uint8_t)dtype_rows[i].dtype;
      break;
    }
  }
  if (!result && r->host->keeps_foreign) return foreign_name(module, name, out);
  if (!result)
    return status_new(ERROR_DATA,
                      "the pickle names " STR_FMT "." STR_FMT ", which is not among the names that stand for data",
                      STR_ARG(str_slice(module, 0, module.length > 200 ? 200 : module.length)),
                      STR_ARG(str_slice(name, 0, name.length > 200 ? 200 : name.length)));
  *out = wrap(result);
  return OK;
}

/* ---- tensors ---- */

static Status sizes_of(IValue v, int *out_count, int64_t *out) {
  size_t count = v.tag == TAG_TUPLE ? v.tuple->length : v.tag == TAG_LIST ? v.list->length : SIZE_MAX;
  if (count > TENSOR_MAX_DIMS)
    return count == SIZE_MAX ? malformed("a tensor")
                             : status_new(ERROR_UNSUPPORTED, "a tensor of %zu dimensions", count);
  for (size_t i = 0; i < count; i++) {
    IValue item = v.tag == TAG_TUPLE            ? v.tuple->values[i]
                  : v.list->kind == LIST_INTS   ? ivalue_int(v.list->ints[i])
                  : v.list->kind == LIST_VALUES ? v.list->values[i]
                                                : IVALUE_NONE;
    if (item.tag != TAG_INT) return malformed("a tensor");
    out[i] = item.i;
  }
  *out_count = (int)count;
  return OK;
}

static Status new_meta(DType dtype, int ndim, const int64_t *sizes, const int64_t *strides, Tensor **out) {
  TensorSpec spec = {.dtype = dtype, .device = {DEVICE_META, -1}, .ndim = ndim, .has_strides = true};
  memcpy(spec.sizes, sizes, (size_t)ndim * sizeof *sizes);
  memcpy(spec.strides, strides, (size_t)ndim * sizeof *strides);
  return tensor_new(&spec, out);
}

/* `offset` is in elements of the part. */
static Status view_storage(const PickleName *storage, DType dtype, int64_t offset, int ndim, const int64_t *sizes,
                           const int64_t *strides, Tensor **out) {
  TRY(tensor_check_extent(storage->bytes, dtype, ndim, sizes, strides, offset));
  if (!storage->storage) return new_meta(dtype, ndim, sizes, strides, out);
  return tensor_from_storage(storage->storage, dtype, ndim, sizes, strides,
                             offset + (int64_t)(storage->offset / dtype_size(dtype)), out);
}

static Status sizes_and_strides(IValue size, IValue stride, int *out_ndim, int64_t *out_sizes, int64_t *out_strides) {
  int stride_count;
  TRY(sizes_of(size, out_ndim, out_sizes));
  TRY(sizes_of(stride, &stride_count, out_strides));
  return *out_ndim == stride_count ? OK : malformed("a tensor");
}

/* (storage, offset, size, stride[, requires_grad, ...]) as `dtype`; a storage's bytes bound what sizes and strides may
 * reach. */
static Status rebuild_tensor_as(const Tuple *a, DType dtype, IValue *out) {
  PickleName *storage = a->length >= 4 ? pickle_name(a->values[0]) : NULL;
  if (!storage || storage->kind != PICKLE_OPAQUE || a->values[1].tag != TAG_INT) return malformed("a tensor");
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  int ndim;
  TRY(sizes_and_strides(a->values[2], a->values[3], &ndim, sizes, strides));
  if (dtype == DTYPE_NONE) dtype = (DType)storage->dtype;
  if (dtype_is_quantized(dtype))
    return status_new(ERROR_UNSUPPORTED, "tensors of dtype %s without quantizer", dtype_name(dtype));
  Tensor *tensor;
  TRY(view_storage(storage, dtype, a->values[1].i, ndim, sizes, strides, &tensor));
  if (a->length >= 5 && a->values[4].tag == TAG_BOOL && a->values[4].b) tensor->flags |= TENSOR_REQUIRES_GRAD;
  *out = ivalue_tensor(tensor);
  return OK;
}
static Status rebuild_tensor(const Tuple *a, IValue *out) {
  return rebuild_tensor_as(a, DTYPE_NONE, out);
}

/* (storage of bytes, offset, size, stride, requires_grad, hooks, dtype[, metadata]) */
static Status rebuild_tensor_of_bytes(const Tuple *a, IValue *out) {
  if (a->length < 7 || a->values[6].tag != TAG_INT || !dtype_is_valid(a->values[6].i)) return malformed("a tensor");
  return rebuild_tensor_as(a, (DType)a->values[6].i, out);
}

/* (dtype, size, stride, requires_grad) */
static Status rebuild_meta(const Tuple *a, IValue *out) {
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  int ndim;
  if (a->length < 4 || a->values[0].tag != TAG_INT || !dtype_is_valid(a->values[0].i) || a->values[3].tag != TAG_BOOL)
    return malformed("a meta tensor");
  DType dtype = (DType)a->values[0].i;
  if (dtype_is_quantized(dtype)) return status_new(ERROR_UNSUPPORTED, "quantized meta tensors");
  TRY(sizes_and_strides(a->values[1], a->values[2], &ndim, sizes, strides));
  TRY(tensor_check_extent(SIZE_MAX, dtype, ndim, sizes, strides, 0));
  Tensor *tensor;
  TRY(new_meta(dtype, ndim, sizes, strides, &tensor));
  if (a->values[3].b) tensor->flags |= TENSOR_REQUIRES_GRAD;
  *out = ivalue_tensor(tensor);
  return OK;
}

/* (scheme, scale, zero_point) or (scheme, scales, zero_points, axis) */
static Status read_quantizer(IValue parameters, Quantizer **out) {
  const Tuple *p = parameters.tag == TAG_TUPLE ? parameters.tuple : NULL;
  if (!p || p->length < 3 || p->values[0].tag != TAG_INT) return malformed("a quantized tensor");
  const IValue *v = p->values;
  switch (v[0].i) {
    case QSCHEME_PER_TENSOR_AFFINE:
      if (v[1].tag != TAG_FLOAT || v[2].tag != TAG_INT) return malformed("a quantized tensor");
      return quantizer_new_per_tensor(v[1].f, v[2].i, out);
    case QSCHEME_PER_CHANNEL_AFFINE:
    case QSCHEME_PER_CHANNEL_AFFINE_FLOAT_QPARAMS:
      if (p->length < 4 || v[1].tag != TAG_TENSOR || v[2].tag != TAG_TENSOR || v[3].tag != TAG_INT)
        return malformed("a quantized tensor");
      return quantizer_new_per_channel(v[1].tensor, v[2].tensor, v[3].i, out);
    default:
      return status_new(ERROR_UNSUPPORTED, "tensors of the quantization scheme %s", qscheme_name(v[0].i));
  }
}

/* Less than a byte: row-major, in a storage of its own that has a byte for each element. */
static Status rebuild_packed_bits(const PickleName *storage, DType dtype, int ndim, const int64_t *sizes,
                                  Tensor **out) {
  assert(dtype_elements_per_byte(dtype) > 1);
  int each = dtype_elements_per_byte(dtype);
  int64_t numel, columns = ndim ? sizes[ndim - 1] : 1;
  TRY(sizes_numel(ndim, sizes, &numel));
  int64_t bytes = columns ? numel / columns * ((columns + each - 1) / each) : 0;
  if ((size_t)bytes > storage->bytes) return malformed("a quantized tensor");
  TRY(tensor_empty(dtype, ndim, sizes, out));
  memset(tensor_data(*out), 0, (size_t)numel);
  if (bytes) memcpy(tensor_data(*out), (const char *)storage->storage->data + storage->offset, (size_t)bytes);
  return OK;
}

/* (storage, offset, size, stride, quantizer, requires_grad, hooks) */
static Status rebuild_quantized(const Tuple *a, IValue *out) {
  PickleName *storage = a->length >= 5 ? pickle_name(a->values[0]) : NULL;
  if (!storage || storage->kind != PICKLE_OPAQUE || a->values[1].tag != TAG_INT ||
      !dtype_is_quantized((DType)storage->dtype))
    return malformed("a quantized tensor");
  if (!storage->storage) return status_new(ERROR_UNSUPPORTED, "quantized meta tensors");
  DType dtype = (DType)storage->dtype;
  int64_t sizes[TENSOR_MAX_DIMS], strides[TENSOR_MAX_DIMS];
  int ndim;
  Quantizer *quantizer;
  Tensor *tensor = NULL;
  TRY(sizes_and_strides(a->values[2], a->values[3], &ndim, sizes, strides));
  TRY(read_quantizer(a->values[4], &quantizer));
  Status status = quantizer_check_fits(quantizer, dtype, ndim, sizes);
  if (!status && dtype_elements_per_byte(dtype) > 1 && a->values[1].i) status = malformed("a quantized tensor");
  if (!status)
    status = dtype_elements_per_byte(dtype) > 1
                 ? rebuild_packed_bits(storage, dtype, ndim, sizes, &tensor)
                 : view_storage(storage, (DType)storage->dtype, a->values[1].i, ndim, sizes, strides, &tensor);
  if (status) {
    quantizer_release(quantizer);
    return status;
  }
  tensor_set_quantizer(tensor, quantizer);
  *out = ivalue_tensor(tensor);
  return OK;
}

/* (layout, size, requires_grad, indices or (begins, indices), values, hooks) as programs are saved, and (layout,
 * (indices or (begins, indices), values, size[, is_coalesced])) as torch.save has it. Whether indices are in order is
 * not believed. */
static Status rebuild_sparse(const Tuple *a, IValue *out) {
  bool nested = a->length == 2 && a->values[1].tag == TAG_TUPLE;
  const Tuple *p = nested ? a->values[1].tuple : a;
  if (a->length < 2 || a->values[0].tag != TAG_INT) return malformed("a sparse tensor");
  int64_t layout = a->values[0].i, sizes[TENSOR_MAX_DIMS];
  if (layout != LAYOUT_SPARSE_COO && layout != LAYOUT_SPARSE_CSR && layout != LAYOUT_SPARSE_CSC)
    return status_new(ERROR_UNSUPPORTED, "sparse tensors of layout %lld in pickles", (long long)layout);
  size_t parts = layout == LAYOUT_SPARSE_COO ? 2 : 3, first = nested ? 0 : 3, size_at = nested ? parts : 1;
  int ndim;
  if (p->length < first + parts + (nested ? 1 : 0)) return malformed("a sparse tensor");
  const IValue *v = p->values + first;
  for (size_t i = 0; i < parts; i++)
    if (v[i].tag != TAG_TENSOR || !tensor_is_defined(v[i].tensor)) return malformed("a sparse tensor");
  TRY(sizes_of(p->values[size_at], &ndim, sizes));
  Tensor *tensor;
  if (parts == 2)
    TRY(tensor_new_coo(ndim, sizes, v[0].tensor, v[1].tensor, false, &tensor));
  else
    TRY(tensor_new_compressed((Layout)layout, ndim, sizes, v[0].tensor, v[1].tensor, v[2].tensor, &tensor));
  if (!nested && a->values[2].tag == TAG_BOOL && a->values[2].b) tensor->flags |= TENSOR_REQUIRES_GRAD;
  *out = ivalue_tensor(tensor);
  return OK;
}

/* "torch.sparse_coo" */
static Status build_layout(const Tuple *a, IValue *out) {
  static const struct {
    const char *name;
    Layout layout;
  } layouts[] = {
#define X(layout, name) {"torch." name, LAYOUT_##layout},
      PICKLE_LAYOUTS(X)
#undef X
  };
  if (a->length != 1 || a->values[0].tag != TAG_STRING) return malformed("a layout");
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
    if (str_is(ivalue_str(a->values[0]), layouts[i].name)) return *out = ivalue_int(layouts[i].layout), OK;
  return status_new(ERROR_UNSUPPORTED, "layout " STR_FMT " in a pickle", STR_ARG(ivalue_str(a->values[0])));
}

/* (tensor, requires_grad, hooks) and, of those with attributes of Python's, these */
static Status rebuild_parameter(const Tuple *a, IValue *out) {
  if (a->length < 2 || a->values[0].tag != TAG_TENSOR || a->values[1].tag != TAG_BOOL) return malformed("a parameter");
  Tensor *tensor;
  TRY(tensor_alias(a->values[0].tensor, &tensor));
  if (a->values[1].b) tensor->flags |= TENSOR_REQUIRES_GRAD;
  *out = ivalue_tensor(tensor);
  return OK;
}

/* (view key, offset, length in elements): what PyTorch wrote before 0.4 of a storage that was a part of another. */
static Status find_part(PickleName *storage, IValue part) {
  const Tuple *t = part.tag == TAG_TUPLE && part.tuple->length == 3 ? part.tuple : NULL;
  size_t offset, bytes, each = dtype_size((DType)storage->dtype);
  if (!t || t->values[1].tag != TAG_INT || t->values[2].tag != TAG_INT || t->values[1].i < 0 || t->values[2].i < 0 ||
      !size_mul((size_t)t->values[1].i, each, &offset) || !size_mul((size_t)t->values[2].i, each, &bytes) ||
      offset > storage->bytes || bytes > storage->bytes - offset)
    return malformed("a storage");
  storage->offset = offset;
  storage->bytes = bytes;
  return OK;
}

Status pickle_load_storage(PickleReader *r, IValue id, IValue *out) {
  const Tuple *t = id.tag == TAG_TUPLE ? id.tuple : NULL;
  if (r->host->keeps_foreign && t && t->length >= 2 && t->values[0].tag == TAG_STRING &&
      str_is(ivalue_str(t->values[0]), "module")) { /* a class, with its source after it */
    *out = ivalue_retain(t->values[1]);
    return OK;
  }
  PickleName *class_name = t && t->length >= 5 ? pickle_name(t->values[1]) : NULL;
  if (!class_name || class_name->kind != PICKLE_STORAGE_CLASS || t->values[0].tag != TAG_STRING ||
      !str_is(ivalue_str(t->values[0]), "storage") || t->values[2].tag != TAG_STRING ||
      t->values[3].tag != TAG_STRING || t->values[4].tag != TAG_INT)
    return malformed("a storage");
  size_t bytes;
  if (t->values[4].i < 0 || !size_mul((size_t)t->values[4].i, dtype_size((DType)class_name->dtype), &bytes))
    return malformed("a storage");
  if (!r->host->load_storage) return status_new(ERROR_DATA, "the pickle holds a tensor where there can be none");
  Storage *storage;
  TRY(r->host->load_storage(r->host->context, ivalue_str(t->values[2]), ivalue_str(t->values[3]),
                            (DType)class_name->dtype, bytes, &storage));
  PickleName *name;
  Status status = pickle_name_new(PICKLE_OPAQUE, &name);
  if (status) {
    storage_release(storage);
    return status;
  }
  name->storage = storage;
  name->dtype = class_name->dtype;
  name->bytes = bytes;
  if (t->length > 5 && !ivalue_is_none(t->values[5])) status = find_part(name, t->values[5]);
  *out = wrap(name);
  if (status) ivalue_release(*out);
  return status;
}

/* ---- containers ---- */

/* ([items]) -> a copy with the element type. */
static Status build_list(PickleReader *r, const Tuple *a, TypeKind element, IValue *out) {
  if (a->length < 1 || a->values[0].tag != TAG_LIST) return malformed("a typed list");
  const List *from = a->values[0].list;
  if (from->length > r->copies_left)
    return status_new(ERROR_DATA, "the pickle's lists grow beyond what its length allows");
  r->copies_left -= from->length;
  List *list;
  TRY(list_new(type_simple(element), from->length, &list));
  Status status = OK;
  for (size_t i = 0; i < from->length && !status; i++) {
    IValue item = list_get(from, i);
    bool fits = element == TYPE_TENSOR ? item.tag == TAG_TENSOR
                : element == TYPE_INT  ? item.tag == TAG_INT
                : element == TYPE_BOOL ? item.tag == TAG_BOOL
                                       : item.tag == TAG_FLOAT;
    if (element == TYPE_TENSOR && item.tag == TAG_INT && r->host->load_tensor) {
      Tensor *tensor;
      status = r->host->load_tensor(r->host->context, item.i, &tensor);
      if (!status) item = ivalue_tensor(tensor), fits = true;
    }
    if (!status && !fits) status = malformed("a typed list");
    if (status) {
      ivalue_release(item);
    } else {
      status = list_append(list, item);
    }
  }
  *out = ivalue_list(list);
  if (status) ivalue_release(*out);
  return status;
}

/* () or ([(key, value), ...]) */
static Status build_ordered_dict(PickleReader *r, const Tuple *a, IValue *out) {
  Dict *dict;
  TRY(dict_new(TYPE(ANY), TYPE(ANY), &dict));
  Status status = OK;
  if (a->length) {
    IValue pairs = a->values[0];
    if (pairs.tag != TAG_LIST || pairs.list->kind != LIST_VALUES) status = malformed("an OrderedDict");
    for (size_t i = 0; !status && i < pairs.list->length; i++) {
      IValue pair = pairs.list->values[i], key, value;
      bool is_tuple = pair.tag == TAG_TUPLE && pair.tuple->length == 2;
      bool is_list = pair.tag == TAG_LIST && pair.list->kind == LIST_VALUES && pair.list->length == 2;
      if (!is_tuple && !is_list) {
        status = malformed("an OrderedDict");
        break;
      }
      if (!r->copies_left--) {
        r->copies_left = 0;
        status = status_new(ERROR_DATA, "the pickle's dicts grow beyond what its length allows");
        break;
      }
      key = is_tuple ? pair.tuple->values[0] : pair.list->values[0];
      value = is_tuple ? pair.tuple->values[1] : pair.list->values[1];
      status = dict_set(dict, ivalue_retain(key), ivalue_retain(value));
    }
  }
  *out = ivalue_dict(dict);
  if (status) ivalue_release(*out);
  return status;
}

/* (value, annotation) */
static Status restore_type(PickleReader *r, const Tuple *a, IValue *out) {
  if (a->length < 2 || a->values[1].tag != TAG_STRING) return malformed("restore_type_tag");
  *out = ivalue_retain(a->values[0]);
  if (!r->host->parse_type) return OK;
  const Type *type;
  Status status = r->host->parse_type(r->host->context, ivalue_str(a->values[1]), &type);
  if (!status) status = ivalue_restore_type(out, type, "a tagged value of the pickle");
  if (status) ivalue_release(*out);
  return status;
}

/* ---- classes of the archive ---- */

/* An enum's member by its value, or a named tuple of the arguments. */
static Status call_torch_class(const Type *type, IValue arguments, IValue *out) {
  if (type->kind == TYPE_ENUM) {
    IValue value = arguments.tag == TAG_TUPLE && arguments.tuple->length == 1 ? arguments.tuple->values[0] : arguments;
    const EnumType *e = type->enum_type;
    for (uint32_t i = 0; i < e->count; i++) {
      bool equal = false;
      if (e->values[i].tag == value.tag) TRY(ivalue_equal(e->values[i], value, &equal, NULL));
      if (!equal) continue;
      EnumValue *member;
      TRY(enum_value_new(type, i, &member));
      *out = (IValue){.tag = TAG_ENUM, .enum_value = member};
      return OK;
    }
    return status_new(ERROR_DATA, "the pickle gives enum " STR_FMT " a value it does not have", STR_ARG(type->name));
  }
  if (type->kind == TYPE_TUPLE && arguments.tag == TAG_TUPLE) {
    *out = ivalue_retain(arguments);
    Status status = ivalue_restore_type(out, type, "a named tuple of the pickle");
    if (status) ivalue_release(*out);
    return status;
  }
  return status_new(ERROR_DATA, "the pickle calls " STR_FMT ", which can't be called", STR_ARG(type->name));
}

/* ---- what nobody knows ---- */

static Status put_foreign(Dict *dict, const char *name, IValue value) {
  IValue key;
  TRY(ivalue_from_str(str_from(name), &key));
  return dict_set(dict, key, ivalue_retain(value));
}
static Status is_foreign(IValue value, bool *out) {
  IValue key;
  *out = false;
  if (value.tag != TAG_DICT) return OK;
  TRY(ivalue_from_str(STR(PICKLE_FOREIGN_CLASS), &key));
  Status status = dict_get(value.dict, key, NULL, out);
  ivalue_release(key);
  return status;
}
static Status call_foreign(const PickleName *name, IValue arguments, IValue *out) {
  Dict *dict;
  TRY(dict_new(TYPE(ANY), TYPE(ANY), &dict));
  Status status = put_foreign(dict, PICKLE_FOREIGN_CLASS, name->text);
  if (!status) status = put_foreign(dict, PICKLE_FOREIGN_ARGUMENTS, arguments);
  *out = ivalue_dict(dict);
  if (status) ivalue_release(*out);
  return status;
}

Status pickle_build(PickleReader *r, IValue target, IValue state, IValue *out) {
  PickleName *name = pickle_name(target);
  if (name && name->kind == PICKLE_NEW_OBJECT) {
    if (!r->host->make_object) return malformed("an object");
    return r->host->make_object(r->host->context, name->type->class_type, state, out);
  }
  if (r->host->keeps_foreign) {
    bool foreign;
    TRY(is_foreign(target, &foreign));
    if (foreign) TRY(put_foreign(target.dict, PICKLE_FOREIGN_STATE, state));
    *out = ivalue_retain(target);
    return OK;
  }
  /* Python gives an OrderedDict attributes (`_metadata` of a state dict) that are no part of the data. */
  if (target.tag != TAG_DICT) return status_new(ERROR_DATA, "the pickle sets the state of what has none");
  *out = ivalue_retain(target);
  return OK;
}

static Status build_complex(const Tuple *a, IValue *out) {
  if (a->length != 2 || !ivalue_is_number(a->values[0]) || !ivalue_is_number(a->values[1]) ||
      a->values[0].tag == TAG_COMPLEX || a->values[1].tag == TAG_COMPLEX)
    return malformed("complex");
  return ivalue_from_complex(__builtin_complex(ivalue_to_double(a->values[0]), ivalue_to_double(a->values[1])), out);
}

static Status build_device(const PickleReader *r, const Tuple *a, IValue *out) {
  if (a->length < 1 || a->values[0].tag != TAG_STRING) return malformed("torch.device");
  Device device;
  TRY(device_parse(ivalue_str(a->values[0]), &device));
  if (a->length > 1 && a->values[1].tag == TAG_INT) device.index = (int16_t)a->values[1].i;
  *out = ivalue_device(device_map_apply(r->host->device_map, device));
  return OK;
}

Status pickle_call(PickleReader *r, IValue callable, IValue arguments, IValue *out) {
  PickleName *name = pickle_name(callable);
  if (!name) return status_new(ERROR_DATA, "the pickle calls what can't be called");
  if (name->kind == PICKLE_FOREIGN) return call_foreign(name, arguments, out);
  if (name->kind == PICKLE_TORCH_CLASS) return call_torch_class(name->type, arguments, out);
  if (arguments.tag != TAG_TUPLE) return malformed("a call");
  const Tuple *a = arguments.tuple;
  switch (name->kind) {
    case PICKLE_REBUILD_TENSOR:
    case PICKLE_REBUILD_TENSOR_V2:
      return rebuild_tensor(a, out);
    case PICKLE_REBUILD_TENSOR_V3:
      return rebuild_tensor_of_bytes(a, out);
    case PICKLE_REBUILD_META:
      return rebuild_meta(a, out);
    case PICKLE_REBUILD_PARAMETER:
    case PICKLE_REBUILD_PARAMETER_STATE:
      return rebuild_parameter(a, out);
    case PICKLE_REBUILD_QTENSOR:
      return rebuild_quantized(a, out);
    case PICKLE_REBUILD_SPARSE:
    case PICKLE_REBUILD_COMPRESSED:
      return rebuild_sparse(a, out);
    case PICKLE_GET_LAYOUT:
      return build_layout(a, out);
    case PICKLE_REBUILD_FROM_TYPE: /* (function, type, arguments, state) */
      if (a->length < 3 || !pickle_name(a->values[0]) || pickle_name(a->values[0])->kind == PICKLE_REBUILD_FROM_TYPE)
        return malformed("a tensor");
      return pickle_call(r, a->values[0], a->values[2], out);
    case PICKLE_ORDERED_DICT:
      return build_ordered_dict(r, a, out);
    case PICKLE_BUILD_INTS:
      return build_list(r, a, TYPE_INT, out);
    case PICKLE_BUILD_DOUBLES:
      return build_list(r, a, TYPE_FLOAT, out);
    case PICKLE_BUILD_BOOLS:
      return build_list(r, a, TYPE_BOOL, out);
    case PICKLE_BUILD_TENSORS:
      return build_list(r, a, TYPE_TENSOR, out);
    case PICKLE_BUILD_FROM_ID: {
      if (a->length < 1 || a->values[0].tag != TAG_INT || !r->host->load_tensor) return malformed("a tensor's number");
      Tensor *tensor;
      TRY(r->host->load_tensor(r->host->context, a->values[0].i, &tensor));
      *out = ivalue_tensor(tensor);
      return OK;
    }
    case PICKLE_RESTORE_TYPE:
      return restore_type(r, a, out);
    case PICKLE_COMPLEX:
    case PICKLE_COMPLEX_2:
      return build_complex(a, out);
    case PICKLE_DEVICE:
      return build_device(r, a, out);
    case PICKLE_SIZE: /* a tuple of its own already */
      *out = a->length ? ivalue_retain(a->values[0]) : ivalue_retain(arguments);
      return OK;
    case PICKLE_ENCODE: /* bytes under protocol 2: (text, "latin1") */
      if (a->length < 1 || a->values[0].tag != TAG_STRING) return malformed("bytes");
      *out = ivalue_retain(a->values[0]);
      return OK;
    default:
      return status_new(ERROR_DATA, "the pickle calls what can't be called");
  }
}
