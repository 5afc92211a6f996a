/* Conversion follows the type, which is finite, so that it ends whatever the value looks like; containers of type Any
 * are passed as they are. */
#include "api/arguments.h"

#include "base/stack.h"
#include "call/convert.h"

static Status misfit(IValue v, const Type *type, const char *what) {
  StrBuf expected = {.max_length = 300}, got = {.max_length = 300};
  type_print_annotation(type, &expected);
  if (v.tag == TAG_CAPSULE || v.tag == TAG_STORAGE) {
    strbuf_puts(&got, "no value");
  } else {
    type_print_annotation(ivalue_type(v, type_store_process()), &got);
  }
  Status status = status_new(ERROR_INVALID_ARGUMENT, "%s should be of type " STR_FMT ", got " STR_FMT, what,
                             STR_ARG(strbuf_view(&expected)), STR_ARG(strbuf_view(&got)));
  strbuf_dispose(&expected);
  strbuf_dispose(&got);
  return status;
}

/* Of containers that are held. */
static size_t item_count(IValue v) {
  return v.tag == TAG_LIST ? v.list->length : v.tuple->length;
}
static IValue item_at(IValue v, size_t i) {
  return v.tag == TAG_LIST ? list_get(v.list, i) : ivalue_retain(v.tuple->values[i]);
}

/* Types are nested a little, so it is calls from within kernels and callbacks that used it. */
static Status stack_is_used_up(const char *what) {
  return status_exception("RecursionError", "%s: calls are nested too deeply, the stack is used up", what);
}

static Status convert(IValue v, const Type *type, const char *what, int64_t *steps, IValue *out);

static Status convert_list(IValue v, const Type *type, const char *what, int64_t *steps, IValue *out) {
  const Type *element = type->elements[0];
  List *list;
  TRY(list_new(element, item_count(v), &list));
  Status status = OK;
  for (size_t i = 0; i < item_count(v) && !status; i++) {
    IValue item = item_at(v, i), converted;
    status = convert(item, element, what, steps, &converted);
    ivalue_release(item);
    if (!status) status = list_append(list, converted);
  }
  *out = ivalue_list(list);
  if (status) ivalue_release(*out);
  return status;
}

static bool is_numbers_of(IValue v, const Type *element) {
  return v.tag == TAG_LIST && v.list->kind != LIST_VALUES && v.list->element == element;
}
static Status copy_numbers(const List *from, IValue *out) {
  List *copy;
  TRY(list_copy(from, &copy));
  *out = ivalue_list(copy);
  return OK;
}

static Status convert_tuple(IValue v, const Type *type, const char *what, int64_t *steps, IValue *out) {
  if (item_count(v) != type->count) return misfit(v, type, what);
  Tuple *tuple;
  TRY(tuple_new(type->count, type->name.length ? type : NULL, &tuple));
  Status status = OK;
  for (uint32_t i = 0; i < type->count && !status; i++) {
    IValue item = item_at(v, i);
    status = convert(item, type->elements[i], what, steps, &tuple->values[i]);
    if (status) tuple->values[i] = IVALUE_NONE;
    ivalue_release(item);
  }
  *out = ivalue_tuple(tuple);
  if (status) ivalue_release(*out);
  return status;
}

static Status convert_dict(IValue v, const Type *type, const char *what, int64_t *steps, IValue *out) {
  Dict *dict;
  TRY(dict_new(type->elements[0], type->elements[1], &dict));
  Status status = OK;
  for (DictEntry *e = dict_next(v.dict, NULL); e && !status; e = dict_next(v.dict, e)) {
    IValue key, value;
    status = convert(e->key, type->elements[0], what, steps, &key);
    if (status) break;
    status = convert(e->value, type->elements[1], what, steps, &value);
    if (status) {
      ivalue_release(key);
    } else {
      status = dict_set(dict, key, value);
    }
  }
  *out = ivalue_dict(dict);
  if (status) ivalue_release(*out);
  return status;
}

/* A value of the caller's may be changed by a call on another thread. */
typedef Status Converter(IValue v, const Type *type, const char *what, int64_t *steps, IValue *out);
static Status convert_held(Converter *converter, IValue v, const Type *type, const char *what, int64_t *steps,
                           IValue *out) {
  IValue held;
  TRY(ivalue_hold(v, &held));
  Status status = converter(held, type, what, steps, out);
  ivalue_release(held);
  return status;
}

/* The first member of the union that takes the value. */
static Status convert_union(IValue v, const Type *type, const char *what, int64_t *steps, IValue *out) {
  for (uint32_t i = 0; i < type->count; i++)
    if (v.tag != TAG_LIST && v.tag != TAG_DICT && ivalue_is_instance(v, type->elements[i])) {
      *out = ivalue_retain(v);
      return OK;
    }
  bool has_elements = v.tag == TAG_LIST || v.tag == TAG_DICT || v.tag == TAG_TUPLE; /* those may be of another kind */
  for (uint32_t i = 0; i < type->count && has_elements; i++) {
    Status status = convert(v, type->elements[i], what, steps, out);
    if (!status) return OK;
    status_free(status);
  }
  return misfit(v, type, what);
}

static Status convert_number(IValue v, const Type *type, const char *what, IValue *out) {
  bool fits;
  TRY(value_convert_number(v, type, CONVERT_ANYTHING, out, &fits));
  return fits ? OK : misfit(v, type, what);
}

static Status convert(IValue v, const Type *type, const char *what, int64_t *steps, IValue *out) {
  if (--*steps < 0) return status_new(ERROR_INVALID_ARGUMENT, "%s is too large", what);
  if (STACK_IS_LOW()) return stack_is_used_up(what);
  switch (type->kind) {
    case TYPE_OPTIONAL:
      if (ivalue_is_none(v)) break;
      return convert(v, type->elements[0], what, steps, out);
    case TYPE_UNION:
      return convert_union(v, type, what, steps, out);
    case TYPE_LIST:
      if (is_numbers_of(v, type->elements[0])) return copy_numbers(v.list, out);
      if (v.tag != TAG_LIST && v.tag != TAG_TUPLE) return misfit(v, type, what);
      return convert_held(convert_list, v, type, what, steps, out);
    case TYPE_TUPLE:
      if (v.tag != TAG_LIST && v.tag != TAG_TUPLE) return misfit(v, type, what);
      return convert_held(convert_tuple, v, type, what, steps, out);
    case TYPE_DICT:
      if (v.tag != TAG_DICT) return misfit(v, type, what);
      return convert_held(convert_dict, v, type, what, steps, out);
    default:
      break;
  }
  if (v.tag == TAG_CAPSULE || v.tag == TAG_STORAGE) return misfit(v, type, what);
  if (!ivalue_is_instance(v, type)) return convert_number(v, type, what, out);
  *out = ivalue_retain(v);
  return OK;
}

Status argument_convert(IValue value, const Type *type, const char *what, IValue *out) {
  int64_t steps = (int64_t)1 << 28;
  return convert(value, type, what, &steps, out);
}

/* Adds the schema to the message. */
static Status with_schema(Status status, const FunctionSchema *schema) {
  StrBuf text = {.max_length = 2000};
  schema_print(schema, &text);
  Status result = status_new(status->code, "%s\nDeclaration: " STR_FMT, status->message, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  status_free(status);
  return result;
}

static Status argument_error(const FunctionSchema *schema, const char *format, Str name) {
  StrBuf text = {0};
  strbuf_printf(&text, STR_FMT "() ", STR_ARG(schema->name));
  strbuf_printf(&text, format, STR_ARG(name));
  Status status = status_new(ERROR_INVALID_ARGUMENT, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return with_schema(status, schema);
}

static Status fill(const FunctionSchema *schema, uint32_t i, IValue value, IValue *out) {
  const Argument *argument = &schema->arguments[i];
  StrBuf what = {.max_length = 300};
  strbuf_printf(&what, STR_FMT "() argument '" STR_FMT "'", STR_ARG(schema->name), STR_ARG(argument->name));
  IValue repeated = IVALUE_NONE;
  Status status = OK;
  if (argument->broadcast_n && value.tag != TAG_LIST && value.tag != TAG_TUPLE && value.tag != TAG_NONE) {
    Tuple *tuple;
    status = tuple_new((uint32_t)argument->broadcast_n, NULL, &tuple);
    if (!status) {
      for (int32_t k = 0; k < argument->broadcast_n; k++) tuple->values[k] = ivalue_retain(value);
      value = repeated = ivalue_tuple(tuple);
    }
  }
  if (!status) status = argument_convert(value, argument->type, what.data ? what.data : "an argument", &out[i]);
  strbuf_dispose(&what);
  ivalue_release(repeated);
  return status && status->code == ERROR_INVALID_ARGUMENT ? with_schema(status, schema) : status;
}

/* Fills what positional arguments, names and defaults give; `filled` marks which slots hold a value. */
static Status match(const FunctionSchema *schema, IValue self, uint32_t count, const IValue *values,
                    uint32_t named_count, const char *const *names, IValue *out, bool *filled) {
  uint32_t at = 0;
  if (!ivalue_is_none(self) && schema->argument_count) {
    out[0] = ivalue_retain(self);
    filled[at++] = true;
  }
  for (uint32_t i = 0; i < count - named_count; i++, at++) {
    if (at >= schema->argument_count || schema->arguments[at].kwarg_only)
      return argument_error(schema, "takes fewer arguments than it was given" STR_FMT, STR(""));
    TRY(fill(schema, at, values[i], out));
    filled[at] = true;
  }
  for (uint32_t i = 0; i < named_count; i++) {
    ptrdiff_t slot = schema_find_argument(schema, str_from(names[i]));
    if (slot < 0) return argument_error(schema, "has no argument '" STR_FMT "'", str_from(names[i]));
    if (filled[slot]) return argument_error(schema, "got two values for argument '" STR_FMT "'", str_from(names[i]));
    TRY(fill(schema, (uint32_t)slot, values[count - named_count + i], out));
    filled[slot] = true;
  }
  for (uint32_t i = 0; i < schema->argument_count; i++) {
    if (filled[i]) continue;
    if (!schema->arguments[i].has_default)
      return argument_error(schema, "is missing a value for argument '" STR_FMT "'", schema->arguments[i].name);
    TRY(argument_convert(schema->arguments[i].default_value, schema->arguments[i].type, "a default", &out[i]));
    filled[i] = true;
  }
  return OK;
}

Status arguments_match(const FunctionSchema *schema, IValue self, uint32_t count, const IValue *values,
                       uint32_t named_count, const char *const *names, IValue *out) {
  if (named_count > count) return status_new(ERROR_INVALID_ARGUMENT, "%u named arguments of %u", named_count, count);
  bool *filled = mem_calloc(schema->argument_count ? schema->argument_count : 1, sizeof *filled);
  if (!filled) return status_out_of_memory();
  Status status = match(schema, self, count, values, named_count, names, out, filled);
  for (uint32_t i = 0; status && i < schema->argument_count; i++) {
    if (filled[i]) ivalue_release(out[i]);
    out[i] = IVALUE_NONE;
  }
  mem_free(filled);
  return status;
}
