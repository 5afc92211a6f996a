/* Parser of type text. Nesting is bounded, as the recursion is. */
#include "schema/type_parse.h"

#include "base/fork.h"
#include "base/heap.h"
#include "type/class_type.h"

enum { MAX_NESTING = TYPE_MAX_DEPTH };

static void parse(TypeParser *p, ParsedType *out, int depth);

/* ---- tokens ---- */

void type_parser_init(TypeParser *parser, Arena *arena, TypeStore *store, Str text) {
  *parser = (TypeParser){.arena = arena, .store = store};
  lexer_init_text(&parser->lexer, arena, text, (SourceRange){NULL, 0, 0});
  lexer_next(&parser->lexer, &parser->token);
  lexer_next(&parser->lexer, &parser->ahead);
}

_Noreturn void type_parser_fail(TypeParser *parser, const char *expected) {
  Str text = type_parser_text(parser);
  const Lexer *lexer = &parser->lexer;
  catch_throw(parser->arena->catch_point,
              status_new(ERROR_SYNTAX, "expected %s but found '" STR_FMT "' at column %u of: " STR_FMT, expected,
                         STR_ARG(text.length ? text : STR("end of text")), parser->token.begin,
                         (int)(lexer->end > 2000 ? 2000 : lexer->end), lexer->text));
}

void type_parser_advance(TypeParser *parser) {
  parser->token = parser->ahead;
  lexer_next(&parser->lexer, &parser->ahead);
}

bool type_parser_take(TypeParser *parser, TokenKind kind) {
  if (parser->token.kind != kind) return false;
  type_parser_advance(parser);
  return true;
}

void type_parser_expect(TypeParser *parser, TokenKind kind, const char *what) {
  if (!type_parser_take(parser, kind)) type_parser_fail(parser, what);
}

static bool is_name(TokenKind kind) {
  return kind == TK_IDENT || (kind >= TK_DEF && kind <= TK_YIELD);
}

Str type_parser_name(TypeParser *parser, const char *what) {
  if (!is_name(parser->token.kind)) type_parser_fail(parser, what);
  Str text = type_parser_text(parser);
  type_parser_advance(parser);
  return text;
}

/* ---- native classes ---- */

static pthread_mutex_t native_lock = PTHREAD_MUTEX_INITIALIZER;
static Map native_classes; /* heap entries, names and types in the process's store */

typedef struct NativeClass {
  Str name;
  const Type *type;
} NativeClass;

enum { MAX_NATIVE_CLASSES = 4096 }; /* names come from files and stay */

static void make_native_class(void *argument) {
  NativeClass *native = argument;
  ClassType *class_type = class_type_new(type_store_process(), native->name, false);
  class_type_add_hidden(class_type, TYPE(CAPSULE));
  native->type = &class_type->type;
}

static Status add_native_class(NativeClass *native) {
  if (map_count(&native_classes) >= MAX_NATIVE_CLASSES)
    return status_new(ERROR_BUDGET, "'" STR_FMT "': programs name more than %d classes of libraries",
                      STR_ARG(native->name), MAX_NATIVE_CLASSES);
  TRY(type_store_change(type_store_process(), make_native_class, native));
  return map_put(&native_classes, native->type->name, (void *)(uintptr_t)native->type) ? OK : status_out_of_memory();
}

Status type_native_class(Str qualified_name, const Type **out) {
  HEAP_SCOPE(NULL);
  NativeClass native = {.name = qualified_name};
  Status status = OK;
  lock_take(&native_lock);
  native.type = map_get(&native_classes, qualified_name);
  if (!native.type) status = add_native_class(&native);
  lock_drop(&native_lock);
  *out = status ? TYPE(ERROR) : native.type;
  return status;
}

/* ---- types by name ---- */

typedef struct NamedType {
  const char *name;
  uint8_t kind, int_kind;
} NamedType;
static const NamedType named_types[] = {
    {"Any", TYPE_ANY, 0},
    {"AnyClassType", TYPE_ANY_CLASS, 0},
    {"AnyEnumType", TYPE_ANY_ENUM, 0},
    {"AnyListType", TYPE_ANY_LIST, 0},
    {"AnyTupleType", TYPE_ANY_TUPLE, 0},
    {"Capsule", TYPE_CAPSULE, 0},
    {"Device", TYPE_DEVICE, 0},
    {"Dimname", TYPE_STRING, 0},
    {"Generator", TYPE_GENERATOR, 0},
    {"Layout", TYPE_INT, INT_LAYOUT},
    {"MemoryFormat", TYPE_INT, INT_MEMORY_FORMAT},
    {"None", TYPE_NONE, 0},
    {"NoneType", TYPE_NONE, 0},
    {"QScheme", TYPE_QSCHEME, 0},
    {"Scalar", TYPE_NUMBER, 0},
    {"ScalarType", TYPE_INT, INT_SCALAR_TYPE},
    {"Storage", TYPE_STORAGE, 0},
    {"Stream", TYPE_STREAM, 0},
    {"SymInt", TYPE_INT, INT_SYM},
    {"Tensor", TYPE_TENSOR, 0},
    {"bool", TYPE_BOOL, 0},
    {"complex", TYPE_COMPLEX, 0},
    {"float", TYPE_FLOAT, 0},
    {"int", TYPE_INT, 0},
    {"list", TYPE_ANY_LIST, 0},
    {"number", TYPE_NUMBER, 0},
    {"str", TYPE_STRING, 0},
    {"tuple", TYPE_ANY_TUPLE, 0},
};

static bool find_named(Str name, ParsedType *out) {
  for (size_t i = 0; i < sizeof named_types / sizeof *named_types; i++) {
    if (!str_is(name, named_types[i].name)) continue;
    out->type = type_simple((TypeKind)named_types[i].kind);
    out->int_kind = named_types[i].int_kind;
    return true;
  }
  return false;
}

static int find_dtype(Str name) {
  if (!name.length || name.data[0] < 'A' || name.data[0] > 'Z') return -1;
  for (int i = 0; i < DTYPE_COUNT; i++)
    if (str_is(name, dtype_scalar_name((DType)i))) return i;
  return -1;
}

/* a.b.c, the first part already taken. */
static Str qualified(TypeParser *p, Str first) {
  const char *end = first.data + first.length;
  while (p->token.kind == '.') {
    type_parser_advance(p);
    Str part = type_parser_name(p, "a name");
    end = part.data + part.length;
  }
  return (Str){first.data, (size_t)(end - first.data)};
}

static const Type *resolve(TypeParser *p, Str name) {
  const Type *type = p->resolve ? p->resolve(p->context, name) : NULL;
  if (!type && (!p->resolve || str_starts_with(name, "__torch__.torch.classes."))) {
    Status status = type_native_class(name, &type);
    if (status) catch_throw(p->arena->catch_point, status);
  }
  if (!type)
    catch_throw(p->arena->catch_point, status_new(ERROR_SYNTAX, "unknown type name '" STR_FMT "'", STR_ARG(name)));
  return type;
}

/* ---- tensors with what is known of them ---- */

static int64_t parse_int(TypeParser *p) {
  bool negative = type_parser_take(p, '-');
  int64_t value;
  if (p->token.kind != TK_NUMBER || !str_to_int64(type_parser_text(p), 10, &value)) type_parser_fail(p, "an integer");
  type_parser_advance(p);
  return negative ? -value : value;
}

static void parse_device(TypeParser *p, TensorInfo *info) {
  Str name = type_parser_name(p, "a device");
  if (p->token.kind == ':') {
    type_parser_advance(p);
    Str index = type_parser_text(p);
    type_parser_expect(p, TK_NUMBER, "a device's index");
    name.length = (size_t)(index.data + index.length - name.data);
  }
  Device device;
  Status status = device_parse(name, &device);
  if (status != OK) catch_throw(p->arena->catch_point, status);
  info->device_type = device.type;
  info->device_index = device.index;
}

static void parse_fact(TypeParser *p, TensorInfo *info) {
  Str fact = type_parser_name(p, "a size or strides, requires_grad, device");
  type_parser_expect(p, '=', "=");
  if (str_is(fact, "requires_grad")) {
    info->requires_grad = parse_int(p) != 0;
  } else if (str_is(fact, "device")) {
    parse_device(p, info);
  } else if (str_is(fact, "strides")) {
    int count = 0;
    type_parser_expect(p, '[', "[");
    while (p->token.kind != ']') {
      if (count) type_parser_expect(p, ',', ",");
      if (count == TENSOR_MAX_DIMS) type_parser_fail(p, "fewer strides");
      info->strides[count++] = type_parser_take(p, '*') ? -1 : parse_int(p);
    }
    type_parser_advance(p);
    info->has_strides = true;
    if (count != info->ndim) type_parser_fail(p, "as many strides as sizes");
  } else {
    type_parser_fail(p, "strides, requires_grad or device");
  }
}

/* `SS(-3)`: a size that has a name only. */
static bool parse_symbol(TypeParser *p, int64_t *out) {
  if (!is_name(p->token.kind) || !str_is(type_parser_text(p), "SS") || p->ahead.kind != '(') return false;
  type_parser_advance(p);
  type_parser_advance(p);
  int64_t symbol = parse_int(p);
  if (symbol >= 0 || symbol < INT32_MIN) type_parser_fail(p, "a symbol's number, below zero");
  type_parser_expect(p, ')', ")");
  *out = symbol - 1;
  return true;
}

/* After the dtype's name or `Tensor`, at '(' or where `[Undefined]` may follow. has_shape: `Float(...)`, whose rank
 * counts. */
static const Type *parse_tensor(TypeParser *p, int dtype, bool has_shape) {
  TensorInfo info = {
      .dtype = dtype, .device_type = -1, .device_index = -1, .ndim = -1, .requires_grad = -1, .undefined = -1};
  if (type_parser_take(p, '(')) {
    int count = 0;
    bool known = false, facts = false;
    while (p->token.kind != ')') {
      if (count || facts) type_parser_expect(p, ',', ",");
      if (!facts && count < TENSOR_MAX_DIMS && parse_symbol(p, &info.sizes[count])) {
        count++;
        known = true;
        continue;
      }
      if (is_name(p->token.kind)) {
        if (!facts && (has_shape || count)) info.ndim = count;
        facts = true;
        parse_fact(p, &info);
        continue;
      }
      if (facts || count == TENSOR_MAX_DIMS) type_parser_fail(p, ")");
      info.sizes[count] = type_parser_take(p, '*') ? -1 : parse_int(p);
      known |= info.sizes[count++] >= 0;
    }
    type_parser_advance(p);
    if (has_shape || count) info.ndim = count;
    info.has_sizes = info.ndim == 0 || known;
  } else if (has_shape) {
    type_parser_fail(p, "(");
  }
  if (p->token.kind == '[' && str_is(token_text(&p->lexer, &p->ahead), "Undefined")) {
    type_parser_advance(p);
    type_parser_advance(p);
    type_parser_expect(p, ']', "]");
    info.undefined = 1;
  }
  return type_tensor_refined(p->store, &info);
}

/* ---- composites ---- */

typedef struct Members {
  VEC(const Type *) types;
  VEC(Str) names;
} Members;

/* `(a, b)`, or `(x : a, y : b)` with names. At the opening bracket. */
static void parse_members(TypeParser *p, Members *members, bool named, int depth) {
  TokenKind close = p->token.kind == '[' ? ']' : ')';
  if (p->token.kind != '[' && p->token.kind != '(') type_parser_fail(p, "(");
  type_parser_advance(p);
  while (p->token.kind != close) {
    if (members->types.length) type_parser_expect(p, ',', ",");
    if (named) {
      Str name = type_parser_name(p, "a field's name");
      vec_arena_push(p->arena, &members->names, name);
      type_parser_expect(p, ':', ":");
    }
    ParsedType member;
    parse(p, &member, depth + 1);
    vec_arena_push(p->arena, &members->types, member.type);
  }
  type_parser_advance(p);
}

static void expect_count(TypeParser *p, const Members *members, size_t count) {
  if (members->types.length != count) type_parser_fail(p, count == 1 ? "one type argument" : "two type arguments");
}

static const Type *parse_generic(TypeParser *p, Str name, int depth) {
  static const struct {
    const char *name;
    TypeKind kind;
  } generics[] = {{"Dict", TYPE_DICT}, {"Union", TYPE_UNION}, {"Future", TYPE_FUTURE},
                  {"RRef", TYPE_RREF}, {"Await", TYPE_AWAIT}, {"NamedTuple", TYPE_TUPLE}};
  for (size_t i = 0; i < sizeof generics / sizeof *generics; i++) {
    if (!str_is(name, generics[i].name)) continue;
    Members members = {0};
    parse_members(p, &members, generics[i].kind == TYPE_TUPLE, depth);
    uint32_t count = (uint32_t)members.types.length;
    switch (generics[i].kind) {
      case TYPE_DICT:
        expect_count(p, &members, 2);
        return type_dict(p->store, members.types.data[0], members.types.data[1]);
      case TYPE_UNION:
        return type_union(p->store, count, members.types.data);
      case TYPE_TUPLE:
        return type_named_tuple(p->store, STR(""), count, members.types.data, members.names.data);
      default:
        expect_count(p, &members, 1);
        return type_wrapped(p->store, generics[i].kind, members.types.data[0]);
    }
  }
  return NULL;
}

/* `Enum<__torch__.Color>`, `InterfaceType<Name>`: at '<'. */
static const Type *parse_nominal(TypeParser *p) {
  type_parser_advance(p);
  Str name = qualified(p, type_parser_name(p, "a name"));
  type_parser_expect(p, '>', ">");
  return resolve(p, name);
}

static void parse_base(TypeParser *p, ParsedType *out, int depth) {
  if (p->token.kind == '(') {
    Members members = {0};
    parse_members(p, &members, false, depth);
    out->type = type_tuple(p->store, (uint32_t)members.types.length, members.types.data);
    return;
  }
  Str name = qualified(p, type_parser_name(p, "a type"));
  if (p->token.kind == '<') {
    out->type = parse_nominal(p);
    return;
  }
  bool is_tensor = str_is(name, "Tensor");
  int dtype = is_tensor ? -1 : find_dtype(name);
  if (dtype >= 0) {
    out->type = parse_tensor(p, dtype, true);
  } else if (is_tensor && !p->has_aliases) {
    out->type = parse_tensor(p, -1, false);
  } else if (!is_tensor && str_ends_with(name, "Tensor") &&
             (dtype = find_dtype(str_slice(name, 0, name.length - 6))) >= 0) {
    out->type = parse_tensor(p, dtype, false);
  } else if (!find_named(name, out) && !(out->type = parse_generic(p, name, depth))) {
    bool is_var = str_find_char(name, '.') < 0 && name.data[0] >= 'a' && name.data[0] <= 'z';
    out->type = is_var ? type_var(p->store, name) : resolve(p, name);
  }
}

/* ---- alias annotations ---- */

static uint32_t parse_alias_set(TypeParser *p) {
  uint32_t set = 0;
  do {
    if (type_parser_take(p, '*')) {
      set |= ALIAS_WILDCARD;
      continue;
    }
    Str letter = type_parser_name(p, "a letter");
    if (letter.length != 1 || letter.data[0] < 'a' || letter.data[0] > 'z') type_parser_fail(p, "one letter a to z");
    set |= 1u << (letter.data[0] - 'a');
  } while (type_parser_take(p, '|'));
  return set;
}

/* At '('. */
static void parse_alias(TypeParser *p, ParsedType *out) {
  type_parser_advance(p);
  out->has_alias = true;
  out->alias.before = parse_alias_set(p);
  out->alias.is_write = type_parser_take(p, '!');
  if (type_parser_take(p, TK_ARROW)) out->alias.after = parse_alias_set(p);
  type_parser_expect(p, ')', ")");
}

static void parse(TypeParser *p, ParsedType *out, int depth) {
  *out = (ParsedType){.type = NULL};
  if (depth > MAX_NESTING) type_parser_fail(p, "less nesting");
  parse_base(p, out, depth);
  for (int suffixes = 0;; suffixes++) {
    if (suffixes > MAX_NESTING) type_parser_fail(p, "less nesting");
    if (p->has_aliases && p->token.kind == '(') {
      parse_alias(p, out);
    } else if (type_parser_take(p, '?')) {
      out->type = type_optional(p->store, out->type);
    } else if (type_parser_take(p, '[')) {
      if (p->token.kind == TK_NUMBER) out->broadcast_n = (int32_t)parse_int(p);
      type_parser_expect(p, ']', "]");
      out->type = type_list(p->store, out->type);
      out->alias = (AliasInfo){.contained = out->alias.before, .contained_write = out->alias.is_write};
    } else {
      return;
    }
  }
}

void type_parse(TypeParser *parser, ParsedType *out) {
  parse(parser, out, 0);
}
