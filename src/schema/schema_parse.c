/* Parser of schema lines, on the type parser. */
#include <assert.h>

#include "schema/type_parse.h"

typedef VEC(Argument) Arguments;

typedef struct SchemaParser {
  TypeParser types; /* first: the functions below see either */
  Str text;
  FunctionSchema *schema;
  VEC(IValue) defaults; /* whole ones, to be released when the rest does not parse; a list counts with its items */
} SchemaParser;

/* The text between the quotes with its C escapes resolved, in the arena. */
static Str unquote(TypeParser *p, Str literal) {
  if (literal.length < 2) type_parser_fail(p, "a plain string");
  static const char from[] = "abfnrtv", to[] = "\a\b\f\n\r\t\v";
  char *text = arena_alloc(p->arena, literal.length);
  size_t length = 0;
  for (size_t i = 1; i + 1 < literal.length; i++) {
    char c = literal.data[i];
    if (c == '\\' && i + 2 < literal.length) {
      c = literal.data[++i];
      const char *place = memchr(from, c, sizeof from - 1);
      if (place) c = to[place - from];
    }
    text[length++] = c;
  }
  return (Str){text, length};
}

static void check(TypeParser *p, Status status) {
  if (status != OK) catch_throw(p->arena->catch_point, status);
}

static IValue parse_number(TypeParser *p, bool negative) {
  Str text = type_parser_text(p);
  int64_t integer;
  double real;
  IValue value;
  if (str_to_int64(text, 10, &integer))
    value = ivalue_int(negative ? -integer : integer);
  else if (str_to_double(text, &real))
    value = ivalue_float(negative ? -real : real);
  else
    type_parser_fail(p, "a number");
  type_parser_advance(p);
  return value;
}

/* Constants that PyTorch's declarations name. */
static bool parse_constant(Str name, IValue *out) {
  static const struct {
    const char *name;
    int64_t value;
  } constants[] = {{"Mean", 1},
                   {"Sum", 2},
                   {"contiguous_format", FORMAT_CONTIGUOUS},
                   {"preserve_format", FORMAT_PRESERVE},
                   {"long", DTYPE_INT64},
                   {"strided", 0}};
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
    if (!str_is(name, constants[i].name)) continue;
    *out = ivalue_int(constants[i].value);
    return true;
  }
  return false;
}

/* Makes place for a default before it is made, so that keeping it can't fail. */
static SchemaParser *reserve_default(TypeParser *p) {
  SchemaParser *parser = (SchemaParser *)p;
  vec_arena_reserve(p->arena, &parser->defaults, parser->defaults.length + 1);
  return parser;
}

static IValue keep_default(SchemaParser *parser, IValue value) {
  assert(parser->defaults.length < parser->defaults.capacity);
  parser->defaults.data[parser->defaults.length++] = value;
  return value;
}

static List *new_default_list(TypeParser *p, const Type *element) {
  SchemaParser *parser = reserve_default(p);
  List *list;
  check(p, list_new(element, 0, &list));
  return keep_default(parser, ivalue_list(list)).list;
}

static IValue parse_default(TypeParser *p, const Type *type, int32_t broadcast_n);

static IValue parse_default_list(TypeParser *p, const Type *element) {
  List *list = new_default_list(p, element);
  size_t kept = ((SchemaParser *)p)->defaults.length;
  type_parser_expect(p, '[', "[");
  while (p->token.kind != ']') {
    if (list->length) type_parser_expect(p, ',', ",");
    IValue item = parse_default(p, element, 0);
    ((SchemaParser *)p)->defaults.length = kept; /* the list keeps it */
    check(p, list_append(list, item));
  }
  type_parser_advance(p);
  return ivalue_list(list);
}

static IValue parse_scalar_default(TypeParser *p) {
  IValue value;
  TokenKind kind = p->token.kind;
  switch (kind) {
    case TK_NONE:
      value = IVALUE_NONE;
      break;
    case TK_TRUE:
    case TK_FALSE:
      value = ivalue_bool(kind == TK_TRUE);
      break;
    case TK_STRINGLITERAL: {
      SchemaParser *parser = reserve_default(p);
      check(p, ivalue_from_str(unquote(p, type_parser_text(p)), &value));
      keep_default(parser, value);
      break;
    }
    case '-':
      type_parser_advance(p);
      return parse_number(p, true);
    case TK_NUMBER:
      return parse_number(p, false);
    case TK_IDENT:
      if (parse_constant(type_parser_text(p), &value)) break;
      __attribute__((fallthrough));
    default:
      type_parser_fail(p, "a default value");
  }
  type_parser_advance(p);
  return value;
}

/* A default as the parameter's type reads it: `int[2] padding=0` is [0, 0]. */
static IValue parse_default(TypeParser *p, const Type *type, int32_t broadcast_n) {
  if (type->kind == TYPE_OPTIONAL) {
    if (type_parser_take(p, TK_NONE)) return IVALUE_NONE;
    type = type->elements[0];
  }
  if (type->kind == TYPE_LIST && p->token.kind == '[') return parse_default_list(p, type->elements[0]);
  IValue value = parse_scalar_default(p);
  if (type->kind == TYPE_LIST && broadcast_n > 0 && ivalue_is_number(value)) {
    List *list = new_default_list(p, type->elements[0]);
    for (int32_t i = 0; i < broadcast_n; i++) check(p, list_append(list, value));
    return ivalue_list(list);
  }
  if (type->kind == TYPE_FLOAT && value.tag == TAG_INT) value = ivalue_float((double)value.i);
  if (!ivalue_is_instance(value, type)) type_parser_fail(p, "a default value of the parameter's type");
  return value;
}

static void parse_type_into(TypeParser *p, Argument *argument) {
  ParsedType parsed;
  type_parse(p, &parsed);
  argument->type = parsed.type;
  argument->broadcast_n = parsed.broadcast_n;
  argument->int_kind = parsed.int_kind;
  argument->dynamic_dtype = parsed.int_kind != INT_PLAIN && parsed.int_kind != INT_SYM;
  if (parsed.has_alias) {
    AliasInfo *alias = ARENA_NEW(p->arena, AliasInfo);
    *alias = parsed.alias;
    argument->alias = alias;
  }
}

static bool is_written(const Argument *argument) {
  return argument->alias && (argument->alias->is_write || argument->alias->contained_write);
}

static Str copy_name(TypeParser *p, Str name) {
  return (Str){arena_strndup(p->arena, name.data, name.length), name.length};
}

static void parse_parameters(TypeParser *p, FunctionSchema *schema) {
  Arguments arguments = {0};
  bool kwarg_only = false;
  type_parser_expect(p, '(', "(");
  while (p->token.kind != ')') {
    if (arguments.length || kwarg_only) type_parser_expect(p, ',', ", or )");
    if (schema->is_vararg) type_parser_fail(p, ") after ...");
    if (type_parser_take(p, '*')) {
      if (kwarg_only) type_parser_fail(p, "one *");
      kwarg_only = true;
      if (p->token.kind != ',') type_parser_fail(p, "a parameter after *");
      continue;
    }
    if (type_parser_take(p, TK_DOTS)) {
      schema->is_vararg = true;
      continue;
    }
    Argument argument = {.kwarg_only = kwarg_only};
    parse_type_into(p, &argument);
    argument.name = copy_name(p, type_parser_name(p, "a parameter's name"));
    if (type_parser_take(p, '=')) {
      argument.has_default = true;
      argument.default_value = parse_default(p, argument.type, argument.broadcast_n);
    }
    argument.is_out = kwarg_only && is_written(&argument);
    schema->is_mutable |= is_written(&argument);
    schema->has_out |= argument.is_out;
    vec_arena_push(p->arena, &arguments, argument);
    if ((str_is(argument.name, "train") || str_is(argument.name, "training")) && arguments.length <= UINT8_MAX)
      schema->training = (uint8_t)arguments.length;
  }
  type_parser_advance(p);
  schema->arguments = arguments.data;
  schema->argument_count = (uint32_t)arguments.length;
}

static void parse_return(TypeParser *p, Arguments *returns) {
  Argument result = {.kwarg_only = false};
  parse_type_into(p, &result);
  if (p->token.kind == TK_IDENT)
    result.name = copy_name(p, type_parser_name(p, "a name"));
  else
    result.name = STR("");
  vec_arena_push(p->arena, returns, result);
}

static void parse_returns(TypeParser *p, FunctionSchema *schema) {
  Arguments returns = {0};
  type_parser_expect(p, TK_ARROW, "->");
  if (type_parser_take(p, TK_DOTS)) {
    schema->is_varret = true;
  } else if (type_parser_take(p, '(')) {
    while (p->token.kind != ')') {
      if (returns.length) type_parser_expect(p, ',', ", or )");
      if (type_parser_take(p, TK_DOTS))
        schema->is_varret = true;
      else
        parse_return(p, &returns);
    }
    type_parser_advance(p);
  } else {
    parse_return(p, &returns);
  }
  schema->returns = returns.data;
  schema->return_count = (uint32_t)returns.length;
}

/* namespace::name.overload */
static void parse_name(TypeParser *p, FunctionSchema *schema) {
  Str name = type_parser_name(p, "an operator's name");
  while (p->token.kind == ':') {
    type_parser_advance(p);
    type_parser_expect(p, ':', "::");
    Str part = type_parser_name(p, "a name after ::");
    name.length = (size_t)(part.data + part.length - name.data);
  }
  schema->name = copy_name(p, name);
  schema->overload_name = type_parser_take(p, '.') ? copy_name(p, type_parser_name(p, "an overload's name")) : STR("");
}

static void parse_line(void *argument) {
  SchemaParser *parser = argument;
  TypeParser *p = &parser->types;
  type_parser_init(p, p->arena, p->store, parser->text);
  p->has_aliases = true;
  parser->schema = ARENA_NEW(p->arena, FunctionSchema);
  parse_name(p, parser->schema);
  parse_parameters(p, parser->schema);
  parse_returns(p, parser->schema);
  if (p->token.kind != TK_EOF && p->token.kind != TK_NEWLINE) type_parser_fail(p, "the end");
}

FunctionSchema *schema_parse(Arena *arena, TypeStore *store, Str text) {
  SchemaParser parser = {.types = {.arena = arena, .store = store}, .text = text};
  Status status = arena_protect(arena, parse_line, &parser);
  if (status == OK) return parser.schema;
  for (size_t i = 0; i < parser.defaults.length; i++) ivalue_release(parser.defaults.data[i]);
  catch_throw(arena->catch_point, status);
}
