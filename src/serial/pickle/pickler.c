/* Pickling, recursive along the values, with the memo that keeps shared things shared. */
#include "serial/pickle/pickler.h"

#include <assert.h>
#include <stdio.h>

#include "base/stack.h"
#include "interp/interp.h"
#include "serial/pickle/pickle_globals.h"
#include "serial/pickle/pickle_ops.h"
#include "tensor/quantizer.h"
#include "tensor/sparse.h"

#define X(name, number, type, bytes, text, storage) [number] = storage,
_Static_assert(sizeof(Storage) >= DTYPE_COUNT, "addresses within a storage tell dtypes apart");
static const char *const storage_classes[] = {DTYPES(X)};
#undef X

void pickler_init(Pickler *pickler, Exec *exec) {
  *pickler = (Pickler){.exec = exec};
  ptrmap_init(&pickler->memo, NULL);
  ptrmap_init(&pickler->storage_index, NULL);
  map_init(&pickler->names, NULL);
}
void pickler_dispose(Pickler *pickler) {
  strbuf_dispose(&pickler->out);
  ptrmap_dispose(&pickler->memo);
  ptrmap_dispose(&pickler->storage_index);
  map_dispose(&pickler->names);
  for (size_t i = 0; i < pickler->storages.length; i++) storage_release(pickler->storages.data[i]);
  vec_dispose(&pickler->storages);
  for (size_t i = 0; i < pickler->held.length; i++) ivalue_release(pickler->held.data[i]);
  vec_dispose(&pickler->held);
}

void pickle_int(StrBuf *out, int64_t value) {
  if (value >= 0 && value < 256) {
    pickle_op(out, BININT1);
    pickle_number(out, (uint64_t)value, 1);
  } else if (value >= 0 && value < 65536) {
    pickle_op(out, BININT2);
    pickle_number(out, (uint64_t)value, 2);
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    pickle_op(out, BININT);
    pickle_number(out, (uint64_t)value, 4);
  } else {
    pickle_op(out, LONG1);
    pickle_op(out, 8);
    pickle_number(out, (uint64_t)value, 8);
  }
}
void pickle_text(StrBuf *out, Str text) {
  pickle_op(out, BINUNICODE);
  pickle_number(out, text.length, 4);
  strbuf_str(out, text);
}
void pickle_global(StrBuf *out, Str module, Str name) {
  pickle_op(out, GLOBAL);
  strbuf_printf(out, STR_FMT "\n" STR_FMT "\n", STR_ARG(module), STR_ARG(name));
}
void pickle_get(StrBuf *out, uint32_t number) {
  pickle_op(out, number < 256 ? BINGET : LONG_BINGET);
  pickle_number(out, number, number < 256 ? 1 : 4);
}
void pickle_put(StrBuf *out, uint32_t number) {
  pickle_op(out, number < 256 ? BINPUT : LONG_BINPUT);
  pickle_number(out, number, number < 256 ? 1 : 4);
}

static void put_op(Pickler *p, unsigned char op) {
  pickle_op(&p->out, op);
}
static void put_int(Pickler *p, int64_t value) {
  pickle_int(&p->out, value);
}
static void put_text(Pickler *p, Str text) {
  pickle_text(&p->out, text);
}
static void put_global(Pickler *p, Str module, Str name) {
  pickle_global(&p->out, module, name);
}

/* ---- memo ---- */
static void put_get(Pickler *p, uintptr_t number) {
  pickle_get(&p->out, (uint32_t)number);
}
static uint32_t put_put(Pickler *p) {
  assert(p->count < UINT32_MAX);
  pickle_put(&p->out, p->count);
  return p->count++;
}
/* Text that outlives the pickler. */
static Status put_string(Pickler *p, Str text) {
  uintptr_t known = (uintptr_t)map_get(&p->names, text);
  if (text.length > UINT32_MAX) return status_new(ERROR_UNSUPPORTED, "a string is too long to be saved");
  if (known) {
    put_get(p, known - 1);
    return OK;
  }
  put_text(p, text);
  return map_put(&p->names, text, (void *)((uintptr_t)put_put(p) + 1)) ? OK : status_out_of_memory();
}

static void put_class(Pickler *p, const Type *type) {
  assert(type->name.length);
  ptrdiff_t dot = str_rfind_char(type->name, '.');
  if (p->depend) p->depend(p->context, type);
  put_global(p, dot < 0 ? STR("__torch__") : str_slice(type->name, 0, (size_t)dot),
             str_slice(type->name, (size_t)(dot + 1), type->name.length));
}

/* ---- values ---- */

static Status put_value(Pickler *p, IValue v);

static void put_double(Pickler *p, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  put_op(p, BINFLOAT);
  for (int i = 56; i >= 0; i -= 8) put_op(p, (unsigned char)(bits >> i));
}
static void put_ints(Pickler *p, int count, const int64_t *values) {
  assert(count >= 0);
  put_op(p, MARK);
  for (int i = 0; i < count; i++) put_int(p, values[i]);
  put_op(p, TUPLE);
}

/* `as_bytes`: of no dtype, which torch.save writes beside the tensor. */
static void put_new_storage(Pickler *p, DType dtype, bool as_bytes, size_t index, const char *location, int64_t numel) {
  char key[24];
  size_t each = as_bytes ? dtype_size(dtype) : 1;
  snprintf(key, sizeof key, "%zu", index);
  put_op(p, MARK);
  put_text(p, STR("storage"));
  if (as_bytes)
    put_global(p, STR("torch.storage"), STR("UntypedStorage"));
  else
    put_global(p, STR("torch"), str_from(storage_classes[dtype]));
  put_text(p, str_from(key));
  put_text(p, str_from(location));
  put_int(p, numel * (int64_t)each);
  put_op(p, TUPLE);
  put_op(p, BINPERSID);
}

/* Python has no class of storages for the dtypes of 2.x. */
static bool is_of_bytes(const Pickler *p, const Tensor *t) {
  return p->is_eager && t->flags & TENSOR_LIMITED;
}

/* The storage as this dtype: PyTorch shares what comes by the same reference, not what has the same key. */
static Status put_storage(Pickler *p, const Tensor *t) {
  const void *as_dtype = (const char *)t->storage + t->dtype;
  uintptr_t known = (uintptr_t)ptrmap_get(&p->memo, as_dtype),
            index = (uintptr_t)ptrmap_get(&p->storage_index, t->storage);
  if (known) {
    put_get(p, known - 1);
    return OK;
  }
  if (!index) {
    if (!vec_push(&p->storages, t->storage)) return status_out_of_memory();
    storage_retain(t->storage);
    index = p->storages.length;
    if (!ptrmap_put(&p->storage_index, t->storage, (void *)index)) return status_out_of_memory();
  }
  put_new_storage(p, (DType)t->dtype, is_of_bytes(p, t), (size_t)index - 1, "cpu",
                  (int64_t)(t->storage->bytes / dtype_size(t->dtype)));
  return ptrmap_put(&p->memo, as_dtype, (void *)((uintptr_t)put_put(p) + 1)) ? OK : status_out_of_memory();
}

/* Each tensor on the meta device has a storage of its own, which nothing else can show. */
static Status put_meta_storage(Pickler *p, const Tensor *t) {
  int64_t numel = t->numel ? 1 : 0;
  for (int i = 0; i < t->ndim && numel; i++) numel += (t->sizes[i] - 1) * t->strides[i];
  put_new_storage(p, (DType)t->dtype, false, p->storages.length, "meta", numel);
  return vec_push(&p->storages, NULL) ? OK : status_out_of_memory();
}

static Status put_quantizer(Pickler *p, const Quantizer *q) {
  static const char *const names[] = {[QSCHEME_PER_TENSOR_AFFINE] = "per_tensor_affine",
                                      [QSCHEME_PER_CHANNEL_AFFINE] = "per_channel_affine",
                                      [QSCHEME_PER_CHANNEL_AFFINE_FLOAT_QPARAMS] = "per_channel_affine_float_qparams"};
  put_op(p, MARK);
  put_global(p, STR("torch"), str_from(names[q->scheme]));
  if (quantizer_is_per_tensor(q)) {
    put_double(p, q->scale);
    put_int(p, q->zero_point);
  } else {
    TRY(put_value(p, ivalue_tensor(q->scales)));
    TRY(put_value(p, ivalue_tensor(q->zero_points)));
    put_int(p, q->axis);
  }
  put_op(p, TUPLE);
  return OK;
}

static Status put_tensor(Pickler *p, const Tensor *t);

static void put_no_hooks(Pickler *p) {
  put_global(p, STR("collections"), STR("OrderedDict"));
  put_op(p, EMPTY_TUPLE);
  put_op(p, REDUCE);
}

static Status put_parts(Pickler *p, const SparseParts *parts) {
  if (parts->begins) TRY(put_tensor(p, parts->begins));
  TRY(put_tensor(p, parts->indices));
  return put_tensor(p, parts->values);
}

static Status put_sparse(Pickler *p, const Tensor *t) {
  assert(tensor_is_sparse(t));
  const SparseParts *parts = tensor_sparse_parts(t);
  put_global(p, STR("torch._utils"), STR("_rebuild_sparse_tensor"));
  put_op(p, MARK);
  put_int(p, parts->layout);
  put_ints(p, t->ndim, t->sizes);
  put_op(p, t->flags & TENSOR_REQUIRES_GRAD ? NEWTRUE : NEWFALSE);
  TRY(put_parts(p, parts));
  put_no_hooks(p);
  put_op(p, TUPLE);
  put_op(p, REDUCE);
  return OK;
}

/* (layout, (parts, size)); nothing says that it requires grad. */
static Status put_sparse_for_load(Pickler *p, const Tensor *t) {
  static const char *const layouts[] = {
#define X(layout, name) [LAYOUT_##layout] = "torch." name,
      PICKLE_LAYOUTS(X)
#undef X
  };
  const SparseParts *parts = tensor_sparse_parts(t);
  put_global(p, STR("torch._utils"), parts->begins ? STR("_rebuild_sparse_csr_tensor") : STR("_rebuild_sparse_tensor"));
  put_op(p, MARK);
  put_global(p, STR("torch.serialization"), STR("_get_layout"));
  put_op(p, MARK);
  put_text(p, str_from(layouts[parts->layout]));
  put_op(p, TUPLE);
  put_op(p, REDUCE);
  put_op(p, MARK);
  TRY(put_parts(p, parts));
  put_ints(p, t->ndim, t->sizes);
  put_op(p, TUPLE);
  put_op(p, TUPLE);
  put_op(p, REDUCE);
  return OK;
}

/* (dtype, size, stride, requires_grad) */
static void put_meta_for_load(Pickler *p, const Tensor *t) {
  put_global(p, STR("torch._utils"), STR("_rebuild_meta_tensor_no_storage"));
  put_op(p, MARK);
  put_global(p, STR("torch"), str_from(dtype_name((DType)t->dtype)));
  put_ints(p, t->ndim, t->sizes);
  put_ints(p, t->ndim, t->strides);
  put_op(p, t->flags & TENSOR_REQUIRES_GRAD ? NEWTRUE : NEWFALSE);
  put_op(p, TUPLE);
  put_op(p, REDUCE);
}

static Status put_tensor(Pickler *p, const Tensor *t) {
  if (t->flags & TENSOR_UNDEFINED) {
    put_op(p, NONE);
    return OK;
  }
  if (tensor_is_sparse(t)) return p->is_eager ? put_sparse_for_load(p, t) : put_sparse(p, t);
  bool quantized = tensor_is_quantized(t), is_meta = t->flags & TENSOR_META;
  if (is_meta && p->is_eager) return put_meta_for_load(p, t), OK;
  TRY(tensor_check_host(t));
  if (t->flags & TENSOR_UNUSUAL & ~(uint32_t)(TENSOR_QUANTIZED | TENSOR_META | TENSOR_LIMITED) ||
      (!t->storage && !is_meta))
    return status_new(ERROR_UNSUPPORTED, "tensors that are conjugated or without data can't be saved");
  bool of_bytes = is_of_bytes(p, t);
  put_global(p, STR("torch._utils"),
             quantized  ? STR("_rebuild_qtensor")
             : of_bytes ? STR("_rebuild_tensor_v3")
                        : STR("_rebuild_tensor_v2"));
  put_op(p, MARK);
  TRY(is_meta ? put_meta_storage(p, t) : put_storage(p, t));
  put_int(p, is_meta ? 0 : t->offset);
  put_ints(p, t->ndim, t->sizes);
  put_ints(p, t->ndim, t->strides);
  if (quantized) TRY(put_quantizer(p, tensor_quantizer(t)));
  put_op(p, t->flags & TENSOR_REQUIRES_GRAD ? NEWTRUE : NEWFALSE);
  put_no_hooks(p);
  if (of_bytes) put_global(p, STR("torch"), str_from(dtype_name((DType)t->dtype)));
  put_op(p, TUPLE);
  put_op(p, REDUCE);
  return OK;
}

/* What comes between begin_tag and end_tag is told its type. */
static void begin_tag(Pickler *p) {
  put_global(p, STR("torch.jit._pickle"), STR("restore_type_tag"));
  put_op(p, MARK);
}
static void end_tag(Pickler *p, const char *form, const Type *a, const Type *b) {
  StrBuf text = {0};
  strbuf_printf(&text, "%s[", form);
  type_print_annotation(a, &text);
  if (b) strbuf_puts(&text, ", ");
  if (b) type_print_annotation(b, &text);
  strbuf_char(&text, ']');
  p->out.failed = p->out.failed || text.failed;
  put_text(p, strbuf_view(&text));
  strbuf_dispose(&text);
  put_op(p, TUPLE);
  put_op(p, REDUCE);
}

static const char *list_builder(const Type *element) {
  switch (element->kind) {
    case TYPE_INT:
      return "build_intlist";
    case TYPE_FLOAT:
      return "build_doublelist";
    case TYPE_BOOL:
      return "build_boollist";
    case TYPE_TENSOR:
      return "build_tensorlist";
    default:
      return NULL;
  }
}
/* torch.load takes no tags from strangers: what is written for it has Python's own lists and dicts. */
static Status put_list(Pickler *p, const List *list) {
  const char *builder = p->is_eager ? NULL : list_builder(list->element);
  if (builder) {
    put_global(p, STR("torch.jit._pickle"), str_from(builder));
    put_op(p, MARK);
  } else if (!p->is_eager) {
    begin_tag(p);
  }
  put_op(p, EMPTY_LIST);
  put_op(p, MARK);
  for (size_t i = 0; i < list->length; i++) {
    IValue item = list_get(list, i);
    Status status = put_value(p, item);
    ivalue_release(item);
    TRY(status);
  }
  put_op(p, APPENDS);
  if (!builder) {
    if (!p->is_eager) end_tag(p, "List", list->element, NULL);
    return OK;
  }
  put_op(p, TUPLE);
  put_op(p, REDUCE);
  return OK;
}

static Status put_dict(Pickler *p, const Dict *dict) {
  if (!p->is_eager) begin_tag(p);
  put_op(p, EMPTY_DICT);
  put_op(p, MARK);
  for (DictEntry *e = dict_next(dict, NULL); e; e = dict_next(dict, e)) {
    TRY(put_value(p, e->key));
    TRY(put_value(p, e->value));
  }
  put_op(p, SETITEMS);
  if (!p->is_eager) end_tag(p, "Dict", dict->key_type, dict->value_type);
  return OK;
}

static Status put_object(Pickler *p, Object *object) {
  ClassType *type = object->class_type;
  Function *getstate = class_type_find_method(type, STR("__getstate__"));
  put_class(p, &type->type);
  put_op(p, EMPTY_TUPLE);
  put_op(p, NEWOBJ);
  if (getstate && class_type_find_method(type, STR("__setstate__"))) {
    IValue state, self = ivalue_object(object);
    TRY(interp_call(p->exec, getstate, &self, 1, &state));
    if (!vec_push(&p->held, state)) {
      ivalue_release(state);
      return status_out_of_memory();
    }
    TRY(put_value(p, state));
  } else {
    put_op(p, EMPTY_DICT);
    put_op(p, MARK);
    for (uint32_t i = 0; i < object->slot_count; i++) {
      TRY(put_string(p, type->attributes.data[i].name));
      IValue value = object_get(object, i);
      Status status = put_value(p, value);
      ivalue_release(value);
      if (status) return status_context(status, STR_FMT, STR_ARG(type->attributes.data[i].name));
    }
    put_op(p, SETITEMS);
  }
  put_op(p, BUILD);
  return OK;
}

static Status put_tuple(Pickler *p, const Tuple *tuple) {
  put_op(p, tuple->length ? MARK : EMPTY_TUPLE);
  for (uint32_t i = 0; i < tuple->length; i++) TRY(put_value(p, tuple->values[i]));
  if (tuple->length) put_op(p, TUPLE);
  return OK;
}

static void put_device(Pickler *p, Device device) {
  StrBuf text = {0};
  device_print(device, &text);
  put_global(p, STR("torch"), STR("device"));
  put_op(p, MARK);
  put_text(p, strbuf_view(&text));
  put_op(p, TUPLE);
  put_op(p, REDUCE);
  p->out.failed = p->out.failed || text.failed;
  strbuf_dispose(&text);
}

static Status put_counted(Pickler *p, IValue v) {
  switch (v.tag) {
    case TAG_TENSOR:
      return put_tensor(p, v.tensor);
    case TAG_LIST:
      return put_list(p, v.list);
    case TAG_DICT:
      return put_dict(p, v.dict);
    case TAG_TUPLE:
      return put_tuple(p, v.tuple);
    case TAG_OBJECT:
      return put_object(p, v.object);
    case TAG_ENUM:
      put_class(p, v.enum_value->type);
      TRY(put_value(p, v.enum_value->type->enum_type->values[v.enum_value->index]));
      put_op(p, REDUCE);
      return OK;
    case TAG_COMPLEX:
      put_global(p, STR("builtins"), STR("complex"));
      put_op(p, MARK);
      put_double(p, __real__ ivalue_complex(v));
      put_double(p, __imag__ ivalue_complex(v));
      put_op(p, TUPLE);
      put_op(p, REDUCE);
      return OK;
    default:
      return status_new(ERROR_UNSUPPORTED, "functions, futures, generators and the like can't be saved");
  }
}

/* Mutable things and tensors are known by address. Others come again: they can't be told from copies. */
static Status put_shared(Pickler *p, IValue v) {
  enum { UNFINISHED = UINT32_MAX };
  uintptr_t known = (uintptr_t)ptrmap_get(&p->memo, v.counted);
  if (known == UNFINISHED) return status_new(ERROR_UNSUPPORTED, "a value that contains itself can't be saved");
  if (known) {
    put_get(p, known - 1);
    return OK;
  }
  if (!ptrmap_put(&p->memo, v.counted, (void *)(uintptr_t)UNFINISHED)) return status_out_of_memory();
  TRY(put_counted(p, v));
  return ptrmap_put(&p->memo, v.counted, (void *)((uintptr_t)put_put(p) + 1)) ? OK : status_out_of_memory();
}

static Status put_value(Pickler *p, IValue v) {
  if (STACK_IS_LOW()) return status_new(ERROR_UNSUPPORTED, "a value is nested too deeply to be saved");
  switch (v.tag) {
    case TAG_NONE:
      put_op(p, NONE);
      return OK;
    case TAG_INT:
      put_int(p, v.i);
      return OK;
    case TAG_FLOAT:
      put_double(p, v.f);
      return OK;
    case TAG_BOOL:
      put_op(p, v.b ? NEWTRUE : NEWFALSE);
      return OK;
    case TAG_DEVICE:
      put_device(p, v.device);
      return OK;
    case TAG_STRING:
      if (ivalue_str(v).length > UINT32_MAX) return status_new(ERROR_UNSUPPORTED, "a string is too long to be saved");
      put_text(p, ivalue_str(v));
      return OK;
    case TAG_TENSOR:
    case TAG_LIST:
    case TAG_DICT:
    case TAG_OBJECT:
      return put_shared(p, v);
    default:
      return put_counted(p, v);
  }
}

Status pickler_write(Pickler *p, IValue value) {
  put_op(p, PROTO);
  put_op(p, 2);
  TRY(put_value(p, value));
  put_op(p, STOP);
  return p->out.failed ? status_out_of_memory() : OK;
}
