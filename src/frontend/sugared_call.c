/* What can be called: operators, functions, methods, classes, casts, exceptions; and the names of the language that are
 * always known. */
#include "frontend/compilation.h"

#include <assert.h>

#include "frontend/container.h"
#include "frontend/suggest.h"

#define NEW_SUGARED(c, T, kind_)      \
  T *s = ARENA_NEW(&(c)->scratch, T); \
  s->base.kind = &(kind_)

/* ---- operators ---- */

typedef struct SugaredBuiltin {
  SugaredValue base; /* symbol */
  bool has_self;
  NamedValue self;
} SugaredBuiltin;

static SugaredValue *builtin_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                  uint32_t binders) {
  (void)binders;
  const SugaredBuiltin *b = (const SugaredBuiltin *)self;
  CallArguments call = *arguments;
  if (b->has_self) call.self = &b->self;
  return sugared_value(e->c, emit_builtin_call(e, range, self->symbol, &call));
}

const SugaredKind SUGARED_BUILTIN = {.name = "builtin", .call = builtin_call};

SugaredValue *sugared_builtin(Compilation *c, Symbol name) {
  NEW_SUGARED(c, SugaredBuiltin, SUGARED_BUILTIN);
  s->base.symbol = name;
  return &s->base;
}

SugaredValue *sugared_builtin_method(Compilation *c, Symbol name, Value *receiver, SourceRange range) {
  SugaredBuiltin *s = (SugaredBuiltin *)sugared_builtin(c, name);
  s->has_self = true;
  s->self = named_argument(STR("self"), receiver, range);
  return &s->base;
}

/* ---- functions ---- */

typedef struct SugaredFunction {
  SugaredValue base;
  uint32_t count; /* overloads */
  Function *const *functions;
  SugaredValue *otherwise; /* called when no overload fits; NULL: that is an error */
} SugaredFunction;

void function_require(Emitter *e, SourceRange range, Function *function) {
  if (function->graph || !function->ensure_defined) return;
  if (function->is_compiling)
    compilation_fail(e->c, range, "function '" STR_FMT "' is called recursively. Recursive calls are not supported",
                     STR_ARG(function->name));
  CompileFrame frame = {e->c->frame, e->function->name, range};
  e->c->frame = &frame;
  function->ensure_defined(function, e->c);
  e->c->frame = frame.outer;
}

static Value *emit_function_call(Emitter *e, SourceRange range, Function *function, const MatchedSchema *match) {
  assert(function->schema);
  Value *constant = emit_typed(e, range, SYM_prim_Constant, 0, NULL, type_function(e->store, function));
  node_set_string(constant->node, SYM_attr_name, str_after_last(function->name, '.'));
  Value **inputs = ARENA_ARRAY(e->arena, Value *, match->input_count + 1);
  inputs[0] = constant;
  for (uint32_t i = 0; i < match->input_count; i++) inputs[i + 1] = match->inputs[i];
  return emit_typed(e, range, SYM_prim_CallFunction, match->input_count + 1, inputs, match->return_types[0]);
}

static SugaredValue *function_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                   uint32_t binders) {
  assert(((const SugaredFunction *)self)->count > 0);
  const SugaredFunction *f = (const SugaredFunction *)self;
  const FunctionSchema **schemas = ARENA_ARRAY(e->arena, const FunctionSchema *, f->count);
  for (uint32_t i = 0; i < f->count; i++) {
    function_require(e, range, f->functions[i]);
    schemas[i] = f->functions[i]->schema;
    if (!schemas[i])
      compilation_fail(e->c, range, "function '" STR_FMT "' could not be compiled", STR_ARG(f->functions[i]->name));
  }
  MatchedSchema match;
  uint32_t chosen = 0;
  for (uint32_t i = 0; f->otherwise && i < 2 * f->count; i++) {
    chosen = i % f->count;
    if (schema_try_match(e->graph, schemas[chosen], range, arguments, i >= f->count, NULL, &match))
      return sugared_value(e->c, emit_function_call(e, range, f->functions[chosen], &match));
  }
  if (f->otherwise) return sugared_call(f->otherwise, e, range, arguments, binders);
  if (f->count == 1)
    match = schema_match(e->graph, schemas[0], range, arguments);
  else
    chosen = schemas_match(e->graph, f->count, schemas, range, arguments, &match);
  return sugared_value(e->c, emit_function_call(e, range, f->functions[chosen], &match));
}

static Value *function_as_value(SugaredValue *self, Emitter *e, SourceRange range) {
  const SugaredFunction *f = (const SugaredFunction *)self;
  if (f->count != 1) compilation_fail(e->c, range, "An overloaded function can't be used as a value");
  function_require(e, range, f->functions[0]);
  Value *constant = emit_typed(e, range, SYM_prim_Constant, 0, NULL, type_function(e->store, f->functions[0]));
  node_set_string(constant->node, SYM_attr_name, str_after_last(f->functions[0]->name, '.'));
  return constant;
}

const SugaredKind SUGARED_FUNCTION = {.name = "function", .call = function_call, .as_value = function_as_value};

SugaredValue *sugared_overloads(Compilation *c, uint32_t count, Function *const *functions) {
  assert(count > 0);
  NEW_SUGARED(c, SugaredFunction, SUGARED_FUNCTION);
  Function **copy = ARENA_ARRAY(&c->scratch, Function *, count);
  memcpy(copy, functions, count * sizeof *copy);
  s->count = count;
  s->functions = copy;
  s->base.function = copy[0];
  SugaredValue *result = &s->base;
  return result;
}

SugaredValue *sugared_function(Compilation *c, Function *function) {
  return sugared_overloads(c, 1, &function);
}

Value *sugared_call_from(Compilation *c, Graph *graph, const char *caller, SugaredValue *s, SourceRange range,
                         const CallArguments *arguments) {
  Function function = {.name = str_from(caller)};
  Emitter e = {.c = c, .arena = graph->arena, .store = graph->store, .graph = graph, .function = &function};
  for (int i = 0; i < 2; i++) ptrmap_init(&e.numbers[i], graph->arena);
  return sugared_as_value(sugared_call(s, &e, range, arguments, 1), &e, range);
}

SugaredValue *sugared_prelude_or(Compilation *c, Str module, Str name, SugaredValue *otherwise) {
  SugaredValue *found = prelude_find(c, module, name);
  if (!found || found->kind != &SUGARED_FUNCTION) return otherwise;
  ((SugaredFunction *)found)->otherwise = otherwise;
  return found;
}

/* ---- methods ---- */

typedef struct SugaredMethod {
  SugaredValue base;
  Value *self;
  Str name;
} SugaredMethod;

static const FunctionSchema *interface_method(const InterfaceType *interface, Str name) {
  for (size_t i = 0; i < interface->methods.length; i++)
    if (str_equal(interface->methods.data[i]->name, name)) return interface->methods.data[i];
  return NULL;
}

/* `name` and what @torch.jit._overload_method made beside it: name__0, name__1, ... */
static uint32_t method_overloads(Emitter *e, ClassType *c, Str name, Function ***out) {
  VEC(Function *) found = {0};
  for (uint32_t i = 0;; i++) {
    Function *overload = class_type_find_method(c, str_from(arena_printf(e->arena, STR_FMT "__%u", STR_ARG(name), i)));
    if (!overload) break;
    vec_arena_push(e->arena, &found, overload);
  }
  if (!found.length) {
    Function *method = class_type_find_method(c, name);
    if (method) vec_arena_push(e->arena, &found, method);
  }
  *out = found.data;
  return (uint32_t)found.length;
}

Value *emit_method_call(Emitter *e, SourceRange range, Value *self, Str name, const CallArguments *arguments) {
  NamedValue *positional = ARENA_ARRAY(e->arena, NamedValue, arguments->count + 1);
  positional[0] = named_argument(STR("self"), self, range);
  for (uint32_t i = 0; i < arguments->count; i++) positional[i + 1] = arguments->positional[i];
  CallArguments call = {.count = arguments->count + 1,
                        .positional = positional,
                        .keyword_count = arguments->keyword_count,
                        .keywords = arguments->keywords};
  MatchedSchema match;
  if (self->type->kind == TYPE_INTERFACE) {
    const FunctionSchema *schema = interface_method(self->type->interface_type, name);
    if (!schema)
      compilation_fail(e->c, range, "%s has no method '" STR_FMT "'", type_text(e->c, self->type), STR_ARG(name));
    match = schema_match(e->graph, schema, range, &call);
  } else {
    Function **methods;
    uint32_t count = method_overloads(e, self->type->class_type, name, &methods), chosen = 0;
    if (!count)
      compilation_fail(e->c, range, "'%s' object has no attribute or method '" STR_FMT "'.",
                       type_text(e->c, self->type), STR_ARG(name));
    const FunctionSchema **schemas = ARENA_ARRAY(e->arena, const FunctionSchema *, count);
    for (uint32_t i = 0; i < count; i++) {
      if (methods[i]->is_compiling && !methods[i]->graph)
        compilation_fail(e->c, range, "method '" STR_FMT "' is called recursively. Recursive calls are not supported",
                         STR_ARG(methods[i]->name));
      function_require(e, range, methods[i]);
      schemas[i] = methods[i]->schema;
      if (!schemas[i])
        compilation_fail(e->c, range, "method '" STR_FMT "' could not be compiled", STR_ARG(methods[i]->name));
    }
    if (count == 1)
      match = schema_match(e->graph, schemas[0], range, &call);
    else
      chosen = schemas_match(e->graph, count, schemas, range, &call, &match);
    name = str_after_last(methods[chosen]->name, '.');
  }
  Value *result = emit_typed(e, range, SYM_prim_CallMethod, match.input_count, match.inputs, match.return_types[0]);
  node_set_string(result->node, SYM_attr_name, name);
  return result;
}

static SugaredValue *method_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                 uint32_t binders) {
  (void)binders;
  const SugaredMethod *m = (const SugaredMethod *)self;
  return sugared_value(e->c, emit_method_call(e, range, m->self, m->name, arguments));
}

const SugaredKind SUGARED_METHOD = {.name = "method", .call = method_call};

SugaredValue *sugared_method(Compilation *c, Value *self, Str name) {
  NEW_SUGARED(c, SugaredMethod, SUGARED_METHOD);
  s->self = self;
  s->name = name;
  return &s->base;
}

/* ---- types: classes, named tuples, enums ---- */

static SugaredValue *named_tuple_call(Emitter *e, SourceRange range, const Type *type, const CallArguments *arguments) {
  FunctionSchema *schema = ARENA_NEW(e->arena, FunctionSchema);
  schema->name = type->name;
  schema->argument_count = type->count;
  schema->arguments = ARENA_ARRAY(e->arena, Argument, type->count + 1);
  const IValue *defaults = named_tuple_defaults(e->c, type);
  for (uint32_t i = 0; i < type->count; i++) {
    schema->arguments[i] = (Argument){.name = type->field_names[i], .type = type->elements[i]};
    if (defaults && (defaults[i].tag != TAG_NONE || defaults[i].extra)) {
      schema->arguments[i].has_default = true;
      schema->arguments[i].default_value = defaults[i];
      schema->arguments[i].default_value.extra = 0;
    }
  }
  MatchedSchema match = schema_match(e->graph, schema, range, arguments);
  return sugared_value(e->c, emit_typed(e, range, SYM_prim_TupleConstruct, match.input_count, match.inputs, type));
}

static SugaredValue *class_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                uint32_t binders) {
  (void)binders;
  const Type *type = self->type;
  if (type->kind == TYPE_TUPLE && type->field_names) return named_tuple_call(e, range, type, arguments);
  if (type->kind == TYPE_ENUM) {
    if (arguments->count != 1 || arguments->keyword_count)
      compilation_fail(e->c, range, "An enum is called with one value");
    compilation_fail(e->c, range, "Enum %s can't be looked up by value in TorchScript; name its member instead",
                     type_text(e->c, type));
  }
  if (type->kind != TYPE_CLASS) compilation_fail(e->c, range, "%s can't be instantiated", type_text(e->c, type));
  Value *object = emit_typed(e, range, SYM_prim_CreateObject, 0, NULL, type);
  if (!class_type_find_method(type->class_type, STR("__init__")))
    compilation_fail(e->c, range, "Class %s does not have an __init__ function defined", type_text(e->c, type));
  emit_method_call(e, range, object, STR("__init__"), arguments);
  return sugared_value(e->c, object);
}

/* Class.method: called with the object first. */
static SugaredValue *unbound_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                  uint32_t binders) {
  (void)binders;
  const SugaredMethod *m = (const SugaredMethod *)self;
  if (!arguments->count)
    compilation_fail(e->c, range, "'" STR_FMT "' needs an object as its first argument", STR_ARG(m->name));
  Value *object = arguments->positional[0].value;
  if (object->type->kind != TYPE_CLASS)
    compilation_fail(e->c, range, "'" STR_FMT "' needs an object as its first argument but got %s", STR_ARG(m->name),
                     type_text(e->c, object->type));
  CallArguments rest = {.count = arguments->count - 1,
                        .positional = arguments->positional + 1,
                        .keyword_count = arguments->keyword_count,
                        .keywords = arguments->keywords};
  return sugared_value(e->c, emit_method_call(e, range, object, m->name, &rest));
}
static const SugaredKind SUGARED_UNBOUND = {.name = "method", .call = unbound_call};

static SugaredValue *class_static_attr(SugaredValue *self, Emitter *e, SourceRange range, Str name) {
  const Type *type = self->type;
  if (type->kind == TYPE_ENUM) {
    IValue value;
    if (enum_member(e->c, type, name, &value)) {
      graph_hold(e->graph, value);
      return sugared_value(e->c, emit_constant(e, range, value));
    }
    Suggestion similar;
    suggestion_start(&similar, name);
    for (uint32_t i = 0; i < type->enum_type->count; i++) suggestion_offer(&similar, type->enum_type->names[i]);
    const char *hint = suggestion_text(&similar, e->c);
    compilation_fail(e->c, range, "%s has no attribute '" STR_FMT "'%s%s", type_text(e->c, type), STR_ARG(name),
                     *hint ? "." : "", hint);
  }
  if (type->kind != TYPE_CLASS) return NULL;
  ClassType *c = type->class_type;
  for (size_t i = 0; i < c->static_methods.length; i++)
    if (str_equal(str_after_last(c->static_methods.data[i]->name, '.'), name))
      return sugared_function(e->c, c->static_methods.data[i]);
  Function *hook = class_type_find_hook(c, name);
  if (hook) return sugared_function(e->c, hook);
  if (str_is(name, "__new__")) return sugared_special_form(e->c, FORM_CREATE_OBJECT);
  if (class_type_find_method(c, name)) {
    SugaredValue *unbound = sugared_method(e->c, NULL, name);
    unbound->kind = &SUGARED_UNBOUND;
    return unbound;
  }
  ptrdiff_t constant = class_type_find_constant(c, name);
  if (constant >= 0) return sugared_constant(e->c, *c->constants.data[constant].value);
  return NULL;
}

static SugaredValue *class_iter(SugaredValue *self, Emitter *e, SourceRange range) {
  const Type *type = self->type;
  if (type->kind != TYPE_ENUM) compilation_fail(e->c, range, "%s is not iterable", type_text(e->c, type));
  uint32_t count = type->enum_type->count;
  Value **members = ARENA_ARRAY(e->arena, Value *, count + 1);
  for (uint32_t i = 0; i < count; i++) members[i] = class_static_attr(self, e, range, type->enum_type->names[i])->value;
  return sugared_value(e->c, emit_list(e, range, type, count, members));
}

static const Type *class_as_type(SugaredValue *self, Compilation *c) {
  (void)c;
  return self->type;
}

const SugaredKind SUGARED_CLASS = {
    .name = "class", .call = class_call, .attr = class_static_attr, .iter = class_iter, .as_type = class_as_type};

SugaredValue *sugared_class(Compilation *c, const Type *type) {
  SugaredValue *s = ARENA_NEW(&c->scratch, SugaredValue);
  s->kind = &SUGARED_CLASS;
  s->type = type;
  return s;
}

/* ---- casts and methods that stand in for builtins ---- */

typedef struct SugaredCast {
  SugaredValue base; /* symbol */
  const Type *type;
  const char *method; /* of classes */
} SugaredCast;

static SugaredValue *cast_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                               uint32_t binders) {
  (void)binders;
  const SugaredCast *cast = (const SugaredCast *)self;
  if (arguments->count == 1 && !arguments->keyword_count) {
    Value *value = arguments->positional[0].value;
    if (value->type->kind == TYPE_CLASS && cast->method)
      return sugared_value(e->c, emit_method_call(e, range, value, str_from(cast->method), &(CallArguments){0}));
    if (type_is_subtype(value->type, cast->type, NULL)) return sugared_value(e->c, value);
    bool container =
        value->type->kind == TYPE_LIST || value->type->kind == TYPE_STRING || value->type->kind == TYPE_DICT;
    if (cast->type->kind == TYPE_BOOL && container) {
      Value *inputs[2] = {emit_builtin(e, range, SYM_aten_len, 1, &value), emit_int(e, range, 0)};
      return sugared_value(e->c, emit_builtin(e, range, SYM_aten_gt, 2, inputs));
    }
  }
  if (arguments->count == 0 && !arguments->keyword_count && cast->type->kind == TYPE_STRING)
    return sugared_value(e->c, emit_string(e, range, STR("")));
  return sugared_value(e->c, emit_builtin_call(e, range, self->symbol, arguments));
}

static const Type *cast_as_type(SugaredValue *self, Compilation *c) {
  (void)c;
  return ((SugaredCast *)self)->type;
}

static const SugaredKind SUGARED_CAST = {.name = "type", .call = cast_call, .as_type = cast_as_type};

SugaredValue *sugared_cast(Compilation *c, const Type *type, Symbol kind, const char *magic) {
  NEW_SUGARED(c, SugaredCast, SUGARED_CAST);
  s->base.symbol = kind;
  s->type = type;
  s->method = magic;
  return &s->base;
}

typedef struct SugaredMagic {
  SugaredValue base;
  const char *method;
  SugaredValue *otherwise;
} SugaredMagic;

static SugaredValue *magic_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                uint32_t binders) {
  const SugaredMagic *magic = (const SugaredMagic *)self;
  bool is_len = arguments->count == 1 && !strcmp(magic->method, "__len__");
  if (is_len && container_of(arguments->positional[0].value->type) &&
      !class_type_find_method(arguments->positional[0].value->type->class_type, STR("__len__")))
    return sugared_value(e->c, container_len(e, range, arguments->positional[0].value));
  if (arguments->count && arguments->positional[0].value->type->kind == TYPE_CLASS) {
    CallArguments rest = {.count = arguments->count - 1,
                          .positional = arguments->positional + 1,
                          .keyword_count = arguments->keyword_count,
                          .keywords = arguments->keywords};
    return sugared_value(e->c,
                         emit_method_call(e, range, arguments->positional[0].value, str_from(magic->method), &rest));
  }
  return sugared_call(magic->otherwise, e, range, arguments, binders);
}

static const SugaredKind SUGARED_MAGIC = {.name = "builtin", .call = magic_call};

SugaredValue *sugared_magic(Compilation *c, const char *method, SugaredValue *otherwise) {
  NEW_SUGARED(c, SugaredMagic, SUGARED_MAGIC);
  s->method = method;
  s->otherwise = otherwise;
  return &s->base;
}

/* ---- exceptions ---- */

typedef struct SugaredException {
  SugaredValue base;
  Str name;       /* "builtins.ValueError" */
  bool is_assert; /* the name goes into the message instead */
} SugaredException;

static Value *emit_message(Emitter *e, SourceRange range, const CallArguments *arguments) {
  if (!arguments->count) return emit_string(e, range, STR(""));
  if (arguments->count == 1) return arguments->positional[0].value;
  Value **values = ARENA_ARRAY(e->arena, Value *, arguments->count);
  for (uint32_t i = 0; i < arguments->count; i++) values[i] = arguments->positional[i].value;
  return emit_tuple(e, range, arguments->count, values);
}

static SugaredValue *exception_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                    uint32_t binders) {
  (void)binders;
  const SugaredException *exception = (const SugaredException *)self;
  SugaredMessage *message = ARENA_NEW(e->arena, SugaredMessage);
  message->base.kind = &SUGARED_EXCEPTION_MESSAGE;
  if (exception->is_assert) {
    message->message = emit_string(e, range, str_from(arena_printf(e->arena, STR_FMT ": ", STR_ARG(exception->name))));
    for (uint32_t i = 0; i < arguments->count; i++) {
      Value *inputs[2] = {message->message, arguments->positional[i].value};
      if (inputs[1]->type->kind != TYPE_STRING) inputs[1] = emit_builtin(e, range, SYM_aten_str, 1, &inputs[1]);
      message->message = emit_builtin(e, range, SYM_aten_add, 2, inputs);
    }
  } else {
    message->message = emit_message(e, range, arguments);
    message->class_name = emit_string(e, range, exception->name);
  }
  return &message->base;
}

const SugaredKind SUGARED_EXCEPTION = {.name = "exception", .call = exception_call};
const SugaredKind SUGARED_EXCEPTION_MESSAGE = {.name = "exception message"};

SugaredValue *sugared_exception(Compilation *c, Str qualified_name) {
  NEW_SUGARED(c, SugaredException, SUGARED_EXCEPTION);
  s->name = qualified_name;
  return &s->base;
}

static SugaredValue *sugared_assertion(Compilation *c) {
  SugaredException *s = (SugaredException *)sugared_exception(c, STR("AssertionError"));
  s->is_assert = true;
  return &s->base;
}

/* ---- closures and special forms ---- */

const SugaredKind SUGARED_CLOSURE = {.name = "closure"};
SugaredValue *sugared_closure(Compilation *c, Value *value) {
  SugaredValue *s = ARENA_NEW(&c->scratch, SugaredValue);
  s->kind = &SUGARED_CLOSURE;
  s->value = value;
  return s;
}

static const Type *form_as_type(SugaredValue *self, Compilation *c) {
  (void)c;
  switch (((SugaredForm *)self)->form) {
    case FORM_LIST:
      return TYPE(ANY_LIST);
    case FORM_TUPLE:
      return TYPE(ANY_TUPLE);
    default:
      return NULL;
  }
}
const SugaredKind SUGARED_SPECIAL_FORM = {.name = "special form", .as_type = form_as_type};

SugaredValue *sugared_special_form(Compilation *c, SpecialForm form) {
  NEW_SUGARED(c, SugaredForm, SUGARED_SPECIAL_FORM);
  s->form = form;
  return &s->base;
}
SugaredValue *sugared_legacy_tensor(Compilation *c, DType dtype) {
  SugaredForm *s = (SugaredForm *)sugared_special_form(c, FORM_LEGACY_TENSOR);
  s->dtype = dtype;
  return &s->base;
}
SugaredValue *sugared_tolist(Compilation *c, Value *tensor) {
  SugaredForm *s = (SugaredForm *)sugared_special_form(c, FORM_TOLIST);
  s->self = tensor;
  return &s->base;
}

/* ---- names that are always known ---- */

static const struct {
  const char *name;
  SpecialForm form;
} global_forms[] = {
    {"tuple", FORM_TUPLE},
    {"list", FORM_LIST},
    {"dict", FORM_DICT},
    {"getattr", FORM_GETATTR},
    {"hasattr", FORM_HASATTR},
    {"isinstance", FORM_ISINSTANCE},
    {"range", FORM_RANGE},
    {"enumerate", FORM_ENUMERATE},
    {"zip", FORM_ZIP},
    {"reversed", FORM_REVERSED},
    {"slice", FORM_SLICE},
    {"print", FORM_PRINT},
    {"annotate", FORM_ANNOTATE},
    {"uninitialized", FORM_UNINITIALIZED},
    {"unchecked_cast", FORM_UNCHECKED_CAST},
    {"fork", FORM_FORK},
    {"rangelist", FORM_RANGE},
};
/* The operator, and the class's method that stands in for it. */
static const struct {
  const char *name, *op, *method;
} global_operators[] = {
    {"len", "aten::len", "__len__"},
    {"hex", "aten::hex", "__hex__"},
    {"oct", "aten::oct", "__oct__"},
    {"round", "aten::round", "__round__"},
    {"hash", "aten::hash", "__hash__"},
    {"id", "prim::id", NULL},
    {"min", "prim::min", NULL},
    {"max", "prim::max", NULL},
    {"abs", "prim::abs", "__abs__"},
    {"all", "aten::all", NULL},
    {"any", "aten::any", NULL},
    {"divmod", "aten::divmod", NULL},
    {"sum", "aten::sum", NULL},
    {"ord", "aten::ord", NULL},
    {"chr", "aten::chr", NULL},
    {"bin", "aten::bin", NULL},
    {"pow", "aten::pow", NULL},
    {"sorted", "aten::sorted", NULL},
    {"unwrap_optional", "aten::_unwrap_optional", NULL},
    {"wait", "aten::wait", NULL},
};
static const struct {
  const char *name;
  TypeKind type;
  const char *op, *method;
} global_casts[] = {
    {"float", TYPE_FLOAT, "aten::Float", "__float__"}, {"int", TYPE_INT, "aten::Int", "__int__"},
    {"bool", TYPE_BOOL, "aten::Bool", "__bool__"},     {"str", TYPE_STRING, "aten::str", "__str__"},
    {"complex", TYPE_COMPLEX, "aten::Complex", NULL},  {"_to_tensor", TYPE_TENSOR, "prim::NumToTensor", NULL},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

SugaredValue *builtin_global(Compilation *c, Str name) {
  for (size_t i = 0; i < COUNT(global_forms); i++)
    if (str_is(name, global_forms[i].name)) return sugared_special_form(c, global_forms[i].form);
  for (size_t i = 0; i < COUNT(global_operators); i++) {
    if (!str_is(name, global_operators[i].name)) continue;
    SugaredValue *op = sugared_builtin(c, symbol_intern(str_from(global_operators[i].op)));
    return global_operators[i].method ? sugared_magic(c, global_operators[i].method, op) : op;
  }
  for (size_t i = 0; i < COUNT(global_casts); i++)
    if (str_is(name, global_casts[i].name))
      return sugared_cast(c, type_simple(global_casts[i].type), symbol_intern(str_from(global_casts[i].op)),
                          global_casts[i].method);
  return str_is(name, "AssertionError") ? sugared_assertion(c) : NULL;
}
