/* Conversion follows the type, which is finite, so that it ends whatever the value looks like; what is of type Any is
 * passed as it is. */
#include "call/convert.h"

#include <assert.h>
#include <math.h>

#include "base/stack.h"
#include "type/class_type.h"

/* ---- numbers ---- */

/* What it holds, as a number of its dtype's kind; false: there is nothing to read. */
static bool element_of(IValue v, IValue *out, Status *status) {
  if (v.tag != TAG_TENSOR || !tensor_is_defined(v.tensor) || v.tensor->numel != 1) return false;
  const Tensor *t = v.tensor;
  if (t->flags & TENSOR_UNUSUAL & ~(uint32_t)(TENSOR_CONJ | TENSOR_NEG | TENSOR_LIMITED)) return false;
  DType dtype = (DType)t->dtype;
  if (dtype == DTYPE_UINT64 && tensor_item_int(t) < 0) return false; /* from 2^63 on */
  if (dtype_is_complex(dtype))
    *status = ivalue_from_complex(tensor_item_complex(t), out);
  else if (dtype == DTYPE_BOOL)
    *out = ivalue_bool(tensor_item_bool(t));
  else if (dtype_is_floating(dtype))
    *out = ivalue_float(tensor_item_double(t));
  else
    *out = ivalue_int(tensor_item_int(t));
  return true;
}

static bool is_real(IValue number) {
  return number.tag != TAG_COMPLEX || __imag__ ivalue_complex(number) == 0;
}

static double real_of(IValue number) {
  assert(ivalue_is_number(number));
  return number.tag == TAG_COMPLEX ? __real__ ivalue_complex(number) : ivalue_to_double(number);
}

/* Numbers that are no tensor's fit an int only when they are whole by their kind. */
static bool to_int(IValue number, bool of_tensor, IValue *out) {
  if (number.tag == TAG_INT || number.tag == TAG_BOOL) {
    *out = ivalue_int(number.tag == TAG_INT ? number.i : number.b);
    return true;
  }
  if (!of_tensor || !is_real(number)) return false;
  double value = trunc(real_of(number));
  if (!(value >= -0x1p63 && value < 0x1p63)) return false;
  *out = ivalue_int((int64_t)value);
  return true;
}

static bool to_float(IValue number, bool of_tensor, IValue *out) {
  if (number.tag == TAG_COMPLEX && (!of_tensor || !is_real(number))) return false;
  *out = ivalue_float(real_of(number));
  return true;
}

static bool is_true(IValue number) {
  if (number.tag == TAG_COMPLEX) return ivalue_complex(number) != 0;
  return number.tag == TAG_FLOAT ? number.f != 0 : number.tag == TAG_INT ? number.i != 0 : number.b;
}

static bool to_bool(IValue number, Conversion allowed, IValue *out) {
  if (allowed < CONVERT_ANYTHING && number.tag != TAG_BOOL) return false;
  *out = ivalue_bool(is_true(number));
  return true;
}

static bool to_device(IValue text, IValue *out) {
  Device device;
  if (text.tag != TAG_STRING) return false;
  Status status = device_parse(ivalue_str(text), &device);
  bool fits = status == OK;
  status_free(status);
  if (fits) *out = ivalue_device(device);
  return fits;
}

static bool is_number(IValue v) {
  return v.tag == TAG_INT || v.tag == TAG_FLOAT || v.tag == TAG_BOOL || v.tag == TAG_COMPLEX;
}

static Status convert_number(IValue value, const Type *type, Conversion allowed, IValue *out, bool *out_fits) {
  IValue number = value;
  Status status = OK;
  *out_fits = allowed >= CONVERT_NUMBERS && type->kind == TYPE_DEVICE && to_device(value, out);
  if (type->kind == TYPE_NUMBER && is_number(value)) {
    *out = ivalue_retain(value);
    *out_fits = true;
  }
  if (allowed < CONVERT_NUMBERS || type->kind == TYPE_DEVICE || type->kind == TYPE_NUMBER) return OK;
  bool of_tensor = allowed >= CONVERT_ANYTHING && element_of(value, &number, &status);
  if (status) return status;
  if (type->kind == TYPE_BOOL && value.tag == TAG_NONE && allowed >= CONVERT_ANYTHING) {
    *out = ivalue_bool(false);
    *out_fits = true;
    return OK;
  }
  if (is_number(number)) {
    if (type->kind == TYPE_INT) *out_fits = to_int(number, of_tensor, out);
    if (type->kind == TYPE_FLOAT) *out_fits = to_float(number, of_tensor, out);
    if (type->kind == TYPE_BOOL) *out_fits = to_bool(number, allowed, out);
    if (type->kind == TYPE_COMPLEX) {
      status = ivalue_from_complex(ivalue_to_complex(number), out);
      *out_fits = status == OK;
    }
  }
  if (of_tensor) ivalue_release(number);
  return status;
}

static Status number_to_tensor(IValue v, IValue *out) {
  Tensor *t;
  switch (v.tag) {
    case TAG_INT:
      TRY(tensor_from_int(v.i, &t));
      break;
    case TAG_FLOAT:
      TRY(tensor_from_double(v.f, &t));
      break;
    case TAG_BOOL:
      TRY(tensor_from_bool(v.b, &t));
      break;
    default:
      TRY(tensor_from_complex(ivalue_complex(v), &t));
      break;
  }
  *out = ivalue_tensor(t);
  return OK;
}

/* ---- containers: those given are held, so that no other thread changes them ---- */

typedef struct Converter {
  const ConvertRules *rules;
  int64_t steps; /* left */
} Converter;
static Status convert(Converter *c, IValue v, const Type *type, IValue *out, bool *out_fits);

static size_t item_count(IValue v) {
  assert(v.tag == TAG_LIST || v.tag == TAG_TUPLE);
  return v.tag == TAG_LIST ? v.list->length : v.tuple->length;
}
static IValue item_at(IValue v, size_t i) {
  return v.tag == TAG_LIST ? list_get(v.list, i) : ivalue_retain(v.tuple->values[i]);
}

/* Gives the container that was made, or frees it. */
static Status give(Status status, IValue made, IValue *out, bool *out_fits) {
  if (status || !*out_fits)
    ivalue_release(made);
  else
    *out = made;
  return status;
}

static Status convert_list(Converter *c, IValue v, const Type *type, IValue *out, bool *out_fits) {
  List *list;
  TRY(list_new(type->elements[0], item_count(v), &list));
  Status status = OK;
  *out_fits = true;
  for (size_t i = 0; i < item_count(v) && *out_fits && !status; i++) {
    IValue item = item_at(v, i), converted;
    status = convert(c, item, type->elements[0], &converted, out_fits);
    ivalue_release(item);
    if (!status && *out_fits) status = list_append(list, converted);
  }
  return give(status, ivalue_list(list), out, out_fits);
}

static Status convert_tuple(Converter *c, IValue v, const Type *type, IValue *out, bool *out_fits) {
  if (item_count(v) != type->count) return OK;
  Tuple *tuple;
  TRY(tuple_new(type->count, type->name.length ? type : NULL, &tuple));
  Status status = OK;
  *out_fits = true;
  for (uint32_t i = 0; i < type->count && *out_fits && !status; i++) {
    IValue item = item_at(v, i), converted;
    status = convert(c, item, type->elements[i], &converted, out_fits);
    if (!status && *out_fits) tuple->values[i] = converted;
    ivalue_release(item);
  }
  return give(status, ivalue_tuple(tuple), out, out_fits);
}

static Status convert_dict(Converter *c, IValue v, const Type *type, IValue *out, bool *out_fits) {
  Dict *dict;
  TRY(dict_new(type->elements[0], type->elements[1], &dict));
  Status status = OK;
  *out_fits = true;
  for (DictEntry *e = dict_next(v.dict, NULL); e && *out_fits && !status; e = dict_next(v.dict, e)) {
    IValue key, value;
    status = convert(c, e->key, type->elements[0], &key, out_fits);
    if (status || !*out_fits) break;
    status = convert(c, e->value, type->elements[1], &value, out_fits);
    if (status || !*out_fits)
      ivalue_release(key);
    else
      status = dict_set(dict, key, value);
  }
  return give(status, ivalue_dict(dict), out, out_fits);
}

/* The first member of the union that takes the value as it is, else the first that takes it; only containers, whose
 * elements may be of another kind, are converted. */
static Status convert_union(Converter *c, IValue v, const Type *type, IValue *out, bool *out_fits) {
  bool is_mutable = v.tag == TAG_LIST || v.tag == TAG_DICT;
  for (uint32_t i = 0; i < type->count; i++)
    if (!(is_mutable && c->rules->copies) && ivalue_is_instance(v, type->elements[i])) {
      *out = ivalue_retain(v);
      *out_fits = true;
      return OK;
    }
  for (uint32_t i = 0; i < type->count && (is_mutable || v.tag == TAG_TUPLE) && !*out_fits; i++)
    TRY(convert(c, v, type->elements[i], out, out_fits));
  return OK;
}

static bool is_numbers_of(IValue v, const Type *element) {
  return v.tag == TAG_LIST && v.list->kind != LIST_VALUES && v.list->element == element;
}
static Status copy_numbers(const List *from, IValue *out, bool *out_fits) {
  List *copy;
  TRY(list_copy(from, &copy));
  *out = ivalue_list(copy);
  *out_fits = true;
  return OK;
}

static Status convert_container(Converter *c, IValue v, const Type *type, IValue *out, bool *out_fits) {
  if (type->kind == TYPE_LIST && is_numbers_of(v, type->elements[0])) return copy_numbers(v.list, out, out_fits);
  bool is_sequence = v.tag == TAG_LIST || v.tag == TAG_TUPLE;
  if (type->kind == TYPE_DICT ? v.tag != TAG_DICT : !is_sequence) return OK;
  IValue held;
  TRY(ivalue_hold(v, &held));
  Status status = (type->kind == TYPE_LIST   ? convert_list
                   : type->kind == TYPE_DICT ? convert_dict
                                             : convert_tuple)(c, held, type, out, out_fits);
  ivalue_release(held);
  return status;
}

/* ---- members of enums ---- */

/* The member of the same name, where another program has an enum of the same name. */
static Status convert_member(IValue v, const Type *type, IValue *out, bool *out_fits) {
  const EnumType *from = v.enum_value->type->enum_type, *to = type->enum_type;
  if (!str_equal(from->type.name, to->type.name)) return OK;
  for (uint32_t i = 0; i < to->count && !*out_fits; i++) {
    if (!str_equal(from->names[v.enum_value->index], to->names[i])) continue;
    TRY(enum_value_new(type, i, &out->enum_value));
    out->tag = TAG_ENUM;
    *out_fits = true;
  }
  return OK;
}

/* ---- any value ---- */

/* Whether it is a container of that kind, whose type variables take any element. */
static bool is_of_kind(IValue v, TypeKind kind) {
  return v.tag == (kind == TYPE_LIST    ? TAG_LIST
                   : kind == TYPE_DICT  ? TAG_DICT
                   : kind == TYPE_TUPLE ? TAG_TUPLE
                                        : TAG_FUTURE);
}

static Status convert(Converter *c, IValue v, const Type *type, IValue *out, bool *out_fits) {
  const ConvertRules *rules = c->rules;
  *out = IVALUE_NONE;
  *out_fits = false;
  if (--c->steps < 0) return status_new(ERROR_INVALID_ARGUMENT, "the value is too large");
  if (STACK_IS_LOW()) /* types are nested a little, so it is calls from within kernels and callbacks that used it */
    return status_exception("RecursionError", "calls are nested too deeply, the stack is used up");
  if (type->kind == TYPE_OPTIONAL && v.tag != TAG_NONE) return convert(c, v, type->elements[0], out, out_fits);
  if (type->kind == TYPE_UNION) return convert_union(c, v, type, out, out_fits);
  bool is_container = type->kind == TYPE_LIST || type->kind == TYPE_DICT || type->kind == TYPE_TUPLE;
  bool is_any = type->kind == TYPE_ANY || type->kind == TYPE_VAR;
  if (is_any && (rules->copies || rules->one_each) &&
      (v.tag == TAG_CAPSULE || v.tag == TAG_STORAGE)) /* programs have no such */
    return OK;
  bool fits = type->kind == TYPE_OPTIONAL || is_any ||
              (type->has_var ? is_of_kind(v, (TypeKind)type->kind)
                             : !(is_container && rules->copies) && ivalue_is_instance(v, type));
  if (fits) {
    *out = ivalue_retain(v);
    *out_fits = true;
    return OK;
  }
  if (rules->is_written) return OK;
  if (is_container) return convert_container(c, v, type, out, out_fits);
  if (type->kind == TYPE_ENUM) return v.tag == TAG_ENUM ? convert_member(v, type, out, out_fits) : OK;
  if (type->kind == TYPE_TENSOR) {
    *out_fits = rules->makes_tensors && rules->allowed >= CONVERT_ANYTHING && is_number(v);
    return *out_fits ? number_to_tensor(v, out) : OK;
  }
  return convert_number(v, type, rules->allowed, out, out_fits);
}

Status ivalue_convert(IValue value, const Type *type, const ConvertRules *rules, IValue *out, bool *out_fits) {
  Converter converter = {rules, (int64_t)1 << 28};
  Status status = convert(&converter, value, type, out, out_fits);
  if (status) *out_fits = false;
  return status;
}

void ivalue_print_found(IValue v, StrBuf *out) {
  static const char *const names[] = {
      [TAG_NONE] = "NoneType",       [TAG_INT] = "int",         [TAG_FLOAT] = "float",       [TAG_BOOL] = "bool",
      [TAG_DEVICE] = "Device",       [TAG_TENSOR] = "Tensor",   [TAG_COMPLEX] = "complex",   [TAG_STRING] = "str",
      [TAG_TUPLE] = "Tuple",         [TAG_ENUM] = "Enum",       [TAG_FUNCTION] = "Function", [TAG_FUTURE] = "Future",
      [TAG_GENERATOR] = "Generator", [TAG_STORAGE] = "Storage", [TAG_CAPSULE] = "Capsule"};
  if (v.tag == TAG_LIST) {
    strbuf_puts(out, "List[");
    type_print_annotation(v.list->element, out);
    strbuf_char(out, ']');
  } else if (v.tag == TAG_DICT) {
    strbuf_puts(out, "Dict[");
    type_print_annotation(v.dict->key_type, out);
    strbuf_puts(out, ", ");
    type_print_annotation(v.dict->value_type, out);
    strbuf_char(out, ']');
  } else if (v.tag == TAG_OBJECT) {
    type_print_annotation(&v.object->class_type->type, out);
  } else {
    strbuf_puts(out, v.tag < sizeof names / sizeof *names && names[v.tag] ? names[v.tag] : "value");
  }
}
