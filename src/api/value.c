/* wick_value: a counted box around an IValue. What is boxed may go to any thread, so it is marked as shared first. */
#include "api/handles.h"
#include "ivalue/lock.h"

Status value_box_of(IValue value, CompilationUnit *unit, wick_value **out) {
  wick_value *box = mem_calloc(1, sizeof *box);
  Status status = !box ? status_out_of_memory() : value.tag == TAG_TENSOR ? tensor_restore(value.tensor) : OK;
  if (status) {
    ivalue_release(value);
    mem_free(box);
    return status;
  }
  ref_init(&box->refs);
  ivalue_mark_shared(value);
  box->value = value;
  if (unit) box->unit = unit_retain(unit);
  *out = box;
  return OK;
}
Status value_give(IValue value, CompilationUnit *unit, wick_value **out) {
  if (out) return value_box_of(value, unit, out);
  ivalue_release(value);
  return OK;
}
wick_value *value_box_or_null(IValue value, CompilationUnit *unit) {
  wick_value *box = NULL;
  status_free(value_box_of(value, unit, &box));
  return box;
}

wick_value *wick_value_retain(wick_value *value) {
  if (value) ref_retain(&value->refs);
  return value;
}
void wick_value_release(wick_value *value) {
  if (!value || !ref_release(&value->refs)) return;
  ivalue_release(value->value);
  if (value->unit) unit_release(value->unit);
  mem_free(value);
}

uint32_t wick_value_kind(const wick_value *value) {
  static const uint8_t kinds[] = {
      [TAG_NONE] = WICK_NONE,           [TAG_INT] = WICK_INT,           [TAG_FLOAT] = WICK_DOUBLE,
      [TAG_BOOL] = WICK_BOOL,           [TAG_DEVICE] = WICK_DEVICE,     [TAG_TENSOR] = WICK_TENSOR,
      [TAG_COMPLEX] = WICK_COMPLEX,     [TAG_STRING] = WICK_STRING,     [TAG_LIST] = WICK_LIST,
      [TAG_DICT] = WICK_DICT,           [TAG_TUPLE] = WICK_TUPLE,       [TAG_OBJECT] = WICK_OBJECT,
      [TAG_ENUM] = WICK_ENUM,           [TAG_FUNCTION] = WICK_FUNCTION, [TAG_FUTURE] = WICK_FUTURE,
      [TAG_GENERATOR] = WICK_GENERATOR, [TAG_STORAGE] = WICK_OTHER,     [TAG_CAPSULE] = WICK_OTHER,
  };
  return !value ? WICK_NONE : value->value.tag < sizeof kinds ? kinds[value->value.tag] : WICK_OTHER;
}

const void *wick_value_identity(const wick_value *value) {
  bool named = value && value->value.tag >= TAG_TENSOR && value->value.tag != TAG_COMPLEX &&
               value->value.tag != TAG_STRING && value->value.tag != TAG_FUNCTION;
  return named ? value->value.counted : NULL;
}

/* ---- making ---- */

wick_value *wick_value_none(void) {
  return value_box_or_null(IVALUE_NONE, NULL);
}
wick_value *wick_value_int(int64_t i) {
  return value_box_or_null(ivalue_int(i), NULL);
}
wick_value *wick_value_double(double f) {
  return value_box_or_null(ivalue_float(f), NULL);
}
wick_value *wick_value_bool(int b) {
  return value_box_or_null(ivalue_bool(b != 0), NULL);
}

static wick_value *box_made(Status status, IValue value) {
  if (!status) return value_box_or_null(value, NULL);
  status_free(status);
  return NULL;
}
wick_value *wick_value_complex(double real, double imaginary) {
  IValue value = IVALUE_NONE;
  Status status = ivalue_from_complex(__builtin_complex(real, imaginary), &value);
  return box_made(status, value);
}
wick_value *wick_value_string(const char *data, size_t length) {
  IValue value = IVALUE_NONE;
  if (!data && length) return NULL;
  Status status = ivalue_from_str((Str){data, length}, &value);
  return box_made(status, value);
}
wick_status wick_value_device(const char *text, wick_value **out, wick_error **error) {
  Device device;
  API_OUT(out);
  API_NEED(text);
  API_TRY(device_parse(str_from(text), &device));
  return api_status(value_box(ivalue_device(device), out), error);
}

/* The least type of all items; Any when there is none. */
static const Type *element_of(const wick_value *const *items, size_t count) {
  TypeStore *store = type_store_process();
  const Type *common = count ? ivalue_type(items[0]->value, store) : NULL;
  for (size_t i = 1; i < count && common; i++)
    common = type_unify(store, common, ivalue_type(items[i]->value, store), false);
  return common && common->kind != TYPE_ERROR ? common : TYPE(ANY);
}

/* The unit that a container of the items keeps: of the first that has one. */
static CompilationUnit *unit_of(const wick_value *const *items, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (items[i]->unit) return items[i]->unit;
  return NULL;
}

wick_status wick_value_list(const wick_value *const *items, size_t count, wick_value **out, wick_error **error) {
  List *list;
  API_OUT(out);
  API_NEED_ITEMS(items, count);
  API_TRY(list_new(element_of(items, count), count, &list));
  Status status = OK;
  for (size_t i = 0; i < count && !status; i++) status = list_append(list, ivalue_retain(items[i]->value));
  if (status) {
    ivalue_release(ivalue_list(list));
    return api_status(status, error);
  }
  return api_status(value_box_of(ivalue_list(list), unit_of(items, count), out), error);
}

wick_status wick_value_ints(const int64_t *items, size_t count, wick_value **out, wick_error **error) {
  List *list;
  API_OUT(out);
  API_NEED_BYTES(items, count);
  API_TRY(list_from_ints(items, count, &list));
  return api_status(value_box(ivalue_list(list), out), error);
}

wick_status wick_value_doubles(const double *items, size_t count, wick_value **out, wick_error **error) {
  List *list;
  API_OUT(out);
  API_NEED_BYTES(items, count);
  API_TRY(list_new(TYPE(FLOAT), count, &list));
  if (count) memcpy(list->floats, items, count * sizeof *items);
  list->length = count;
  return api_status(value_box(ivalue_list(list), out), error);
}

wick_status wick_value_tuple(const wick_value *const *items, size_t count, wick_value **out, wick_error **error) {
  Tuple *tuple;
  API_OUT(out);
  API_NEED_ITEMS(items, count);
  if (count > UINT32_MAX) return api_status(status_new(ERROR_INVALID_ARGUMENT, "a tuple of %zu items", count), error);
  API_TRY(tuple_new((uint32_t)count, NULL, &tuple));
  for (size_t i = 0; i < count; i++) tuple->values[i] = ivalue_retain(items[i]->value);
  return api_status(value_box_of(ivalue_tuple(tuple), unit_of(items, count), out), error);
}

wick_status wick_value_dict(const wick_value *const *keys, const wick_value *const *values, size_t count,
                            wick_value **out, wick_error **error) {
  Dict *dict;
  API_OUT(out);
  API_NEED_ITEMS(keys, count);
  API_NEED_ITEMS(values, count);
  API_TRY(dict_new(element_of(keys, count), element_of(values, count), &dict));
  Status status = OK;
  for (size_t i = 0; i < count && !status; i++)
    status = dict_set(dict, ivalue_retain(keys[i]->value), ivalue_retain(values[i]->value));
  if (status) {
    ivalue_release(ivalue_dict(dict));
    return api_status(status, error);
  }
  return api_status(value_box_of(ivalue_dict(dict), unit_of(values, count), out), error);
}

/* ---- reading ---- */

static bool is_real(const wick_value *v) {
  return v && (v->value.tag == TAG_INT || v->value.tag == TAG_FLOAT || v->value.tag == TAG_BOOL);
}
int64_t wick_value_to_int(const wick_value *value) {
  if (!is_real(value)) return 0;
  double f = value->value.f;
  if (value->value.tag == TAG_FLOAT && !(f > -9.2e18 && f < 9.2e18)) return 0;
  return ivalue_to_int(value->value);
}
double wick_value_to_double(const wick_value *value) {
  return is_real(value) ? ivalue_to_double(value->value) : 0;
}
int wick_value_to_bool(const wick_value *value) {
  return is_real(value) && ivalue_to_double(value->value) != 0;
}
void wick_value_to_complex(const wick_value *value, double *out_real, double *out_imaginary) {
  complex128 c = 0;
  if (value && ivalue_is_number(value->value)) c = ivalue_to_complex(value->value);
  if (out_real) *out_real = __real__ c;
  if (out_imaginary) *out_imaginary = __imag__ c;
}
const char *wick_value_to_string(const wick_value *value, size_t *out_length) {
  bool is_string = value && value->value.tag == TAG_STRING;
  if (out_length) *out_length = is_string ? value->value.string->length : 0;
  return is_string ? value->value.string->data : "";
}

size_t wick_value_length(const wick_value *value) {
  if (!value) return 0;
  switch (value->value.tag) {
    case TAG_LIST:
      return list_length(value->value.list);
    case TAG_TUPLE:
      return value->value.tuple->length;
    case TAG_DICT:
      return dict_length(value->value.dict);
    case TAG_OBJECT:
      return value->value.object->slot_count;
    case TAG_ENUM:
      return 2;
    default:
      return 0;
  }
}

/* Item, value of an entry, attribute; false: no such index, perhaps since another thread cut the container. */
static bool item_of(IValue v, size_t index, IValue *out) {
  IValue key;
  switch (v.tag) {
    case TAG_LIST:
      return list_find(v.list, index, out);
    case TAG_DICT:
      if (!dict_entry(v.dict, index, &key, out)) return false;
      ivalue_release(key);
      return true;
    case TAG_TUPLE:
      if (index >= v.tuple->length) return false;
      *out = ivalue_retain(v.tuple->values[index]);
      return true;
    case TAG_OBJECT:
      if (index >= v.object->slot_count) return false;
      *out = object_get(v.object, (uint32_t)index);
      return true;
    case TAG_ENUM: {
      const EnumType *type = v.enum_value->type->enum_type;
      if (index > 1) return false;
      if (index) {
        *out = ivalue_retain(type->values[v.enum_value->index]);
        return true;
      }
      Status status = ivalue_from_str(type->names[v.enum_value->index], out);
      status_free(status);
      return !status;
    }
    default:
      return false;
  }
}

wick_value *wick_value_item(const wick_value *value, size_t index) {
  IValue item;
  return value && item_of(value->value, index, &item) ? value_box_or_null(item, value->unit) : NULL;
}
static wick_value *text_box(Str text) {
  IValue value = IVALUE_NONE;
  Status status = ivalue_from_str(text, &value);
  return box_made(status, value);
}
wick_value *wick_value_key(const wick_value *value, size_t index) {
  if (!value) return NULL;
  if (value->value.tag == TAG_OBJECT && index < value->value.object->class_type->attributes.length)
    return text_box(value->value.object->class_type->attributes.data[index].name);
  if (value->value.tag == TAG_TUPLE && value->value.tuple->type && index < value->value.tuple->length)
    return text_box(value->value.tuple->type->field_names[index]);
  IValue key, item;
  if (value->value.tag != TAG_DICT || !dict_entry(value->value.dict, index, &key, &item)) return NULL;
  ivalue_release(item);
  return value_box_or_null(key, value->unit);
}
wick_value *wick_value_get(const wick_value *dict, const wick_value *key) {
  IValue value;
  bool found;
  if (!dict || !key || dict->value.tag != TAG_DICT) return NULL;
  Status status = dict_get(dict->value.dict, key->value, &value, &found);
  status_free(status);
  return found ? value_box_or_null(value, dict->unit) : NULL;
}
wick_value *wick_value_get_text(const wick_value *value, const char *name) {
  if (!value || !name) return NULL;
  if (value->value.tag == TAG_OBJECT) {
    const Object *object = value->value.object;
    ptrdiff_t slot = class_type_find_attribute(object->class_type, str_from(name));
    return slot >= 0 ? value_box_or_null(object_get(object, (uint32_t)slot), value->unit) : NULL;
  }
  wick_value *key = wick_value_string(name, strlen(name)), *found = key ? wick_value_get(value, key) : NULL;
  wick_value_release(key);
  return found;
}

static wick_status take_text(Status status, StrBuf *text, char **out_text, wick_error **error) {
  if (!status) return api_status(strbuf_take(text, out_text), error);
  strbuf_dispose(text);
  return api_status(status, error);
}
wick_status wick_value_print(const wick_value *value, char **out_text, wick_error **error) {
  StrBuf text = {.max_length = 1 << 24};
  API_OUT(out_text);
  API_NEED(value);
  return take_text(ivalue_print(value->value, &text), &text, out_text, error);
}
wick_status wick_value_print_short(const wick_value *value, char **out_text, wick_error **error) {
  StrBuf text = {.max_length = 1 << 24};
  API_OUT(out_text);
  API_NEED(value);
  return take_text(ivalue_print_short(value->value, &text), &text, out_text, error);
}

wick_status wick_value_type(const wick_value *value, char **out_text, wick_error **error) {
  StrBuf text = {.max_length = 1 << 20};
  API_OUT(out_text);
  API_NEED(value);
  if (value->value.tag == TAG_CAPSULE || value->value.tag == TAG_STORAGE) {
    strbuf_puts(&text, "Any");
  } else {
    ivalue_print_type(value->value, &text);
  }
  return api_status(strbuf_take(&text, out_text), error);
}
void wick_text_free(char *text) {
  mem_free(text);
}
wick_status wick_text_escape(const char *text, size_t length, const char *kept, char **out_text, wick_error **error) {
  StrBuf shown = {0};
  API_OUT(out_text);
  API_NEED(text);
  strbuf_escape(&shown, (Str){text, length}, kept ? kept : "");
  return api_status(strbuf_take(&shown, out_text), error);
}

wick_status wick_value_copy(const wick_value *value, wick_value **out, wick_error **error) {
  IValue copy;
  API_OUT(out);
  API_NEED(value);
  API_TRY(ivalue_deep_copy(value->value, &copy));
  return api_status(value_box_of(copy, value->unit, out), error);
}
