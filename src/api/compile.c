/* Compiling texts and trees, alone or into what is there, with names from the caller's resolver. */
#include "api/find.h"
#include "api/trees.h"
#include "base/queue.h"
#include "base/work.h"
#include "frontend/emitter.h"
#include "syntax/grammar.h"

/* ---- the caller's resolver ---- */

typedef struct CallerResolver {
  Resolver resolver; /* first */
  wick_resolve_callback *resolve;
  void *user;
} CallerResolver;

/* false: unknown. */
static bool ask(const CallerResolver *r, Compilation *c, Str name, SourceRange range, wick_name *out) {
  *out = (wick_name){.size = sizeof *out};
  wick_status failed = r->resolve(r->user, arena_strndup(&c->scratch, name.data, name.length), out);
  if (failed)
    compilation_fail(c, range, "the resolver failed for '" STR_FMT "' with status %d", STR_ARG(name), (int)failed);
  if (out->kind > WICK_NAME_ALIAS)
    compilation_fail(c, range, "the resolver answered '" STR_FMT "' with the unknown kind %u", STR_ARG(name),
                     out->kind);
  bool complete = out->kind == WICK_NAME_VALUE                                      ? out->value != NULL
                  : out->kind == WICK_NAME_FUNCTION || out->kind == WICK_NAME_CLASS ? out->module && out->member
                  : out->kind == WICK_NAME_ALIAS                                    ? out->member != NULL
                                                                                    : true;
  if (!complete)
    compilation_fail(c, range, "the resolver answered '" STR_FMT "' without saying what it is", STR_ARG(name));
  return out->kind != WICK_NAME_UNKNOWN;
}

static SugaredValue *held_value(Compilation *c, IValue value, CompilationUnit *unit, Str name, SourceRange range) {
  if (value.tag != TAG_OBJECT && !constant_is_possible(value))
    compilation_fail(c, range,
                     "the resolver answered '" STR_FMT
                     "' with a value that can't be a constant: a tensor that requires "
                     "grad, or something that holds modules, futures or functions",
                     STR_ARG(name));
  const Type *type = ivalue_type(value, &c->unit->store);
  if (type->store == &c->unit->store && type->kind == TYPE_CLASS)
    compilation_fail(c, range,
                     "the resolver answered '" STR_FMT
                     "' with an object of the module that is compiled into, which "
                     "would keep itself alive: methods reach it through self",
                     STR_ARG(name));
  if (unit) unit_use(c->unit, unit);
  unit_hold(c->unit, ivalue_retain(value));
  return sugared_constant(c, value);
}

/* A method with its module. */
typedef struct BoundMethod {
  SugaredValue base;
  SugaredValue *object;
  Str name;
} BoundMethod;
static SugaredValue *bound_call(SugaredValue *self, Emitter *e, SourceRange range, const CallArguments *arguments,
                                uint32_t binders) {
  const BoundMethod *b = (const BoundMethod *)self;
  return sugared_call(sugared_attr(b->object, e, range, b->name), e, range, arguments, binders);
}
static const SugaredKind SUGARED_BOUND = {.name = "method", .call = bound_call};

static SugaredValue *function_of(Compilation *c, const wick_name *answer, Str name, SourceRange range) {
  Function *function;
  const wick_module *module = answer->module;
  Status status = module_find(module, answer->member, &function);
  if (status) catch_throw(&c->catch_point, status_context(status, "the resolver's '" STR_FMT "'", STR_ARG(name)));
  unit_use(c->unit, module->unit);
  if (!module->module) return sugared_function(c, function);
  BoundMethod *b = ARENA_NEW(&c->scratch, BoundMethod);
  b->base.kind = &SUGARED_BOUND;
  b->object = held_value(c, ivalue_object(module->module->object), module->unit, name, range);
  b->name = str_from(arena_strndup(&c->scratch, answer->member, strlen(answer->member)));
  return &b->base;
}

static const Type *class_of(Compilation *c, const wick_name *answer, Str name, SourceRange range) {
  const Type *type = module_find_type(answer->module, answer->member);
  if (!type)
    compilation_fail(c, range,
                     "the resolver answered '" STR_FMT "' with the class '%s', which its module does not have",
                     STR_ARG(name), answer->member);
  unit_use(c->unit, answer->module->unit);
  return type;
}

typedef struct CallerSpace {
  const CallerResolver *resolver;
  Str path;
} CallerSpace;
static SugaredValue *resolved(const CallerResolver *r, Compilation *c, Str name, SourceRange range);
static SugaredValue *space_attr(void *data, Compilation *c, Str name, SourceRange range) {
  const CallerSpace *space = data;
  return resolved(space->resolver, c,
                  str_from(arena_printf(&c->scratch, STR_FMT "." STR_FMT, STR_ARG(space->path), STR_ARG(name))), range);
}

static SugaredValue *resolved(const CallerResolver *r, Compilation *c, Str name, SourceRange range) {
  wick_name answer;
  if (!ask(r, c, name, range, &answer)) return NULL;
  switch (answer.kind) {
    case WICK_NAME_VALUE:
      return held_value(c, answer.value->value, answer.value->unit, name, range);
    case WICK_NAME_FUNCTION:
      return function_of(c, &answer, name, range);
    case WICK_NAME_CLASS:
      return sugared_class(c, class_of(c, &answer, name, range));
    case WICK_NAME_ALIAS:
      return frontend_alias_value(c, str_from(arena_strndup(&c->scratch, answer.member, strlen(answer.member))), range);
    default: {
      CallerSpace *space = ARENA_NEW(&c->scratch, CallerSpace);
      *space = (CallerSpace){r, {arena_strndup(&c->scratch, name.data, name.length), name.length}};
      return sugared_namespace(c, space->path, space_attr, space);
    }
  }
}

static SugaredValue *resolve_value(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  return resolved((const CallerResolver *)resolver, c, name, range);
}
static const Type *resolve_type(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  wick_name answer;
  if (!ask((const CallerResolver *)resolver, c, name, range, &answer)) return NULL;
  if (answer.kind == WICK_NAME_ALIAS)
    return frontend_alias_type(c, str_from(arena_strndup(&c->scratch, answer.member, strlen(answer.member))), range);
  return answer.kind == WICK_NAME_CLASS ? class_of(c, &answer, name, range) : NULL;
}

/* ---- compiling ---- */

/* What is compiled: a text, or trees when there are any. */
typedef struct Program {
  Str text;
  const wick_tree *statements;
} Program;

static Status program_source(const Program *program, const wick_compile_options *options, FrontendInput *input) {
  if (program->statements) {
    input->file = tree_of(program->statements);
    if (input->file->kind != TK_LIST)
      return status_new(ERROR_INVALID_ARGUMENT, "a program is a TK_LIST of statements, not a %s",
                        token_kind_enumerator(input->file->kind));
    for (uint32_t i = 0; i < input->file->count; i++)
      if (!tree_is_statement(input->file->children[i]))
        return status_new(ERROR_INVALID_ARGUMENT, "item %u of the program is a %s, which is no statement", i,
                          token_kind_enumerator(input->file->children[i]->kind));
    return trees_keeper(program->statements, &input->source);
  }
  if (program->text.length > UINT32_MAX / 2) return status_new(ERROR_INVALID_ARGUMENT, "the text is too long");
  return source_new(program->text, options->file_name, options->first_line ? options->first_line : 1, &input->source);
}

typedef struct DeviceMapping {
  CompilationUnit *unit;
  const char *text;
} DeviceMapping;
static void map_devices(void *argument) {
  const DeviceMapping *mapping = argument;
  unit_set_device_map(mapping->unit, mapping->text);
}

/* Into `unit`, or into the class of `module` (may be NULL). */
static Status compile_into(wick_runtime *runtime, CompilationUnit *unit, const Module *module, const Program *program,
                           const wick_compile_options *options) {
  Exec exec;
  wick_compile_options o;
  FrontendInput input = {.class_type = module ? module->object->class_type : NULL};
  TRY(api_copy_options("wick_compile_options", options, sizeof o, &o));
  if (o.device_map && unit->all_functions.length)
    return status_new(ERROR_INVALID_ARGUMENT, "wick_compile_options: the device map of what is there already stays");
  if (o.torch_version >= TORCH_COUNT || o.reserved)
    return status_new(ERROR_INVALID_ARGUMENT, "wick_compile_options: torch_version %u", o.torch_version);
  if (o.torch_version && unit->torch_version != TORCH_DEFAULT && o.torch_version != unit->torch_version)
    return status_new(ERROR_INVALID_ARGUMENT, "wick_compile_options: the version of what is there already stays");
  if (o.device_map) TRY(arena_protect(&unit->store.arena, map_devices, &(DeviceMapping){unit, o.device_map}));
  CallerResolver resolver = {
      .resolver = {.resolve_value = resolve_value, .resolve_type = resolve_type, .outer = frontend_builtin_resolver()},
      .resolve = o.resolve,
      .user = o.user};
  if (o.resolve) input.resolver = &resolver.resolver;
  WorkLimit limit, *outer;
  api_limit_init(&limit, o.deadline_ns, o.max_steps);
  TRY(program_source(program, &o, &input));
  outer = work_limit_enter(&limit);
  api_exec_init(&exec, runtime);
  HEAP_SCOPE(exec.runtime->heap);
  if (unit->torch_version == TORCH_DEFAULT)
    unit->torch_version = o.torch_version ? (uint8_t)o.torch_version : (uint8_t)exec.work.torch_version;
  unit_enter(unit, &exec);
  Status status = frontend_compile(unit, &exec, &input);
  work_limit_enter(outer);
  source_release(input.source);
  return status;
}

static Status compile_new(wick_runtime *runtime, const Program *program, const wick_compile_options *options,
                          wick_module **out) {
  HEAP_SCOPE(runtime_of(runtime)->heap);
  CompilationUnit *unit;
  TRY(unit_new(&unit));
  Status status = compile_into(runtime, unit, NULL, program, options);
  if (!status) status = module_handle_new(runtime, NULL, unit, out);
  unit_release(unit);
  return status;
}

static Status define(wick_runtime *runtime, wick_module *module, const Program *program,
                     const wick_compile_options *options) {
  queue_hold(); /* plans of what is there already are made from the unit that grows here */
  Status status = compile_into(runtime, module->unit, module->module, program, options);
  queue_let_go();
  return status ? status : module_handle_list(module);
}

wick_status wick_compile(wick_runtime *runtime, const char *text, size_t length, const char *file_name,
                         wick_module **out, wick_error **error) {
  API_OUT(out);
  API_NEED_BYTES(text, length);
  wick_compile_options options = {.size = sizeof options, .file_name = file_name};
  return api_status(compile_new(runtime, &(Program){.text = {text, length}}, &options, out), error);
}

wick_status wick_compile_with(wick_runtime *runtime, const char *text, size_t length,
                              const wick_compile_options *options, wick_module **out, wick_error **error) {
  API_OUT(out);
  API_NEED_BYTES(text, length);
  return api_status(compile_new(runtime, &(Program){.text = {text, length}}, options, out), error);
}

wick_status wick_compile_tree(wick_runtime *runtime, const wick_tree *statements, const wick_compile_options *options,
                              wick_module **out, wick_error **error) {
  API_OUT(out);
  API_NEED(statements);
  return api_status(compile_new(runtime, &(Program){.statements = statements}, options, out), error);
}

wick_status wick_module_define(wick_module *module, wick_runtime *runtime, const char *text, size_t length,
                               const wick_compile_options *options, wick_error **error) {
  API_NEED(module);
  API_NEED_BYTES(text, length);
  return api_status(define(runtime, module, &(Program){.text = {text, length}}, options), error);
}

wick_status wick_module_define_tree(wick_module *module, wick_runtime *runtime, const wick_tree *statements,
                                    const wick_compile_options *options, wick_error **error) {
  API_NEED(module);
  API_NEED(statements);
  return api_status(define(runtime, module, &(Program){.statements = statements}, options), error);
}
