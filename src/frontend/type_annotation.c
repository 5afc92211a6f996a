/* Expressions as types: names of typing, builtin generics, `X | None`, strings, dotted names of classes; schemas of
 * defs with the values of their defaults. */
#include "base/stack.h"
#include "call/native_class.h"
#include "frontend/emitter.h"
#include "frontend/suggest.h"
#include "syntax/parser.h"
#include "syntax/view.h"

const char *type_text(Compilation *c, const Type *type) {
  StrBuf buffer = {0};
  type_print_annotation(type, &buffer);
  return arena_take_text(&c->scratch, &buffer).data;
}

const Type *resolver_find_type(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  for (; resolver; resolver = resolver->outer) {
    const Type *type = resolver->resolve_type ? resolver->resolve_type(resolver, c, name, range) : NULL;
    if (type) return type;
  }
  return NULL;
}

SugaredValue *resolver_find_value(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  for (; resolver; resolver = resolver->outer) {
    SugaredValue *value = resolver->resolve_value ? resolver->resolve_value(resolver, c, name, range) : NULL;
    if (value) return value;
  }
  return NULL;
}

/* ---- names ---- */

static const struct {
  const char *name;
  TypeKind kind;
} simple_types[] = {
    {"Tensor", TYPE_TENSOR},        {"int", TYPE_INT},
    {"float", TYPE_FLOAT},          {"bool", TYPE_BOOL},
    {"complex", TYPE_COMPLEX},      {"str", TYPE_STRING},
    {"Device", TYPE_DEVICE},        {"Stream", TYPE_STREAM},
    {"Generator", TYPE_GENERATOR},  {"number", TYPE_NUMBER},
    {"Number", TYPE_NUMBER},        {"None", TYPE_NONE},
    {"NoneType", TYPE_NONE},        {"Any", TYPE_ANY},
    {"Capsule", TYPE_CAPSULE},      {"list", TYPE_ANY_LIST},
    {"tuple", TYPE_ANY_TUPLE},      {"Storage", TYPE_STORAGE},
    {"QScheme", TYPE_QSCHEME},      {"AnyClassType", TYPE_ANY_CLASS},
    {"AnyEnumType", TYPE_ANY_ENUM}, {"Layout", TYPE_INT},
    {"MemoryFormat", TYPE_INT},     {"ScalarType", TYPE_INT},
};
/* Under torch. */
static const struct {
  const char *name;
  TypeKind kind;
} torch_types[] = {
    {"torch.Tensor", TYPE_TENSOR},
    {"torch.device", TYPE_DEVICE},
    {"torch.dtype", TYPE_INT},
    {"torch.Generator", TYPE_GENERATOR},
    {"torch.layout", TYPE_INT},
    {"torch.memory_format", TYPE_INT},
    {"torch.Stream", TYPE_STREAM},
    {"torch.cuda.Stream", TYPE_STREAM},
    {"torch.qscheme", TYPE_QSCHEME},
    {"torch.nn.Parameter", TYPE_TENSOR},
    {"torch.nn.parameter.Parameter", TYPE_TENSOR},
    {"torch.LongTensor", TYPE_TENSOR},
    {"torch.FloatTensor", TYPE_TENSOR},
    {"torch.IntTensor", TYPE_TENSOR},
    {"torch.BoolTensor", TYPE_TENSOR},
    {"torch.DoubleTensor", TYPE_TENSOR},
    {"typing.Any", TYPE_ANY},
    {"numbers.Number", TYPE_NUMBER},
};

static const Type *find_simple(Str name) {
  for (size_t i = 0; i < sizeof simple_types / sizeof *simple_types; i++)
    if (str_is(name, simple_types[i].name)) return type_simple(simple_types[i].kind);
  for (size_t i = 0; i < sizeof torch_types / sizeof *torch_types; i++)
    if (str_is(name, torch_types[i].name)) return type_simple(torch_types[i].kind);
  return NULL;
}

static bool dotted_name(const Tree *expr, StrBuf *out) {
  uint32_t depth = 0;
  const Tree *walk = expr;
  for (; walk->kind == '.'; walk = select_value(walk))
    if (++depth > 64) return false;
  if (walk->kind != TK_VAR) return false;
  strbuf_str(out, var_text(walk));
  for (uint32_t i = depth; i > 0; i--) {
    walk = expr;
    for (uint32_t k = 1; k < i; k++) walk = select_value(walk);
    strbuf_char(out, '.');
    strbuf_str(out, ident_text(select_name(walk)));
  }
  return true;
}

/* The dotted text of an expression, empty when it is none. */
static Str dotted_text(Compilation *c, const Tree *expr) {
  StrBuf buffer = {0};
  if (!dotted_name(expr, &buffer)) strbuf_clear(&buffer);
  return arena_take_text(&c->scratch, &buffer);
}

SugaredValue *dotted_value(Compilation *c, Resolver *resolver, const Tree *expr) {
  if (expr->kind == TK_VAR) {
    SugaredValue *global = builtin_global(c, var_text(expr));
    return global ? global : resolver_find_value(resolver, c, var_text(expr), expr->range);
  }
  if (expr->kind != '.') return NULL;
  SugaredValue *outer = dotted_value(c, resolver, select_value(expr));
  if (!outer) return NULL;
  return sugared_namespace_lookup(outer, c, ident_text(select_name(expr)), expr->range);
}

/* That torch has no such name is no error yet: it is none of a type. */
typedef struct TorchName {
  Resolver *resolver;
  const Tree *expr;
  SugaredValue *value;
} TorchName;
static void find_torch_name(Compilation *c, void *argument) {
  TorchName *name = argument;
  name->value = dotted_value(c, name->resolver, name->expr);
}
static SugaredValue *named_value_of_type(Compilation *c, Resolver *resolver, const Tree *expr) {
  const Tree *root = expr;
  while (root->kind == '.') root = select_value(root);
  if (root == expr || root->kind != TK_VAR || !str_is(var_text(root), "torch")) return dotted_value(c, resolver, expr);
  TorchName name = {.resolver = resolver, .expr = expr};
  Status status = compilation_protect(c, find_torch_name, &name);
  bool has_ended = status && (status->code == ERROR_OUT_OF_MEMORY || status->code == ERROR_CANCELLED ||
                              status->code == ERROR_DEADLINE || status->code == ERROR_BUDGET);
  if (has_ended) catch_throw(&c->catch_point, status); /* nothing was found out */
  status_free(status);
  return name.value;
}

/* torch.classes.quantized.LinearPackedParamsBase, with or without __torch__ before. NULL: no native class. */
static const Type *native_type(Compilation *c, Str name) {
  if (str_starts_with(name, "torch.classes."))
    name = str_from(arena_printf(&c->scratch, "__torch__." STR_FMT, STR_ARG(name)));
  const NativeClass *native = native_class_find(name);
  const Type *type = native ? native_class_type(native) : NULL;
  if (type && type->kind != TYPE_CLASS) catch_throw(&c->catch_point, status_out_of_memory());
  return type;
}

static const Type *named_type(Compilation *c, Resolver *resolver, const Tree *expr) {
  Str name = dotted_text(c, expr);
  if (!name.length) return NULL;
  const Type *type = find_simple(name);
  if (!type) type = resolver_find_type(resolver, c, name, expr->range);
  if (!type) type = native_type(c, name);
  if (type) return type;
  SugaredValue *value = named_value_of_type(c, resolver, expr);
  if (value && value->kind->as_type) type = value->kind->as_type(value, c);
  if (type) return type;
  ptrdiff_t dot = str_rfind_char(name, '.');
  bool typing =
      dot > 0 && (str_is(str_slice(name, 0, (size_t)dot), "typing") || str_is(str_slice(name, 0, (size_t)dot), "t"));
  if (typing) return find_simple(str_slice(name, (size_t)dot + 1, name.length));
  if (str_is(name, "List") || str_is(name, "Dict") || str_is(name, "Optional") || str_is(name, "Tuple"))
    compilation_fail(c, expr->range,
                     "Attempted to use " STR_FMT " without a contained type. Please add a contained type, e.g. " STR_FMT
                     "[%s]",
                     STR_ARG(name), STR_ARG(name), str_is(name, "Dict") ? "int, int" : "int");
  return NULL;
}

/* ---- generics ---- */

typedef enum Generic {
  GENERIC_LIST,
  GENERIC_DICT,
  GENERIC_TUPLE,
  GENERIC_OPTIONAL,
  GENERIC_UNION,
  GENERIC_WRAPPED,
  GENERIC_FINAL
} Generic;
static const struct {
  const char *name;
  Generic generic;
  TypeKind wrapped;
  uint32_t least, most;
} generics[] = {
    {"List", GENERIC_LIST, 0, 1, 1},
    {"list", GENERIC_LIST, 0, 1, 1},
    {"Dict", GENERIC_DICT, 0, 2, 2},
    {"dict", GENERIC_DICT, 0, 2, 2},
    {"Tuple", GENERIC_TUPLE, 0, 0, UINT32_MAX},
    {"tuple", GENERIC_TUPLE, 0, 0, UINT32_MAX},
    {"Optional", GENERIC_OPTIONAL, 0, 1, 1},
    {"Union", GENERIC_UNION, 0, 1, UINT32_MAX},
    {"Future", GENERIC_WRAPPED, TYPE_FUTURE, 1, 1},
    {"RRef", GENERIC_WRAPPED, TYPE_RREF, 1, 1},
    {"Await", GENERIC_WRAPPED, TYPE_AWAIT, 1, 1},
    {"Final", GENERIC_FINAL, 0, 1, 1},
    {"BroadcastingList1", GENERIC_LIST, 0, 1, 1},
    {"BroadcastingList2", GENERIC_LIST, 0, 1, 1},
    {"BroadcastingList3", GENERIC_LIST, 0, 1, 1},
};

void check_dict_key(Compilation *c, SourceRange range, const Type *key) {
  switch (key->kind) {
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_COMPLEX:
    case TYPE_BOOL:
    case TYPE_STRING:
    case TYPE_TENSOR:
    case TYPE_DEVICE:
    case TYPE_ANY:
    case TYPE_VAR:
      return;
    default:
      compilation_fail(c, range,
                       "Cannot create dict for key type '%s', only int, float, complex, Tensor, device, string and "
                       "bool keys are supported",
                       type_text(c, key));
  }
}

static const Type *generic_type(Compilation *c, Resolver *resolver, const Tree *expr) {
  Str name = dotted_text(c, subscript_value(expr));
  ptrdiff_t dot = str_rfind_char(name, '.');
  Str last = str_slice(name, (size_t)(dot + 1), name.length);
  const Tree *indices = subscript_indices(expr);
  TypeStore *store = &c->unit->store;
  for (size_t i = 0; i < sizeof generics / sizeof *generics; i++) {
    if (!str_is(last, generics[i].name)) continue;
    uint32_t count = indices->count;
    bool empty_tuple = count == 1 && indices->children[0]->kind == TK_TUPLE_LITERAL &&
                       tuple_literal_items(indices->children[0])->count == 0;
    if (empty_tuple) count = 0;
    if (count < generics[i].least || count > generics[i].most)
      compilation_fail(c, expr->range, " expected %s %u element type%s but found %u",
                       generics[i].least == generics[i].most ? "exactly" : "at least", generics[i].least,
                       generics[i].least == 1 ? "" : "s", count);
    const Type **elements = ARENA_ARRAY(&c->scratch, const Type *, count + 1);
    for (uint32_t k = 0; k < count; k++) elements[k] = annotation_type(c, resolver, indices->children[k]);
    switch (generics[i].generic) {
      case GENERIC_LIST:
        return type_list(store, elements[0]);
      case GENERIC_DICT:
        check_dict_key(c, expr->range, elements[0]);
        return type_dict(store, elements[0], elements[1]);
      case GENERIC_TUPLE:
        return type_tuple(store, count, elements);
      case GENERIC_OPTIONAL:
        return type_optional(store, elements[0]);
      case GENERIC_UNION:
        return type_union(store, count, elements);
      case GENERIC_WRAPPED:
        return type_wrapped(store, generics[i].wrapped, elements[0]);
      case GENERIC_FINAL:
        return elements[0];
    }
  }
  return NULL;
}

static const Type *either_type(Compilation *c, Resolver *resolver, const Tree *expr) {
  const Type *members[2] = {annotation_type(c, resolver, binary_lhs(expr)),
                            annotation_type(c, resolver, binary_rhs(expr))};
  return type_union(&c->unit->store, 2, members);
}

const Type *annotation_type_or_null(Compilation *c, Resolver *resolver, const Tree *expr) {
  if (STACK_IS_LOW()) compilation_fail(c, expr->range, "This type is nested too deeply");
  switch (expr->kind) {
    case TK_NONE:
      return TYPE(NONE);
    case TK_VAR:
    case '.':
      return named_type(c, resolver, expr);
    case TK_SUBSCRIPT:
      return generic_type(c, resolver, expr);
    case TK_STRINGLITERAL:
      return annotation_type_or_null(c, resolver, parse_string_annotation(&c->scratch, expr));
    case '|':
      return either_type(c, resolver, expr);
    default:
      return NULL;
  }
}

static const char *suggest_type(Compilation *c, Str name) {
  Suggestion s;
  suggestion_start(&s, name);
  for (size_t i = 0; i < sizeof simple_types / sizeof *simple_types; i++)
    suggestion_offer(&s, str_from(simple_types[i].name));
  for (size_t i = 0; i < sizeof torch_types / sizeof *torch_types; i++)
    suggestion_offer(&s, str_from(torch_types[i].name));
  for (size_t i = 0; i < sizeof generics / sizeof *generics; i++) suggestion_offer(&s, str_from(generics[i].name));
  return suggestion_text(&s, c);
}

const Type *require_small_type(Compilation *c, SourceRange range, const Type *type) {
  if (type->parts > TYPE_MAX_PARTS) compilation_fail(c, range, "This type has more than %d parts", TYPE_MAX_PARTS);
  return type;
}

const Type *annotation_type(Compilation *c, Resolver *resolver, const Tree *expr) {
  const Type *type = annotation_type_or_null(c, resolver, expr);
  if (type) return require_small_type(c, expr->range, type);
  if (expr->kind == TK_UNSUPPORTED) unsupported_throw(&c->scratch, expr);
  Str name = expr->kind == TK_STRINGLITERAL ? string_text(expr)
             : expr->kind == TK_SUBSCRIPT   ? dotted_text(c, subscript_value(expr))
                                            : dotted_text(c, expr);
  if (name.length) {
    const char *hint = suggest_type(c, name);
    compilation_fail(c, expr->range, "Unknown type name '" STR_FMT "'%s%s", STR_ARG(name), *hint ? "." : "", hint);
  }
  compilation_fail(c, expr->range, "Expression of type %s cannot be used in a type expression",
                   token_kind_name(expr->kind));
}

/* ---- schemas ---- */

/* BroadcastingList2[int], also within Optional: a single number stands for two. */
static int32_t broadcast_count(Compilation *c, const Tree *annotation) {
  if (annotation->kind != TK_SUBSCRIPT) return 0;
  Str generic = dotted_text(c, subscript_value(annotation));
  if (str_is(generic, "Optional") && subscript_indices(annotation)->count == 1)
    return broadcast_count(c, subscript_indices(annotation)->children[0]);
  return str_starts_with(generic, "BroadcastingList") ? generic.data[generic.length - 1] - '0' : 0;
}

/* A number as the default of such a parameter; takes over and gives a reference. */
static IValue repeat_default(Compilation *c, const Argument *argument, IValue value) {
  if (!argument->broadcast_n || (value.tag != TAG_INT && value.tag != TAG_FLOAT && value.tag != TAG_BOOL)) return value;
  const Type *type = argument->type->kind == TYPE_OPTIONAL ? argument->type->elements[0] : argument->type;
  List *list = NULL;
  Status status = list_new(type->elements[0], (size_t)argument->broadcast_n, &list);
  for (int32_t i = 0; i < argument->broadcast_n && !status; i++) status = list_append(list, value);
  if (status) {
    if (list) ivalue_release(ivalue_list(list));
    catch_throw(&c->catch_point, status);
  }
  return ivalue_list(list);
}

/* What __setstate__ takes where it does not say: what __getstate__ gives. */
static const Type *type_of_state(Compilation *c, const ClassType *self) {
  Function *getstate = class_type_find_method(self, STR("__getstate__"));
  if (!getstate) return TYPE(TENSOR);
  if (getstate->definition) getstate->ensure_defined(getstate, c);
  return getstate->schema && getstate->schema->return_count ? getstate->schema->returns[0].type : TYPE(TENSOR);
}

static _Noreturn void fail_default(Compilation *c, SourceRange range, const Argument *argument, bool is_annotated) {
  if (is_annotated)
    compilation_fail(c, range, "Expected a default value of type %s on parameter \"" STR_FMT "\".",
                     type_text(c, argument->type), STR_ARG(argument->name));
  compilation_fail(c, range,
                   "Expected a default value of type Tensor (inferred) on parameter \"" STR_FMT "\".Because \"" STR_FMT
                   "\" was not annotated with an explicit type it is assumed to be type 'Tensor'.",
                   STR_ARG(argument->name), STR_ARG(argument->name));
}

FunctionSchema *schema_from_def(Compilation *c, Resolver *resolver, const Tree *def, ClassType *self, Str name,
                                bool skip_self) {
  Arena *arena = &c->unit->store.arena;
  const Tree *decl = def_decl(def), *params = decl_params(decl);
  FunctionSchema *schema = ARENA_NEW(arena, FunctionSchema);
  schema->name = (Str){arena_strndup(arena, name.data, name.length), name.length};
  schema->arguments = ARENA_ARRAY(arena, Argument, params->count + 1);
  for (uint32_t i = 0; i < params->count; i++) {
    const Tree *param = params->children[i];
    if (param_name(param)->kind != TK_IDENT) continue;
    if (i == 0 && self && skip_self) continue;
    if (param_marker(param)->kind == TK_STARRED || param_marker(param)->kind == TK_POW)
      compilation_fail(
          c, param->range,
          "Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults");
    Argument *argument = &schema->arguments[schema->argument_count++];
    Str param_text = ident_text(param_name(param));
    argument->name = (Str){arena_strndup(arena, param_text.data, param_text.length), param_text.length};
    const Tree *annotation = option_get(param_type(param)), *value = option_get(param_default(param));
    argument->type = i == 0 && self ? &self->type
                     : annotation   ? annotation_type(c, resolver, annotation)
                     : i == 1 && self && str_is(ident_text(def_name(def)), "__setstate__") ? type_of_state(c, self)
                                                                                           : TYPE(TENSOR);
    argument->kwarg_only = param_marker(param)->kind == TK_TRUE;
    if (!value && !argument->kwarg_only && schema->argument_count > 1 && argument[-1].has_default)
      compilation_fail(c, param->range, "non-default argument follows default argument");
    if (annotation) argument->broadcast_n = broadcast_count(c, annotation);
    if (!value) continue;
    IValue constant;
    if (!default_from_tree(c, resolver, value, argument->type, &constant))
      compilation_fail(c, value->range, "The default value of '" STR_FMT "' must be a constant", STR_ARG(param_text));
    constant = repeat_default(c, argument, constant);
    unit_hold(c->unit, constant);
    if (!default_fits(constant, argument->type) && !(argument->type->kind == TYPE_TENSOR && ivalue_is_none(constant)))
      fail_default(c, def->range, argument, annotation != NULL);
    argument->has_default = true;
    argument->default_value = constant;
  }
  const Tree *result = option_get(decl_return_type(decl));
  if (result) {
    schema->returns = ARENA_NEW(arena, Argument);
    schema->return_count = 1;
    schema->returns[0].type = annotation_type(c, resolver, result);
  }
  return schema;
}

const Type *frontend_parse_type(Compilation *c, Str text, Resolver *resolver) {
  Source *source;
  Status status = source_new(text, "type", 1, &source);
  if (status) catch_throw(&c->catch_point, status);
  unit_hold_source(c->unit, source);
  const Tree *expr = parse_expression(&c->scratch, source, PARSE_ARCHIVE);
  return annotation_type(c, resolver ? resolver : frontend_builtin_resolver(), expr);
}
