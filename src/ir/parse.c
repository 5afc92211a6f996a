/* The parser of IR text: what print.c writes, read back. Values named by numbers keep them. Constants come back in the
 * form that their type says; tensors only with one element, as longer ones are printed for people. "with KIND_0 =
 * graph(...)" after a graph is the Subgraph of its node of that kind and number. */
#include <ctype.h>

#include "base/stack.h"
#include "call/native_class.h"
#include "ir/graph.h"

enum { MAX_DEPTH = 200 };

typedef struct IrParser {
  Graph *graph;
  Str text;
  size_t at;
  Map values;
  VEC(Value *) named;   /* those whose names are not numbers, or too large ones: numbered after the others */
  uint32_t next_number; /* after the largest number in the text */
  VEC(Node *) numbered; /* nodes whose kind ends as that of a printed group does: prim::FusionGroup_0 */
  int depth;
  const Type *(*resolve)(void *argument, Str name);
  void *argument;
} IrParser;

_Noreturn static void fail(IrParser *p, const char *what) {
  uint32_t line = 1, column = 0;
  for (size_t i = 0; i < p->at && i < p->text.length; i++) {
    column = p->text.data[i] == '\n' ? 0 : column + 1;
    line += p->text.data[i] == '\n';
  }
  graph_fail(p->graph, ERROR_SYNTAX, (SourceRange){0}, "IR text, line %u, column %u: %s", line, column, what);
}

/* ---- characters ---- */

static char peek(const IrParser *p) {
  return p->at < p->text.length ? p->text.data[p->at] : 0;
}

/* Line ends are white space; so are comments, which hold source places. */
static void skip(IrParser *p) {
  for (;;) {
    char c = peek(p);
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
      p->at++;
    else if (c == '#')
      while (peek(p) && peek(p) != '\n') p->at++;
    else
      return;
  }
}

static bool accept(IrParser *p, const char *token) {
  skip(p);
  size_t n = strlen(token);
  if (p->text.length - p->at < n || memcmp(p->text.data + p->at, token, n)) return false;
  p->at += n;
  return true;
}

static void expect(IrParser *p, const char *token) {
  if (!accept(p, token)) fail(p, arena_printf(p->graph->arena, "expected '%s'", token));
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static Str word(IrParser *p) {
  skip(p);
  size_t begin = p->at;
  while (is_word(peek(p))) p->at++;
  if (p->at == begin) fail(p, "expected a name");
  return str_slice(p->text, begin, p->at);
}

static bool accept_word(IrParser *p, const char *expected) {
  skip(p);
  size_t before = p->at;
  if (is_word(peek(p)) && str_is(word(p), expected)) return true;
  p->at = before;
  return false;
}

static Str number(IrParser *p) {
  skip(p);
  size_t begin = p->at;
  if (peek(p) == '-' || peek(p) == '+') p->at++;
  while (isalnum((unsigned char)peek(p)) || peek(p) == '.' ||
         ((peek(p) == '-' || peek(p) == '+') && p->at > begin &&
          (p->text.data[p->at - 1] == 'e' || p->text.data[p->at - 1] == 'E')))
    p->at++;
  if (p->at == begin) fail(p, "expected a number");
  return str_slice(p->text, begin, p->at);
}

static int64_t integer(IrParser *p) {
  int64_t value;
  if (!str_to_int64(number(p), 10, &value)) fail(p, "expected an integer");
  return value;
}

static double floating(IrParser *p) {
  double value;
  if (!str_to_double(number(p), &value)) fail(p, "expected a number");
  return value;
}

static Str quoted(IrParser *p) {
  expect(p, "\"");
  char *text = arena_alloc(p->graph->arena, p->text.length - p->at + 1);
  size_t n = 0;
  for (;;) {
    char c = peek(p);
    if (!c && p->at >= p->text.length) fail(p, "text does not end");
    p->at++;
    if (c == '"') return (Str){text, n};
    if (c == '\\') {
      static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
      c = peek(p);
      const char *place = c ? strchr(from, c) : NULL;
      if (c >= '0' && c <= '7') {
        int code = 0;
        for (int i = 0; i < 3 && peek(p) >= '0' && peek(p) <= '7'; i++) code = code * 8 + (p->text.data[p->at++] - '0');
        c = (char)code;
      } else {
        p->at++;
        if (place) c = to[place - from];
      }
    }
    text[n++] = c;
  }
}

/* ---- types ---- */

static const Type *type(IrParser *p);

static void types_until(IrParser *p, const char *end, uint32_t *out_count, const Type ***out) {
  VEC(const Type *) items = {0};
  Arena *arena = p->graph->arena;
  while (!accept(p, end)) {
    if (items.length) expect(p, ",");
    vec_arena_push(arena, &items, type(p));
  }
  *out_count = (uint32_t)items.length;
  *out = items.data;
}

static bool scalar_type(Str name, TensorInfo *info) {
  for (int d = 0; d < DTYPE_COUNT; d++) {
    const char *scalar = dtype_scalar_name((DType)d);
    size_t n = strlen(scalar);
    if (name.length < n || memcmp(name.data, scalar, n)) continue;
    if (name.length == n || str_is(str_slice(name, n, name.length), "Tensor")) {
      info->dtype = d;
      return true;
    }
  }
  return str_is(name, "Tensor");
}

/* `3`, `*`, or a symbol: `SS(-2)`. */
static int64_t size(IrParser *p) {
  if (accept(p, "*")) return -1;
  bool is_symbol = accept(p, "SS(");
  int64_t value = integer(p);
  if (is_symbol) expect(p, ")");
  if (is_symbol ? value >= 0 || value < INT32_MIN : value < 0) fail(p, "a size out of range");
  return is_symbol ? value - 1 : value;
}

static const Type *tensor(IrParser *p, TensorInfo info, bool has_name_only) {
  if (peek(p) == '(') {
    p->at++;
    bool has_sizes = !has_name_only;
    if (has_sizes) info.ndim = 0;
    bool first = true;
    while (!accept(p, ")")) {
      if (!first) expect(p, ",");
      first = false;
      if (accept(p, "strides=[")) {
        info.has_strides = true;
        for (int i = 0; !accept(p, "]"); i++) {
          if (i) expect(p, ",");
          if (i >= info.ndim) fail(p, "more strides than sizes");
          info.strides[i] = integer(p);
        }
      } else if (accept(p, "requires_grad=")) {
        info.requires_grad = integer(p) != 0;
      } else if (accept(p, "device=")) {
        skip(p);
        size_t begin = p->at;
        while (is_word(peek(p)) || peek(p) == ':') p->at++;
        Device device;
        Status status = device_parse(str_slice(p->text, begin, p->at), &device);
        if (status) catch_throw(p->graph->arena->catch_point, status);
        info.device_type = device.type;
        info.device_index = device.index;
      } else {
        if (info.ndim < 0) info.ndim = 0;
        if (info.ndim >= TENSOR_MAX_DIMS) fail(p, "too many dimensions");
        info.has_sizes = true;
        info.sizes[info.ndim++] = size(p);
      }
    }
    if (info.ndim == 0) info.has_sizes = true;
  }
  if (accept(p, "[Undefined]")) info.undefined = 1;
  bool known =
      info.dtype >= 0 || info.ndim >= 0 || info.requires_grad >= 0 || info.device_type >= 0 || info.undefined >= 0;
  return known ? type_tensor_refined(p->graph->store, &info) : TYPE(TENSOR);
}

static const Type *base_type(IrParser *p) {
  TypeStore *store = p->graph->store;
  uint32_t count;
  const Type **items;
  if (accept(p, "(")) {
    types_until(p, ")", &count, &items);
    return type_tuple(store, count, items);
  }
  Str name = word(p);
  static const struct {
    const char *name;
    TypeKind kind;
  } simple[] = {{"int", TYPE_INT},
                {"float", TYPE_FLOAT},
                {"complex", TYPE_COMPLEX},
                {"bool", TYPE_BOOL},
                {"str", TYPE_STRING},
                {"NoneType", TYPE_NONE},
                {"None", TYPE_NONE},
                {"Scalar", TYPE_NUMBER},
                {"number", TYPE_NUMBER},
                {"Any", TYPE_ANY},
                {"Device", TYPE_DEVICE},
                {"Generator", TYPE_GENERATOR},
                {"Stream", TYPE_STREAM},
                {"Storage", TYPE_STORAGE},
                {"QScheme", TYPE_QSCHEME},
                {"Capsule", TYPE_CAPSULE},
                {"AnyListType", TYPE_ANY_LIST},
                {"AnyTupleType", TYPE_ANY_TUPLE},
                {"AnyClassType", TYPE_ANY_CLASS},
                {"AnyEnumType", TYPE_ANY_ENUM},
                {"list", TYPE_ANY_LIST},
                {"tuple", TYPE_ANY_TUPLE}};
  for (size_t i = 0; i < sizeof simple / sizeof *simple; i++)
    if (str_is(name, simple[i].name)) return type_simple(simple[i].kind);
  TensorInfo info = {
      .dtype = -1, .device_type = -1, .device_index = -1, .ndim = -1, .requires_grad = -1, .undefined = -1};
  if (scalar_type(name, &info)) {
    size_t n = name.length;
    bool name_only = info.dtype < 0 || (n > 6 && str_ends_with(name, "Tensor"));
    return tensor(p, info, name_only);
  }
  if (str_is(name, "Dict") || str_is(name, "Future") || str_is(name, "RRef") || str_is(name, "Union") ||
      str_is(name, "Optional") || str_is(name, "List") || str_is(name, "Tuple")) {
    const char *close = accept(p, "[") ? "]" : ")";
    if (*close == ')') expect(p, "(");
    types_until(p, close, &count, &items);
    if (str_is(name, "Union")) return type_union(store, count, items);
    if (str_is(name, "Tuple")) return type_tuple(store, count, items);
    if (count != (str_is(name, "Dict") ? 2u : 1u)) fail(p, "wrong number of element types");
    if (str_is(name, "Dict")) return type_dict(store, items[0], items[1]);
    if (str_is(name, "Future")) return type_future(store, items[0]);
    if (str_is(name, "List")) return type_list(store, items[0]);
    if (str_is(name, "RRef")) return type_wrapped(store, TYPE_RREF, items[0]);
    return type_optional(store, items[0]);
  }
  bool is_enum = str_is(name, "Enum") && accept(p, "<");
  if (is_enum) name = word(p);
  const Type *found = p->resolve ? p->resolve(p->argument, name) : NULL;
  const NativeClass *native = found ? NULL : native_class_find(name);
  if (native) found = native_class_type(native);
  if (native && found->kind != TYPE_CLASS) catch_throw(p->graph->arena->catch_point, status_out_of_memory());
  if (is_enum) expect(p, ">");
  if (found) return found;
  if (name.length == 1 || (name.data[0] == 't' && name.length == 2)) return type_var(store, name);
  fail(p, arena_printf(p->graph->arena, "unknown type '" STR_FMT "'", STR_ARG(name)));
}

static const Type *type(IrParser *p) {
  if (++p->depth > MAX_DEPTH || STACK_IS_LOW()) fail(p, "types are nested too deeply");
  const Type *t = base_type(p);
  for (;;) {
    if (peek(p) == '?') {
      p->at++;
      t = type_optional(p->graph->store, t);
    } else if (peek(p) == '[' && p->at + 1 < p->text.length && p->text.data[p->at + 1] == ']') {
      p->at += 2;
      t = type_list(p->graph->store, t);
    } else {
      p->depth--;
      return t;
    }
  }
}

/* ---- constants ---- */

static IValue hold(IrParser *p, Status status, IValue value) {
  if (status) catch_throw(p->graph->arena->catch_point, status);
  graph_hold(p->graph, value);
  return value;
}

/* A value of the type; the graph holds it. */
static IValue constant(IrParser *p, const Type *t) {
  if (++p->depth > MAX_DEPTH || STACK_IS_LOW()) fail(p, "constants are nested too deeply");
  IValue value = IVALUE_NONE;
  skip(p);
  switch (t->kind) {
    case TYPE_OPTIONAL:
      value = accept_word(p, "None") ? IVALUE_NONE : constant(p, t->elements[0]);
      break;
    case TYPE_NONE:
      expect(p, "None");
      break;
    case TYPE_INT:
      value = ivalue_int(integer(p));
      break;
    case TYPE_FLOAT:
      value = ivalue_float(floating(p));
      break;
    case TYPE_BOOL: {
      if (accept_word(p, "True"))
        value = ivalue_bool(true);
      else if (accept_word(p, "False"))
        value = ivalue_bool(false);
      else
        value = ivalue_bool(integer(p) != 0);
      break;
    }
    case TYPE_NUMBER: {
      Str text = number(p);
      int64_t i;
      double f;
      if (str_to_int64(text, 10, &i))
        value = ivalue_int(i);
      else if (str_to_double(text, &f))
        value = ivalue_float(f);
      else
        fail(p, "expected a number");
      break;
    }
    case TYPE_COMPLEX: {
      bool parenthesised = accept(p, "(");
      double real = floating(p), imaginary = 0;
      if (peek(p) == '+' || peek(p) == '-') {
        size_t begin = p->at++;
        while (peek(p) && peek(p) != 'j') p->at++;
        if (!str_to_double(str_slice(p->text, begin, p->at), &imaginary)) fail(p, "expected a number");
        expect(p, "j");
      }
      if (parenthesised) expect(p, ")");
      complex128 c = real;
      __imag__ c = imaginary;
      Status status = ivalue_from_complex(c, &value);
      value = hold(p, status, value);
      break;
    }
    case TYPE_STRING: {
      Status status = ivalue_from_str(quoted(p), &value);
      value = hold(p, status, value);
      break;
    }
    case TYPE_DEVICE: {
      Device device;
      Status status = device_parse(quoted(p), &device);
      if (status) catch_throw(p->graph->arena->catch_point, status);
      value = ivalue_device(device);
      break;
    }
    case TYPE_TENSOR: {
      if (!accept(p, "{")) fail(p, "a tensor constant of several elements can't be read back");
      DType dtype = t->tensor && t->tensor->dtype >= 0 ? (DType)t->tensor->dtype : DTYPE_FLOAT32;
      int ndim = t->tensor && t->tensor->ndim > 0 ? t->tensor->ndim : 0;
      int64_t ones[TENSOR_MAX_DIMS];
      for (int i = 0; i < TENSOR_MAX_DIMS; i++) ones[i] = 1;
      Tensor *made = NULL;
      int64_t integral = 0;
      double real = 0;
      Str text = number(p);
      DType from = str_to_int64(text, 10, &integral) ? DTYPE_INT64 : DTYPE_FLOAT64;
      if (from == DTYPE_FLOAT64 && !str_to_double(text, &real)) fail(p, "expected a number");
      expect(p, "}");
      Status status = tensor_empty(dtype, ndim, ones, &made);
      if (!status)
        dtype_convert(dtype, tensor_data(made), 1, from, from == DTYPE_INT64 ? (void *)&integral : (void *)&real, 1, 1);
      value = hold(p, status, ivalue_tensor(made));
      break;
    }
    case TYPE_LIST: {
      expect(p, "[");
      List *list;
      Status status = list_new(t->elements[0], 0, &list);
      value = hold(p, status, ivalue_list(list));
      for (bool first = true; !accept(p, "]"); first = false) {
        if (!first) expect(p, ",");
        status = list_append(list, ivalue_retain(constant(p, t->elements[0])));
        if (status) catch_throw(p->graph->arena->catch_point, status);
      }
      break;
    }
    case TYPE_DICT: {
      expect(p, "{");
      Dict *dict;
      Status status = dict_new(t->elements[0], t->elements[1], &dict);
      value = hold(p, status, ivalue_dict(dict));
      for (bool first = true; !accept(p, "}"); first = false) {
        if (!first) expect(p, ",");
        IValue key = constant(p, t->elements[0]);
        expect(p, ":");
        IValue item = constant(p, t->elements[1]);
        status = dict_set(dict, ivalue_retain(key), ivalue_retain(item));
        if (status) catch_throw(p->graph->arena->catch_point, status);
      }
      break;
    }
    case TYPE_TUPLE: {
      expect(p, "(");
      Tuple *tuple;
      Status status = tuple_new(t->count, t->name.length ? t : NULL, &tuple);
      value = hold(p, status, ivalue_tuple(tuple));
      for (uint32_t i = 0; i < t->count; i++) {
        if (i) expect(p, ",");
        tuple->values[i] = ivalue_retain(constant(p, t->elements[i]));
      }
      if (t->count == 1) accept(p, ",");
      expect(p, ")");
      break;
    }
    default:
      fail(p, "a constant of this type can't be read");
  }
  p->depth--;
  return value;
}

/* ---- nodes ---- */

/* Attributes other than a constant's value say their type themselves. */
static void attribute(IrParser *p, Node *node, Symbol name) {
  skip(p);
  char c = peek(p);
  if (c == '"') {
    node_set_string(node, name, quoted(p));
  } else if (c == '[') {
    p->at++;
    skip(p);
    bool is_text = peek(p) == '"', is_number = isdigit((unsigned char)peek(p)) || peek(p) == '-' || peek(p) == ']';
    VEC(Str) strings = {0};
    VEC(int64_t) ints = {0};
    VEC(double) floats = {0};
    VEC(const Type *) types = {0};
    Arena *arena = p->graph->arena;
    for (bool first = true; !accept(p, "]"); first = false) {
      if (!first) expect(p, ",");
      if (is_text) {
        vec_arena_push(arena, &strings, quoted(p));
      } else if (is_number) {
        Str text = number(p);
        int64_t i;
        double f;
        if (!floats.length && str_to_int64(text, 10, &i))
          vec_arena_push(arena, &ints, i);
        else if (str_to_double(text, &f))
          vec_arena_push(arena, &floats, f);
        else
          fail(p, "expected a number");
      } else {
        vec_arena_push(arena, &types, type(p));
      }
    }
    if (floats.length && ints.length) fail(p, "a list of ints and floats");
    if (is_text)
      node_set_strings(node, name, (uint32_t)strings.length, strings.data);
    else if (floats.length)
      node_set_floats(node, name, (uint32_t)floats.length, floats.data);
    else if (is_number)
      node_set_ints(node, name, (uint32_t)ints.length, ints.data);
    else
      node_set_types(node, name, (uint32_t)types.length, types.data);
  } else if (isdigit((unsigned char)c) || c == '-') {
    Str text = number(p);
    int64_t i;
    double f;
    if (str_to_int64(text, 10, &i))
      node_set_int(node, name, i);
    else if (str_to_double(text, &f))
      node_set_float(node, name, f);
    else
      fail(p, "expected a number");
  } else {
    node_set_type(node, name, type(p));
  }
}

static void attributes(IrParser *p, Node *node) {
  if (!accept(p, "[")) return;
  for (bool first = true; !accept(p, "]"); first = false) {
    if (!first) expect(p, ",");
    Str base = word(p);
    Symbol name = symbol_intern(str_from(arena_printf(p->graph->arena, "attr::" STR_FMT, STR_ARG(base))));
    expect(p, "=");
    if (node->kind == SYM_prim_Constant && name == SYM_attr_value && node->output_count == 1)
      constant_set(node, constant(p, node->outputs[0]->type), node->outputs[0]->type);
    else
      attribute(p, node, name);
  }
}

static bool is_numeral(Str name) {
  for (size_t i = 0; i < name.length; i++)
    if (!isdigit((unsigned char)name.data[i])) return false;
  return true;
}

/* %02 and %2 are the same number, and so the same value. */
static Str value_name(IrParser *p) {
  expect(p, "%");
  Str name = word(p);
  if (is_numeral(name))
    while (name.length > 1 && name.data[0] == '0') name = str_slice(name, 1, name.length);
  return name;
}

/* A name that is there already means another value from here on. */
static void name_value(IrParser *p, Value *value, Str name) {
  bool again = map_has(&p->values, name);
  map_put(&p->values, name, value);
  int64_t unique;
  if (!again && is_numeral(name) && str_to_int64(name, 10, &unique) && unique < UINT32_MAX / 2) {
    value->unique = (uint32_t)unique;
    if (p->next_number <= value->unique) p->next_number = value->unique + 1;
  } else {
    if (!is_numeral(name)) value_set_name(value, name);
    vec_arena_push(p->graph->arena, &p->named, value);
  }
}

static Value *find_value(IrParser *p) {
  Str name = value_name(p);
  Value *value = map_get(&p->values, name);
  if (!value) fail(p, arena_printf(p->graph->arena, "%%" STR_FMT " is not defined", STR_ARG(name)));
  return value;
}

static void parameters(IrParser *p, Block *block) {
  expect(p, "(");
  for (bool first = true; !accept(p, ")"); first = false) {
    if (!first) expect(p, ",");
    Str name = value_name(p);
    const Type *t = accept(p, ":") ? type(p) : TYPE(TENSOR);
    name_value(p, block_add_input(block, STR(""), t), name);
  }
}

static void uses(IrParser *p, Node *node) {
  expect(p, "(");
  for (bool first = true; !accept(p, ")"); first = false) {
    if (!first) expect(p, ",");
    node_add_input(node, find_value(p));
  }
}

/* Where "_0" begins at the end of the text; its length when it does not end so. */
static size_t number_begins(Str text) {
  size_t at = text.length;
  while (at && isdigit((unsigned char)text.data[at - 1])) at--;
  return at && at < text.length && text.data[at - 1] == '_' ? at - 1 : text.length;
}

/* ", scope: __module.fc/__module.fc.0": up to the end of the line or a comment, as modules may have any names. */
static void scope(IrParser *p, Node *node) {
  if (!accept(p, ",")) return;
  expect(p, "scope");
  expect(p, ":");
  skip(p);
  size_t begin = p->at;
  while (peek(p) && peek(p) != '\n' && peek(p) != '#') p->at++;
  Str name = str_slice(p->text, begin, p->at);
  while (name.length && isspace((unsigned char)name.data[name.length - 1])) name.length--;
  if (!name.length) fail(p, "expected the name of a scope");
  node->scope = symbol_intern(str_from(arena_printf(p->graph->arena, "scope::" STR_FMT, STR_ARG(name))));
}

/* The type of the literal that comes: a number, a text, a list of these. NULL: it says none. */
static const Type *literal_type(IrParser *p) {
  size_t before = p->at;
  const Type *found = NULL;
  skip(p);
  char c = peek(p);
  if (c == '"') {
    found = TYPE(STRING);
  } else if (isdigit((unsigned char)c) || c == '-') {
    Str text = number(p);
    int64_t i;
    found = str_to_int64(text, 10, &i) ? TYPE(INT) : TYPE(FLOAT);
  } else if (accept(p, "[")) {
    if (++p->depth > MAX_DEPTH || STACK_IS_LOW()) fail(p, "constants are nested too deeply");
    const Type *element = literal_type(p);
    p->depth--;
    found = element ? type_list(p->graph->store, element) : NULL;
  }
  p->at = before;
  return found;
}

/* Of a constant for which no type stands: that of its literal; nothing at all is None. */
static const Type *untyped_constant(IrParser *p) {
  size_t before = p->at;
  const Type *found = NULL;
  if (accept(p, "[")) {
    if (accept_word(p, "value") && accept(p, "=")) found = literal_type(p);
  } else {
    found = TYPE(NONE);
  }
  p->at = before;
  return found ? found : TYPE(TENSOR);
}

static void nodes(IrParser *p, Block *block);

static void node(IrParser *p, Block *block) {
  VEC(Str) names = {0};
  VEC(const Type *) types = {0};
  Arena *arena = p->graph->arena;
  while (!accept(p, "=")) {
    if (names.length) expect(p, ",");
    vec_arena_push(arena, &names, value_name(p));
    vec_arena_push(arena, &types, (accept(p, ":") ? type(p) : NULL));
  }
  skip(p);
  size_t begin = p->at;
  while (is_word(peek(p)) || peek(p) == ':') p->at++;
  Symbol kind = symbol_intern(str_slice(p->text, begin, p->at));
  if (kind == SYMBOL_NONE) fail(p, "expected the kind of a node, as in aten::add");
  Node *made = graph_create(p->graph, kind, 0, NULL, 0);
  const Type *untold = kind == SYM_prim_Constant ? untyped_constant(p) : TYPE(TENSOR);
  for (size_t i = 0; i < names.length; i++) node_add_output(made, types.data[i] ? types.data[i] : untold);
  if (number_begins(symbol_name(kind)) < symbol_name(kind).length) vec_arena_push(arena, &p->numbered, made);
  attributes(p, made);
  uses(p, made);
  scope(p, made);
  if (++p->depth > MAX_DEPTH || STACK_IS_LOW()) fail(p, "blocks are nested too deeply");
  for (uint32_t i = 0;; i++) {
    size_t before = p->at;
    if (!accept(p, arena_printf(arena, "block%u", i))) break;
    skip(p);
    if (peek(p) != '(') {
      p->at = before;
      break;
    }
    Block *inner = node_add_block(made);
    parameters(p, inner);
    expect(p, ":");
    nodes(p, inner);
    expect(p, "->");
    uses(p, inner->ret);
  }
  p->depth--;
  for (size_t i = 0; i < names.length; i++) name_value(p, made->outputs[i], names.data[i]);
  node_insert_before(made, block->ret);
}

static void nodes(IrParser *p, Block *block) {
  for (;;) {
    skip(p);
    char c = peek(p);
    if (c != '%' && c != '=') return;
    node(p, block);
  }
}

/* The node of this graph that a "with prim::FusionGroup_0 = graph(" after it is of; NULL: it is of an outer graph's.
 */
static Node *accept_with(IrParser *p) {
  size_t before = p->at;
  if (accept_word(p, "with")) {
    skip(p);
    size_t begin = p->at;
    while (is_word(peek(p)) || peek(p) == ':') p->at++;
    Str kind = str_slice(p->text, begin, p->at);
    for (size_t i = 0; i < p->numbered.length; i++)
      if (str_equal(symbol_name(p->numbered.data[i]->kind), kind)) return p->numbered.data[i];
  }
  p->at = before;
  return NULL;
}

static void parse_graph(IrParser *p) {
  Graph *graph = p->graph;
  map_init(&p->values, graph->arena);
  expect(p, "graph");
  parameters(p, graph->block);
  expect(p, ":");
  nodes(p, graph->block);
  expect(p, "return");
  uses(p, graph->block->ret);
  graph->next_unique = p->next_number;
  for (size_t i = 0; i < p->named.length; i++) p->named.data[i]->unique = graph->next_unique++;
  for (Node *group; (group = accept_with(p));) {
    Str kind = symbol_name(group->kind);
    IrParser inner = {.graph = graph_new(graph->arena, graph->store),
                      .text = p->text,
                      .depth = p->depth + 1,
                      .resolve = p->resolve,
                      .argument = p->argument};
    if (inner.depth > MAX_DEPTH || STACK_IS_LOW()) fail(p, "graphs are nested too deeply");
    node_set_graph(group, SYM_attr_Subgraph, inner.graph);
    expect(p, "=");
    inner.at = p->at;
    group->kind = symbol_intern(str_slice(kind, 0, number_begins(kind)));
    group->op = NULL;
    parse_graph(&inner);
    p->at = inner.at;
  }
}

Graph *graph_parse(Arena *arena, TypeStore *store, Str text, const Type *(*resolve)(void *, Str), void *argument) {
  Graph *graph = graph_new(arena, store);
  Catch *outer = arena->catch_point, catch_point;
  arena->catch_point = &catch_point;
  if (catch_enter(&catch_point)) {
    IrParser p = {.graph = graph, .text = text, .resolve = resolve, .argument = argument};
    parse_graph(&p);
    skip(&p);
    if (p.at != p.text.length) fail(&p, "text after the graph");
  }
  arena->catch_point = outer;
  if (!catch_point.status) return graph;
  graph_dispose(graph); /* constants that it holds already */
  catch_throw(outer, catch_point.status);
}
