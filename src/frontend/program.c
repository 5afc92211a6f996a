/* A whole .py program: its functions, classes and constants in any order, the names they give each other; and the text
 * of operator bodies, which compile once into a unit of the process. */
#include <assert.h>

#include "base/fork.h"
#include "base/heap.h"
#include "base/stack.h"
#include "call/row.h"
#include "frontend/compilation.h"
#include "syntax/parser.h"
#include "syntax/view.h"

/* ---- names of a program ---- */

typedef struct Program {
  Resolver resolver; /* first */
  Map names;         /* name -> Entry */
  Map overloads;     /* declarations marked @_overload by name: TreeList */
} Program;
typedef struct Entry {
  enum { ENTRY_FUNCTION, ENTRY_CLASS, ENTRY_CONSTANT, ENTRY_ALIAS, ENTRY_EXCEPTION, ENTRY_IGNORED } kind;
  const Tree *tree;
  Function **functions; /* overloads */
  uint32_t count;
  const Type *type;
  IValue constant;
  Str path; /* of an import: "torch.nn.functional" */
  bool busy;
} Entry;

static const Type *class_of(Program *p, Compilation *c, Entry *entry) {
  assert(entry->kind == ENTRY_CLASS);
  if (entry->type) return entry->type;
  Str name = str_from(arena_printf(&c->scratch, "__torch__." STR_FMT, STR_ARG(ident_text(class_name(entry->tree)))));
  const Type *registered = unit_find_type(c->unit, name); /* it may be on its way, and mention itself */
  if (registered || entry->busy) return registered;
  entry->busy = true;
  entry->type = frontend_define_class(c, entry->tree, name, &p->resolver);
  entry->busy = false;
  return entry->type;
}

static SugaredValue *follow_path(Resolver *resolver, Compilation *c, Str path, SourceRange range) {
  ptrdiff_t dot = str_find_char(path, '.');
  Str first = dot < 0 ? path : str_slice(path, 0, (size_t)dot);
  SugaredValue *value = builtin_global(c, first);
  if (!value) value = resolver_find_value(resolver, c, first, range);
  while (value && dot >= 0) {
    path = str_slice(path, (size_t)dot + 1, path.length);
    dot = str_find_char(path, '.');
    value = sugared_namespace_lookup(value, c, dot < 0 ? path : str_slice(path, 0, (size_t)dot), range);
  }
  return value;
}

static SugaredValue *program_value(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  Program *p = (Program *)resolver;
  Entry *entry = map_get(&p->names, name);
  if (!entry) { /* what the unit had before */
    Function *function = unit_find_function(c->unit, name);
    return function ? sugared_function(c, function) : NULL;
  }
  switch (entry->kind) {
    case ENTRY_FUNCTION:
      return sugared_overloads(c, entry->count, entry->functions);
    case ENTRY_CLASS: {
      const Type *type = class_of(p, c, entry);
      return type ? sugared_class(c, type) : NULL;
    }
    case ENTRY_CONSTANT:
      return sugared_constant(c, entry->constant);
    case ENTRY_ALIAS:
      return follow_path(p->resolver.outer, c, entry->path, range);
    case ENTRY_EXCEPTION:
      return sugared_exception(c, str_from(arena_printf(&c->scratch, "__torch__." STR_FMT, STR_ARG(name))));
    case ENTRY_IGNORED:
      compilation_fail(c, range, "'" STR_FMT "' is marked to be ignored and can't be called from compiled code",
                       STR_ARG(name));
  }
  return NULL;
}

static const Type *program_type(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  (void)range;
  Program *p = (Program *)resolver;
  if (str_starts_with(name, "__torch__.")) name = str_slice(name, 10, name.length);
  Entry *entry = map_get(&p->names, name);
  if (entry && entry->kind == ENTRY_CLASS) return class_of(p, c, entry);
  if (entry && entry->kind == ENTRY_ALIAS) {
    SugaredValue *value = follow_path(p->resolver.outer, c, entry->path, range);
    return value && value->kind->as_type ? value->kind->as_type(value, c) : NULL;
  }
  return entry ? NULL
               : unit_find_type(c->unit, str_from(arena_printf(&c->scratch, "__torch__." STR_FMT, STR_ARG(name))));
}

SugaredValue *frontend_alias_value(Compilation *c, Str path, SourceRange range) {
  if (STACK_IS_LOW()) compilation_fail(c, range, "'" STR_FMT "' is another name of itself", STR_ARG(path));
  SugaredValue *own = c->names ? c->names->resolve_value(c->names, c, path, range) : NULL;
  return own ? own : follow_path(frontend_builtin_resolver(), c, path, range);
}
const Type *frontend_alias_type(Compilation *c, Str path, SourceRange range) {
  if (STACK_IS_LOW()) compilation_fail(c, range, "'" STR_FMT "' is another name of itself", STR_ARG(path));
  const Type *own = c->names ? c->names->resolve_type(c->names, c, path, range) : NULL;
  if (own) return own;
  SugaredValue *value = follow_path(frontend_builtin_resolver(), c, path, range);
  return value && value->kind->as_type ? value->kind->as_type(value, c) : NULL;
}

/* ---- reading the file ---- */

static Entry *put_entry(Program *p, Compilation *c, Str name, int kind, const Tree *tree) {
  Entry *entry = ARENA_NEW(&c->scratch, Entry);
  entry->kind = kind;
  entry->tree = tree;
  map_put(&p->names, name, entry);
  return entry;
}

static bool decorated(const Tree *list, const char *name) {
  for (uint32_t i = 0; list && i < list->count; i++) {
    const Tree *expr = list->children[i];
    if (expr->kind == TK_APPLY) expr = apply_callee(expr);
    Str last = expr->kind == '.' ? ident_text(select_name(expr)) : expr->kind == TK_VAR ? var_text(expr) : STR("");
    if (str_is(last, name)) return true;
  }
  return false;
}

static void add_imports(Program *p, Compilation *c, const Tree *stmt) {
  const Tree *module = option_get(import_module(stmt)), *names = import_names(stmt);
  for (uint32_t i = 0; i < names->count; i++) {
    Str name = ident_text(alias_name(names->children[i]));
    const Tree *as = option_get(alias_as(names->children[i]));
    if (str_is(name, "*")) continue; /* typing's names are known anyway */
    if (!module && !as) continue;    /* `import torch` */
    Str path =
        module ? str_from(arena_printf(&c->scratch, STR_FMT "." STR_FMT, STR_ARG(ident_text(module)), STR_ARG(name)))
               : name;
    if (str_starts_with(path, "typing.") && !as) continue;
    put_entry(p, c, as ? ident_text(as) : name, ENTRY_ALIAS, stmt)->path = path;
  }
}

/* With the overloads of its name that stand before it. */
static void add_function(Program *p, Compilation *c, const Tree *impl) {
  Str name = ident_text(def_name(impl));
  VEC(Function *) functions = {0};
  const TreeList *overloads = map_get(&p->overloads, name);
  for (size_t i = 0; overloads && i < overloads->length; i++) {
    const Tree *def = overloads->data[i];
    Str overload = str_from(arena_printf(&c->scratch, STR_FMT "__%zu", STR_ARG(name), functions.length));
    Tree *whole = TREE(&c->scratch, TK_DEF, impl->range, tree_atom(&c->scratch, TK_IDENT, impl->range, overload),
                       def_decl(def), def_body(impl));
    vec_arena_push(&c->scratch, &functions, frontend_define_function(c, whole, overload, &p->resolver));
  }
  if (!functions.length) vec_arena_push(&c->scratch, &functions, frontend_define_function(c, impl, name, &p->resolver));
  Entry *entry = put_entry(p, c, name, ENTRY_FUNCTION, impl);
  entry->functions = functions.data;
  entry->count = (uint32_t)functions.length;
}

static bool is_exception_class(const Tree *class_def) {
  const Tree *bases = class_bases(class_def);
  for (uint32_t i = 0; i < bases->count; i++)
    if (bases->children[i]->kind == TK_VAR &&
        (str_is(var_text(bases->children[i]), "Exception") || str_ends_with(var_text(bases->children[i]), "Error")))
      return true;
  return false;
}

typedef struct DefineClass {
  Program *program;
  Entry *entry;
} DefineClass;
static void define_class_entry(Compilation *c, void *argument) {
  const DefineClass *d = argument;
  class_of(d->program, c, d->entry);
}

static void define_methods(Compilation *c, Program *p, ClassType *class_type, const Tree *file) {
  for (uint32_t i = 0; i < file->count; i++) {
    const Tree *stmt = file->children[i];
    if (stmt->kind != TK_DEF) compilation_fail(c, stmt->range, "Only methods can be added to a module");
    frontend_define_method(c, class_type, stmt, &p->resolver);
  }
}

static void compile_program(Compilation *c, void *argument) {
  const FrontendInput *input = argument;
  Program *p = ARENA_NEW(&c->scratch, Program);
  map_init(&p->names, &c->scratch);
  map_init(&p->overloads, &c->scratch);
  p->resolver = (Resolver){.resolve_value = program_value,
                           .resolve_type = program_type,
                           .outer = input->resolver ? input->resolver : frontend_builtin_resolver()};
  c->names = &p->resolver;
  if (input->source) unit_hold_source(c->unit, source_retain(input->source));
  const Tree *file = input->file ? input->file : parse_file(&c->scratch, input->source, PARSE_PYTHON);
  if (input->class_type) {
    define_methods(c, p, input->class_type, file);
    compilation_finish(c);
    return;
  }
  for (uint32_t i = 0; i < file->count; i++) {
    const Tree *stmt = file->children[i];
    if (stmt->kind == TK_CLASS_DEF)
      put_entry(p, c, ident_text(class_name(stmt)), is_exception_class(stmt) ? ENTRY_EXCEPTION : ENTRY_CLASS, stmt);
    if (stmt->kind == TK_IMPORT) add_imports(p, c, stmt);
  }
  for (uint32_t i = 0; i < file->count; i++) {
    const Tree *stmt = file->children[i];
    switch (stmt->kind) {
      case TK_DEF:
        if (decorated(def_decorators(stmt), "_overload"))
          tree_list_add(&p->overloads, ident_text(def_name(stmt)), stmt);
        else if (decorated(def_decorators(stmt), "ignore"))
          put_entry(p, c, ident_text(def_name(stmt)), ENTRY_IGNORED, stmt);
        else
          add_function(p, c, stmt);
        break;
      case TK_ASSIGN: {
        const Tree *target = assign_targets(stmt)->children[0], *value = option_get(assign_value(stmt));
        IValue constant;
        if (target->kind != TK_VAR || !value || !constant_from_tree(c, &p->resolver, value, NULL, &constant)) break;
        unit_hold(c->unit, constant);
        put_entry(p, c, var_text(target), ENTRY_CONSTANT, stmt)->constant = constant;
        break;
      }
      case TK_CLASS_DEF:
      case TK_IMPORT:
      case TK_EXPR_STMT:
      case TK_PASS:
        break;
      default:
        compilation_fail(c, stmt->range,
                         "Only functions, classes, imports and constants can stand in a program's file");
    }
  }
  for (MapEntry *it = map_next(&p->names, NULL); it; it = map_next(&p->names, it)) {
    DefineClass define = {p, it->value};
    if (define.entry->kind != ENTRY_CLASS) continue;
    Status status = compilation_protect(c, define_class_entry, &define);
    define.entry->busy = status != OK;
    if (compilation_is_over(status)) catch_throw(&c->catch_point, status);
    if (status) vec_arena_push(&c->scratch, &c->errors, status);
  }
  compilation_finish(c);
}

Status frontend_compile_program(CompilationUnit *unit, Exec *exec, Source *source, Resolver *resolver) {
  return frontend_compile(unit, exec, &(FrontendInput){.source = source, .resolver = resolver});
}

Status frontend_compile(CompilationUnit *unit, Exec *exec, const FrontendInput *input) {
  UnitMark mark = unit_mark(unit);
  Status status = compilation_run(unit, exec, compile_program, (void *)input);
  if (status) unit_roll_back(unit, mark);
  return status;
}

/* ---- operator bodies ---- */

static SugaredValue *aten_attr(void *data, Compilation *c, Str name, SourceRange range) {
  (void)data, (void)range;
  Str qualified = str_from(arena_printf(&c->scratch, "aten::" STR_FMT, STR_ARG(name)));
  if (operator_find(qualified)) return sugared_builtin(c, symbol_intern(qualified));
  SugaredValue *torch = resolver_find_value(frontend_builtin_resolver(), c, STR("torch"), range);
  return sugared_namespace_lookup(torch, c, name, range);
}

/* In bodies torch.x is the operator, and helpers of the prelude have bare names, as have operators that compute
 * gradients. */
static SugaredValue *body_value(Resolver *resolver, Compilation *c, Str name, SourceRange range) {
  (void)resolver;
  if (str_is(name, "torch")) return sugared_namespace(c, name, aten_attr, NULL);
  static const char *const files[] = {"", "gradients", "gradients_tensor", "sparse"};
  SugaredValue *helper = NULL;
  for (size_t i = 0; i < sizeof files / sizeof *files && !helper; i++)
    helper = prelude_find(c, str_from(files[i]), name);
  return helper || !(str_ends_with(name, "_backward") || str_ends_with(name, "_backward_data"))
             ? helper
             : aten_attr(NULL, c, name, range);
}

static Resolver body_resolver = {.resolve_value = body_value, .outer = &builtin_resolver};

typedef struct BodyRequest {
  const Operator *op;
  Function *function;
} BodyRequest;

static Source *body_source(Compilation *c, const Operator *op) {
  StrBuf text = {0};
  strbuf_puts(&text, "def body():\n");
  for (const char *at = op->row->body; *at;) {
    size_t length = strcspn(at, "\n");
    strbuf_puts(&text, "  ");
    strbuf_append(&text, at, length);
    strbuf_char(&text, '\n');
    at += length + (at[length] == '\n');
  }
  Source *source;
  Status status = source_new(arena_take_text(&c->scratch, &text), op->row->schema, 1, &source);
  if (status) catch_throw(&c->catch_point, status);
  unit_hold_source(c->unit, source);
  return source;
}

static void compile_body(Compilation *c, void *argument) {
  BodyRequest *request = argument;
  const Operator *op = request->op;
  Str name = str_from(arena_printf(&c->unit->store.arena, STR_FMT ".%s" STR_FMT, STR_ARG(op->name),
                                   op->variant == VARIANT_FUNCTIONAL ? "" : "_", STR_ARG(op->overload_name)));
  const Tree *def = parse_def(&c->scratch, body_source(c, op), PARSE_PYTHON);
  Function *function = unit_find_function(c->unit, name);
  if (!function) function = unit_new_function(c->unit, name);
  define_with_schema(c, function, def, operator_schema(op), &body_resolver);
  compilation_finish(c);
  request->function = function->graph ? function : NULL;
}

/* Of the process. It grows while other threads make Code of what it has, and both allocate from its arena: the lock.
 * Bodies that need others take it again. */
static CompilationUnit *body_unit;
static pthread_mutex_t body_lock;
static pthread_once_t body_once = PTHREAD_ONCE_INIT;

static void init_body_lock(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&body_lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

static Status compile_in_body_unit(Exec *exec, void (*body)(Compilation *c, void *argument), void *request) {
  HEAP_SCOPE(NULL);
  pthread_once(&body_once, init_body_lock);
  lock_take(&body_lock);
  Status status = OK;
  if (!body_unit) {
    status = unit_new(&body_unit);
    if (!status) body_unit->growth = &body_lock;
  }
  if (!status) status = compilation_run(body_unit, exec, body, request);
  lock_drop(&body_lock);
  return status;
}

Status frontend_compile_body(Exec *exec, const Operator *op, Function **out) {
  BodyRequest request = {op, NULL};
  Status status = compile_in_body_unit(exec, compile_body, &request);
  *out = request.function;
  if (!status && !request.function)
    status = status_internal("the body of " STR_FMT " did not compile", STR_ARG(op->name));
  return status;
}

/* ---- texts of functions that others make: gradients ---- */

typedef struct HelperRequest {
  Str text;
  const char *name;
  Function *function;
} HelperRequest;

static void compile_helper(Compilation *c, void *argument) {
  HelperRequest *request = argument;
  Source *source;
  Status status = source_new(request->text, request->name, 1, &source);
  if (status) catch_throw(&c->catch_point, status);
  unit_hold_source(c->unit, source);
  const Tree *def = parse_def(&c->scratch, source, PARSE_PYTHON);
  Str name = str_from(arena_printf(&c->unit->store.arena, STR_FMT "%zu", STR_ARG(ident_text(def_name(def))),
                                   c->unit->all_functions.length));
  Function *function = frontend_define_function(c, def, name, &body_resolver);
  compilation_finish(c);
  request->function = function->graph ? function : NULL;
}

Status frontend_compile_helper(Exec *exec, Str text, const char *name, Function **out) {
  HelperRequest request = {text, name, NULL};
  Status status = compile_in_body_unit(exec, compile_helper, &request);
  *out = request.function;
  if (!status && !request.function) status = status_internal("%s did not compile", name);
  return status;
}
