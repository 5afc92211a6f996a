/* Constants of programs as expressions. What has no literal that reads back as the same value goes to the printer's
 * constants. */
#include <math.h>

#include "base/stack.h"
#include "ivalue/print.h"
#include "serial/python/python_print.h"

static Status stored_constant(PythonPrinter *printer, IValue value, StrBuf *out) {
  size_t i = 0;
  for (; i < printer->constants.length; i++) {
    const IValue *known = &printer->constants.data[i];
    if (known->tag == value.tag && known->counted == value.counted) break;
  }
  if (i == printer->constants.length) {
    if (!vec_push(&printer->constants, value)) return status_out_of_memory();
    ivalue_retain(value);
  }
  strbuf_printf(out, "CONSTANTS.c%zu", i);
  return OK;
}

static bool is_ascii(Str text) {
  for (size_t i = 0; i < text.length; i++)
    if ((unsigned char)text.data[i] >= 128) return false;
  return true;
}

bool python_items_tell_type(const Type *element) {
  switch (element->kind) {
    case TYPE_OPTIONAL:
    case TYPE_UNION:
    case TYPE_INTERFACE:
    case TYPE_ANY:
    case TYPE_NUMBER:
    case TYPE_NONE:
      return false;
    default:
      return true;
  }
}

static Status print_list(PythonPrinter *printer, const List *list, StrBuf *out) {
  bool annotated = !list->length || !python_items_tell_type(list->element);
  if (annotated) {
    strbuf_puts(out, "annotate(List[");
    type_print_annotation(list->element, out);
    strbuf_puts(out, "], ");
    python_depend_type(printer, list->element);
  }
  strbuf_char(out, '[');
  for (size_t i = 0; i < list->length; i++) {
    if (i) strbuf_puts(out, ", ");
    IValue item = list_get(list, i);
    Status status = python_print_constant(printer, item, list->element, out);
    ivalue_release(item);
    TRY(status);
  }
  strbuf_puts(out, annotated ? "])" : "]");
  return OK;
}

static Status print_dict(PythonPrinter *printer, const Dict *dict, StrBuf *out) {
  bool annotated = !dict->live || !python_items_tell_type(dict->key_type) || !python_items_tell_type(dict->value_type);
  if (annotated) {
    strbuf_puts(out, "annotate(Dict[");
    type_print_annotation(dict->key_type, out);
    strbuf_puts(out, ", ");
    type_print_annotation(dict->value_type, out);
    strbuf_puts(out, "], ");
    python_depend_type(printer, dict->key_type);
    python_depend_type(printer, dict->value_type);
  }
  strbuf_char(out, '{');
  for (DictEntry *e = dict_next(dict, NULL), *first = e; e; e = dict_next(dict, e)) {
    if (e != first) strbuf_puts(out, ", ");
    TRY(python_print_constant(printer, e->key, NULL, out));
    strbuf_puts(out, ": ");
    TRY(python_print_constant(printer, e->value, NULL, out));
  }
  strbuf_puts(out, annotated ? "})" : "}");
  return OK;
}

/* The names of a default stand in its type. */
static Status print_tuple(PythonPrinter *printer, const Tuple *tuple, const Type *type, StrBuf *out) {
  if (type && type->kind == TYPE_OPTIONAL) type = type->elements[0];
  if (!type || type->kind != TYPE_TUPLE || type->count != tuple->length) type = tuple->type;
  const Type *named = tuple->type ? tuple->type : type && type->field_names ? type : NULL;
  if (named) {
    type_print_annotation(named, out);
    python_depend_type(printer, named);
  }
  strbuf_char(out, '(');
  for (uint32_t i = 0; i < tuple->length; i++) {
    if (i) strbuf_puts(out, ", ");
    TRY(python_print_constant(printer, tuple->values[i], type ? type->elements[i] : NULL, out));
  }
  strbuf_puts(out, tuple->length == 1 && !named ? ",)" : ")");
  return OK;
}

/* Without a point whole numbers from 1e10 on would be read as ints. */
static void print_float(double value, StrBuf *out) {
  if (isnan(value)) {
    strbuf_puts(out, "nan");
    return;
  }
  size_t start = out->length;
  print_double_repr(value, out);
  Str text = str_slice(strbuf_view(out), start, out->length);
  if (isfinite(value) && str_find_char(text, '.') < 0 && str_find_char(text, 'e') < 0) strbuf_char(out, '.');
}

/* Of a complex number, which is written as a sum: a part of -0 would come back as 0. */
static bool reads_as_sum(double part) {
  return isfinite(part) && !(part == 0 && signbit(part));
}

Status python_print_constant(PythonPrinter *printer, IValue value, const Type *type, StrBuf *out) {
  if (STACK_IS_LOW()) return status_new(ERROR_UNSUPPORTED, "a constant is nested too deeply to be printed");
  switch (value.tag) {
    case TAG_NONE:
      strbuf_puts(out, "None");
      return OK;
    case TAG_BOOL:
      strbuf_puts(out, value.b ? "True" : "False");
      return OK;
    case TAG_INT:
      strbuf_printf(out, "%lld", (long long)value.i);
      return OK;
    case TAG_FLOAT:
      print_float(value.f, out);
      return OK;
    case TAG_DEVICE:
      strbuf_puts(out, "torch.device(\"");
      device_print(value.device, out);
      strbuf_puts(out, "\")");
      return OK;
    case TAG_COMPLEX: {
      complex128 z = ivalue_complex(value);
      if (!reads_as_sum(__real__ z) || !reads_as_sum(__imag__ z)) return stored_constant(printer, value, out);
      print_complex(z, out);
      return OK;
    }
    case TAG_STRING:
      if (!is_ascii(ivalue_str(value))) return stored_constant(printer, value, out);
      print_quoted(ivalue_str(value), out);
      return OK;
    case TAG_LIST:
      return print_list(printer, value.list, out);
    case TAG_DICT:
      return print_dict(printer, value.dict, out);
    case TAG_TUPLE:
      return print_tuple(printer, value.tuple, type, out);
    case TAG_ENUM:
      type_print_annotation(value.enum_value->type, out);
      strbuf_char(out, '.');
      strbuf_str(out, value.enum_value->type->enum_type->names[value.enum_value->index]);
      python_depend_type(printer, value.enum_value->type);
      return OK;
    case TAG_TENSOR:
    case TAG_OBJECT:
      if (value.tag == TAG_OBJECT) python_depend_type(printer, &value.object->class_type->type);
      return stored_constant(printer, value, out);
    default: {
      StrBuf text = {.max_length = 200};
      if (type) type_print_annotation(type, &text);
      Status status =
          status_new(ERROR_UNSUPPORTED, "a constant of type " STR_FMT " can't be saved", STR_ARG(strbuf_view(&text)));
      strbuf_dispose(&text);
      return status;
    }
  }
}
