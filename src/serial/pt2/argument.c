#include "serial/pt2/argument.h"

#include "serial/pt2/weights.h"

static const Type *unwrap(const Type *type) {
  return type && type->kind == TYPE_OPTIONAL ? type->elements[0] : type;
}
static const Type *element_type(const Type *list, const Type *otherwise) {
  const Type *inner = unwrap(list);
  return inner && inner->kind == TYPE_LIST ? inner->elements[0] : otherwise;
}
static NamedValue constant(Pt2Builder *b, IValue value) {
  graph_hold(b->graph, value);
  return (NamedValue){.constant = value, .is_constant = true};
}
static NamedValue computed(Value *value) {
  return (NamedValue){.value = value};
}
static _Noreturn void malformed(const Pt2Builder *b) {
  pt2_fail(b, ERROR_DATA, "an argument is malformed");
}

/* ---- what stands for one value ---- */

typedef NamedValue Read(Pt2Builder *b, const Json *json, const Type *type);

static NamedValue read_none(Pt2Builder *b, const Json *json, const Type *type) {
  (void)json, (void)type;
  return constant(b, IVALUE_NONE);
}
static NamedValue read_named(Pt2Builder *b, const Json *json, const Type *type) {
  (void)type;
  return computed(pt2_value(b, pt2_text(b, json, "name")));
}
static NamedValue read_int(Pt2Builder *b, const Json *json, const Type *type) {
  int64_t number;
  type = unwrap(type);
  if (!json_int(json, &number)) malformed(b);
  return constant(b, type && type->kind == TYPE_FLOAT ? ivalue_float((double)number) : ivalue_int(number));
}
static NamedValue read_float(Pt2Builder *b, const Json *json, const Type *type) {
  double number;
  (void)type;
  if (!json_double(json, &number)) malformed(b);
  return constant(b, ivalue_float(number));
}
/* TorchScript takes no bool for a number. */
static NamedValue read_bool(Pt2Builder *b, const Json *json, const Type *type) {
  bool is;
  type = unwrap(type);
  if (!json_bool(json, &is)) malformed(b);
  return constant(b, type && type->kind == TYPE_NUMBER ? ivalue_int(is) : ivalue_bool(is));
}
static NamedValue read_string(Pt2Builder *b, const Json *json, const Type *type) {
  Str text;
  IValue value;
  (void)type;
  if (!json_string(json, &text)) malformed(b);
  pt2_try(b, ivalue_from_str(text, &value));
  return constant(b, value);
}
static NamedValue read_complex(Pt2Builder *b, const Json *json, const Type *type) {
  double real, imaginary;
  IValue value;
  (void)type;
  if (!json_double(json_get(json, "real"), &real) || !json_double(json_get(json, "imag"), &imaginary)) malformed(b);
  pt2_try(b, ivalue_from_complex(__builtin_complex(real, imaginary), &value));
  return constant(b, value);
}

/* The file's own numbers for memory formats and layouts, in PyTorch's. */
static const int8_t memory_formats[] = {-1, 0, 2, 3, 1}, layouts[] = {-1, 1, 2, 4, 5, 6, 3, 0};
static NamedValue read_number_of(Pt2Builder *b, const Json *json, const int8_t *numbers, size_t count) {
  int64_t number;
  if (!json_int(json, &number) || number < 0 || (size_t)number >= count || numbers[number] < 0) malformed(b);
  return constant(b, ivalue_int(numbers[number]));
}
static NamedValue read_memory_format(Pt2Builder *b, const Json *json, const Type *type) {
  (void)type;
  return read_number_of(b, json, memory_formats, sizeof memory_formats);
}
static NamedValue read_layout(Pt2Builder *b, const Json *json, const Type *type) {
  (void)type;
  return read_number_of(b, json, layouts, sizeof layouts);
}
static NamedValue read_dtype(Pt2Builder *b, const Json *json, const Type *type) {
  int64_t number;
  (void)type;
  if (!json_int(json, &number)) malformed(b);
  if (pt2_dtype(number) == DTYPE_NONE) pt2_fail(b, ERROR_UNSUPPORTED, "the dtype number %lld", (long long)number);
  return constant(b, ivalue_int(pt2_dtype(number)));
}
static NamedValue read_device(Pt2Builder *b, const Json *json, const Type *type) {
  Str name = pt2_text(b, json, "type");
  Device device;
  int64_t index;
  (void)type;
  bool has_index = json_int(json_get(json, "index"), &index);
  const char *text = has_index ? arena_printf(b->graph->arena, STR_FMT ":%lld", PT2_SHORT(name), (long long)index)
                               : arena_printf(b->graph->arena, STR_FMT, PT2_SHORT(name));
  pt2_try(b, device_parse(str_from(text), &device));
  return constant(b, ivalue_device(device));
}

/* ---- one of several kinds of values ---- */

typedef struct Row {
  const char *kind;
  Read *read;
  const char *element; /* of a list: the kind of its elements; "": each says its own */
  uint8_t type;        /* TypeKind of the value, or of the elements; TYPE_ERROR: as it comes */
} Row;
static NamedValue read_union(Pt2Builder *b, const Json *json, const Type *type);
static NamedValue read_list(Pt2Builder *b, const Row *row, const Json *json, const Type *type);

static const Row rows[] = {
    {"as_none", read_none, NULL, TYPE_NONE},
    {"as_tensor", read_named, NULL, TYPE_TENSOR},
    {"as_name", NULL, NULL, TYPE_ERROR}, /* of a symbol: a text, without more */
    {"as_int", read_int, NULL, TYPE_INT},
    {"as_float", read_float, NULL, TYPE_FLOAT},
    {"as_bool", read_bool, NULL, TYPE_BOOL},
    {"as_string", read_string, NULL, TYPE_STRING},
    {"as_complex", read_complex, NULL, TYPE_COMPLEX},
    {"as_sym_int", read_union, NULL, TYPE_INT},
    {"as_sym_float", read_union, NULL, TYPE_FLOAT},
    {"as_sym_bool", read_union, NULL, TYPE_BOOL},
    {"as_optional_tensor", read_union, NULL, TYPE_ERROR},
    {"as_scalar_type", read_dtype, NULL, TYPE_INT},
    {"as_memory_format", read_memory_format, NULL, TYPE_INT},
    {"as_layout", read_layout, NULL, TYPE_INT},
    {"as_device", read_device, NULL, TYPE_DEVICE},
    {"as_tensors", NULL, "as_tensor", TYPE_TENSOR},
    {"as_optional_tensors", NULL, "", TYPE_OPTIONAL},
    {"as_ints", NULL, "as_int", TYPE_INT},
    {"as_floats", NULL, "as_float", TYPE_FLOAT},
    {"as_bools", NULL, "as_bool", TYPE_BOOL},
    {"as_strings", NULL, "as_string", TYPE_STRING},
    {"as_sym_ints", NULL, "", TYPE_INT},
    {"as_sym_floats", NULL, "", TYPE_FLOAT},
    {"as_sym_bools", NULL, "", TYPE_BOOL},
    {"as_int_lists", NULL, "as_ints", TYPE_LIST},
    {"as_float_lists", NULL, "as_floats", TYPE_LIST},
    {"as_nested_tensors", NULL, "as_tensors", TYPE_LIST},
};
static const Row *find_row(Str kind) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (str_is(kind, rows[i].kind)) return &rows[i];
  return NULL;
}

static NamedValue read_row(Pt2Builder *b, const Row *row, const Json *json, const Type *type) {
  Str name;
  if (row->read) return row->read(b, json, type);
  if (row->element) return read_list(b, row, json, type);
  if (!json_string(json, &name)) malformed(b);
  return computed(pt2_value(b, name));
}
static NamedValue read_union(Pt2Builder *b, const Json *json, const Type *type) {
  const Json *member = json_first(json);
  if (!json_is_object(json) || !member) malformed(b);
  const Row *row = find_row(json_key(member));
  if (!row) pt2_fail(b, ERROR_UNSUPPORTED, "an argument of the kind " STR_FMT, PT2_SHORT(json_key(member)));
  return read_row(b, row, member, type);
}

static NamedValue read_list(Pt2Builder *b, const Row *row, const Json *json, const Type *type) {
  const Row *element_row = row->element[0] ? find_row(str_from(row->element)) : NULL;
  const Type *otherwise = row->type == TYPE_OPTIONAL ? type_optional_of(TYPE_TENSOR)
                          : row->type == TYPE_LIST   ? type_list_of((TypeKind)element_row->type)
                                                     : type_simple((TypeKind)row->type);
  const Type *element = element_type(type, otherwise);
  uint32_t count = (uint32_t)json_count(json), i = 0;
  if (!json_is_array(json)) malformed(b);
  if (element->kind == TYPE_VAR || element->kind == TYPE_ANY) element = otherwise;
  Value **values = ARENA_ARRAY(b->graph->arena, Value *, count + 1);
  for (const Json *e = json_first(json); e; e = json_next(e), i++) {
    NamedValue value = element_row ? read_row(b, element_row, e, element) : read_union(b, e, element);
    values[i] = named_value(b->graph, &value);
    if (!type_is_subtype(values[i]->type, element, NULL)) /* wants numbers of another kind, or tensors */
      values[i] = value_convert(b->graph, element, values[i], true, b->graph->range);
    if (!type_is_subtype(values[i]->type, element, NULL))
      pt2_fail(b, ERROR_DATA, "an element of a list has another type than the list");
  }
  return computed(graph_insert_list(b->graph, element, count, values));
}

NamedValue pt2_argument(Pt2Builder *b, const Json *argument, const Type *type) {
  return read_union(b, argument, type);
}
Value *pt2_argument_value(Pt2Builder *b, const Json *argument, const Type *type) {
  NamedValue value = pt2_argument(b, argument, type);
  return named_value(b->graph, &value);
}

/* ---- what names a value ---- */

Str pt2_argument_name(const Json *argument) {
  Str name = STR("");
  const Json *member = json_first(argument);
  if (!json_is_object(argument) || !member) return name;
  if (!json_string(json_get(member, "name"), &name)) json_string(json_get(member, "as_name"), &name);
  return name;
}
const Type *pt2_argument_type(const Pt2Builder *b, const Json *argument) {
  const Json *member = json_first(argument);
  const Row *row = json_is_object(argument) && member ? find_row(json_key(member)) : NULL;
  if (!row || row->element || row->type == TYPE_ERROR)
    pt2_fail(b, ERROR_UNSUPPORTED, "an input of the kind " STR_FMT,
             PT2_SHORT(json_is_object(argument) && member ? json_key(member) : STR("(missing)")));
  return type_simple((TypeKind)row->type);
}

/* Operators that give "a number" say by the output's kind which. */
static Value *convert_output(Pt2Builder *b, Str kind, Value *value) {
  if (value->type->kind != TYPE_NUMBER) return value;
  return str_is(kind, "as_sym_float") ? PT2_EMIT(b, "aten::Float", value) : PT2_EMIT(b, "aten::Int", value);
}

static void define_list(Pt2Builder *b, const Json *elements, Value *list) {
  uint32_t count = (uint32_t)json_count(elements), i = 0;
  if (!json_is_array(elements) || list->type->kind != TYPE_LIST)
    pt2_fail(b, ERROR_DATA, "an output is a list, and the operator's is not");
  Node *unpack = graph_create(b->graph, SYM_prim_ListUnpack, 1, &list, 0);
  for (uint32_t k = 0; k < count; k++) node_add_output(unpack, list->type->elements[0]);
  graph_insert_node(b->graph, unpack);
  for (const Json *e = json_first(elements); e; e = json_next(e), i++) {
    Str name = json_string(json_get(e, "name"), &name) ? name : pt2_argument_name(e);
    if (name.length) pt2_define(b, name, unpack->outputs[i]);
  }
}

void pt2_define_outputs(Pt2Builder *b, const Json *first, uint32_t count, Value *const *values) {
  uint32_t i = 0;
  for (const Json *e = first; e; e = json_next(e), i++) {
    const Json *member = json_first(e);
    if (!json_is_object(e) || !member) malformed(b);
    Str kind = json_key(member);
    if (i >= count) {
      if (!str_is(kind, "as_none")) pt2_fail(b, ERROR_DATA, "more outputs than the operator gives");
      continue;
    }
    if (str_is(kind, "as_tensors") || str_is(kind, "as_optional_tensors") || str_is(kind, "as_sym_ints")) {
      define_list(b, member, values[i]);
      continue;
    }
    Str name = pt2_argument_name(e);
    if (name.length) pt2_define(b, name, convert_output(b, kind, values[i]));
  }
}
