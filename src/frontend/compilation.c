/* Compilation: catching what is thrown, and compiling a defined function's body: emission, SSA, clean-up. A body is
 * made in an arena of its own and enters its unit only when it is whole. */
#include "frontend/compilation.h"

#include <assert.h>

#include "base/stack.h"
#include "call/exec.h"
#include "frontend/convert_to_ssa.h"
#include "ir/operator_use.h"
#include "pass/pass.h"
#include "syntax/view.h"

/* ---- failing ---- */

void compilation_fail(Compilation *c, SourceRange range, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = status_newv(ERROR_COMPILE, format, arguments);
  va_end(arguments);
  StrBuf text = {0};
  strbuf_puts(&text, status->message ? status->message : "");
  if (range.source) {
    strbuf_puts(&text, ":\n");
    source_range_highlight(range, &text);
  }
  status_free(status);
  status = status_new(ERROR_COMPILE, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  catch_throw(&c->catch_point, status);
}

void compilation_release_held(Compilation *c, size_t mark) {
  assert(c->held.length >= mark);
  while (c->held.length > mark) ivalue_release(vec_pop(&c->held));
}

/* Apart, so that no local of a caller is live across setjmp. */
static __attribute__((noinline)) Status run_caught(Compilation *c, void (*body)(Compilation *c, void *argument),
                                                   void *argument) {
  if (catch_enter(&c->catch_point)) {
    body(c, argument);
    return OK;
  }
  return c->catch_point.status;
}

Status compilation_protect(Compilation *c, void (*body)(Compilation *c, void *argument), void *argument) {
  Catch saved = c->catch_point;
  struct CompileFrame *frame = c->frame;
  size_t held = c->held.length;
  Status status = run_caught(c, body, argument);
  if (status) compilation_release_held(c, held);
  c->catch_point = saved;
  c->frame = frame;
  return status;
}

bool compilation_is_over(Status status) {
  return status && (status->code == ERROR_DEADLINE || status->code == ERROR_CANCELLED || status->code == ERROR_BUDGET);
}

static Status join_errors(Compilation *c, Status last) {
  if (!c->errors.length) return last;
  if (compilation_is_over(last)) {
    for (size_t i = 0; i < c->errors.length; i++) status_free(c->errors.data[i]);
    return last;
  }
  if (c->errors.length == 1 && !last) return c->errors.data[0];
  StrBuf text = {0};
  for (size_t i = 0; i < c->errors.length; i++) {
    if (i) strbuf_puts(&text, "\n");
    strbuf_puts(&text, c->errors.data[i]->message);
    if (c->errors.data[i]->trace) {
      strbuf_puts(&text, "\n");
      strbuf_puts(&text, c->errors.data[i]->trace);
    }
    status_free(c->errors.data[i]);
  }
  if (last && !c->is_consequence) {
    strbuf_puts(&text, "\n");
    strbuf_puts(&text, last->message);
  }
  status_free(last);
  Status joined = status_new(ERROR_COMPILE, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return joined;
}

/* A definition lives as long as its compilation: what did not compile in this one may be defined again in another. */
static void forget_definitions(Compilation *c) {
  for (size_t i = 0; i < c->pending.length; i++) c->pending.data[i]->definition = NULL;
}

Status compilation_run(CompilationUnit *unit, Exec *exec, void (*body)(Compilation *c, void *argument),
                       void *argument) {
  Compilation *c = mem_calloc(1, sizeof *c);
  if (!c) return status_out_of_memory();
  c->unit = unit;
  c->exec = exec;
  arena_init(&c->scratch, &c->catch_point);
  Catch *outer = unit->store.arena.catch_point;
  unit->store.arena.catch_point = &c->catch_point;
  map_init(&c->prelude, &c->scratch);
  Status status = compilation_protect(c, body, argument);
  status = join_errors(c, status);
  forget_definitions(c);
  unit->store.arena.catch_point = outer;
  arena_dispose(&c->scratch);
  mem_free(c);
  return status;
}

/* ---- a function's body ---- */

typedef struct Emission {
  Function *function;
  const Definition *definition;
  Arena arena;
  Graph *graph, *whole; /* in the arena; its copy in the unit's */
} Emission;

/* Lowering, straight down: from variables to SSA, then the clean-up in 1.13's order. */
#define SSA_STEPS(X)                                                    \
  X(control_flow_load_stores, control_flow_load_stores(graph, scratch)) \
  X(loop_continuations, loop_continuations(graph))                      \
  X(inline_loop_condition, inline_loop_condition(graph))                \
  X(erase_load_stores, erase_load_stores(graph, scratch))               \
  X(enter_exit_to_with, enter_exit_to_with(graph, scratch))             \
  X(transform_exits, transform_exits(graph, scratch))                   \
  X(with_to_enter_exit, with_to_enter_exit(graph))                      \
  X(canonicalize_modified_loops, canonicalize_modified_loops(graph))    \
  X(normalize_ops, normalize_ops(graph))
#define CLEANUP_STEPS(X)                                                         \
  X(lift_closures, lift_closures(graph, clean_subgraph, exec))                   \
  X(inline_forked_closures, inline_forked_closures(graph, clean_subgraph, exec)) \
  X(lower_empty_lists, lower_empty_lists(graph))                                 \
  X(lower_tuples, lower_tuples(graph))                                           \
  X(constant_propagation, constant_propagation(graph, exec))                     \
  X(constant_pooling, constant_pooling(graph))                                   \
  X(canonicalize_outputs, canonicalize_outputs(graph))                           \
  X(annotate_warns, annotate_warns(graph))

#define X(name, call) #name,
static const char *const steps[] = {"emit", SSA_STEPS(X) CLEANUP_STEPS(X)};
#undef X
const char *frontend_lowering_step(size_t index) {
  return index < sizeof steps / sizeof *steps ? steps[index] : NULL;
}

static void show(const Exec *exec, const Function *function, const char *step, const Graph *graph) {
  if (exec && function) exec_show(exec, function, step, graph);
}

#define X(name, call) \
  call;               \
  show(exec, function, #name, graph);
/* Also of the graphs of lifted closures, which are no functions. */
static void clean_up(Graph *graph, Exec *exec, const Function *function);
static void clean_subgraph(Graph *graph, void *exec) {
  clean_up(graph, exec, NULL);
}
static void clean_up(Graph *graph, Exec *exec, const Function *function) {
  CLEANUP_STEPS(X)
}
/* Early returns put the rest of their blocks in blocks of their own, so that the steps make what they must bear. */
static void require_stack(Graph *graph) {
  graph_require_stack(graph);
}
static void lower(Graph *graph, Arena *scratch, Exec *exec, Function *function) {
  require_stack(graph);
  function_note_operators(function, graph);
  show(exec, function, "emit", graph);
  SSA_STEPS(X)
  require_stack(graph);
  clean_up(graph, exec, function);
}
#undef X

static void emit_function(Compilation *c, void *argument) {
  Emission *m = argument;
  const Definition *d = m->definition;
  m->graph = graph_new(&m->arena, &c->unit->store);
  Emitter *e = ARENA_NEW(&m->arena, Emitter);
  DefFrame *def = ARENA_NEW(&m->arena, DefFrame);
  *e = (Emitter){.c = c,
                 .arena = &m->arena,
                 .store = &c->unit->store,
                 .graph = m->graph,
                 .function = m->function,
                 .resolver = d->resolver,
                 .def = def};
  ptrmap_init(&e->exits, &m->arena);
  for (int i = 0; i < 2; i++) ptrmap_init(&e->numbers[i], &m->arena);
  if (d->self && str_is(ident_text(def_name(d->def)), "__init__")) e->initializing = d->self;
  environment_push(e, m->graph->block);
  if (d->schema)
    emit_body_def(e, d->def, d->schema);
  else
    emit_def(e, d->def, m->graph->block, d->self);
  lower(m->graph, &m->arena, c->exec, m->function);
#ifndef NDEBUG
  Status lint = graph_lint(m->graph);
  if (lint) catch_throw(&c->catch_point, lint);
#endif
  m->whole = graph_compact(m->graph, &c->unit->store.arena, &c->unit->store, false);
  graph_seal(m->whole);
}

/* "Net.forward" of "__torch__.models.Net.forward", "f" of "__torch__.f". */
static Str shown_name(Str name) {
  size_t begin = name.length, parts = 0;
  while (begin && parts < 2) {
    size_t before = begin - (parts ? 1 : 0);
    while (before && name.data[before - 1] != '.') before--;
    if (parts && (str_starts_with(str_slice(name, before, begin - 1), "___torch_mangle_") || !before)) break;
    begin = before, parts++;
  }
  return str_slice(name, begin, name.length);
}

static void ensure_defined(Function *function, void *compilation);

/* A class has the attributes that its __init__ sets: that compiles before the other methods. */
static void ensure_attributes(Compilation *c, const Function *method, const ClassType *self) {
  Function *init = self->is_module ? NULL : class_type_find_method(self, STR("__init__"));
  if (init && init != method && init->definition && !init->graph && !init->is_compiling) ensure_defined(init, c);
}

static void ensure_defined(Function *function, void *compilation) {
  Compilation *c = compilation;
  Definition *d = function->definition;
  if (function->graph || !d) return;
  if (d->failed) {
    c->is_consequence = true;
    catch_throw(&c->catch_point, status_new(ERROR_COMPILE, "'" STR_FMT "' did not compile", STR_ARG(function->name)));
  }
  if (STACK_IS_LOW()) compilation_fail(c, d->def->range, "Functions call each other too deeply to be compiled");
  if (function->is_compiling)
    compilation_fail(c, d->def->range,
                     "function '" STR_FMT "' is called recursively. Recursive calls are not supported",
                     STR_ARG(function->name));
  if (d->self) ensure_attributes(c, function, d->self);
  if (function->graph) return; /* __init__ called it */
  Emission *m = mem_calloc(1, sizeof *m);
  if (!m) catch_throw(&c->catch_point, status_out_of_memory());
  m->function = function;
  m->definition = d;
  arena_init(&m->arena, &c->catch_point);
  function->is_compiling = true;
  Status status = compilation_protect(c, emit_function, m);
  function->is_compiling = false;
  if (status)
    graph_dispose(m->whole); /* sealing may fail */
  else
    function->graph = m->whole;
  graph_dispose(m->graph);
  arena_dispose(&m->arena);
  mem_free(m);
  if (!status) {
    function->definition = NULL;
    return;
  }
  d->failed = true;
  if (c->frame) { /* who asked for it */
    StrBuf text = {0};
    Str called = shown_name(function->name), caller = shown_name(c->frame->name);
    strbuf_printf(&text, "'" STR_FMT "' is being compiled since it was called from '" STR_FMT "'\n", STR_ARG(called),
                  STR_ARG(caller));
    source_range_highlight(c->frame->call, &text);
    status = status_add_trace(status, text.data ? text.data : "");
    strbuf_dispose(&text);
  }
  catch_throw(&c->catch_point, status);
}

static bool is_decorated(const Tree *def, const char *by) {
  const Tree *decorators = def_decorators(def);
  for (uint32_t i = 0; decorators && i < decorators->count; i++) {
    const Tree *name = decorators->children[i];
    if (name->kind == TK_APPLY) name = apply_callee(name);
    Str last = name->kind == '.' ? ident_text(select_name(name)) : name->kind == TK_VAR ? var_text(name) : STR("");
    if (str_is(last, by)) return true;
  }
  return false;
}

/* A def marked @torch.jit.unused: its body raises. */
static const Tree *without_unused_body(Compilation *c, const Tree *def) {
  if (!is_decorated(def, "unused")) return def;
  Arena *arena = &c->scratch;
  SourceRange range = def->range;
  Tree *text = tree_atom(arena, TK_STRINGLITERAL, range, STR("Cannot run a function that is marked as unused"));
  Tree *exception = TREE(arena, TK_APPLY, range, tree_var(arena, range, STR("NotImplementedError")),
                         tree_list(arena, range, 1, &text), tree_list(arena, range, 0, NULL));
  Tree *raise = TREE(arena, TK_RAISE, range, exception);
  return TREE(arena, TK_DEF, range, def_name(def), def_decl(def), tree_list(arena, range, 1, &raise));
}

static void set_definition(Compilation *c, Function *function, const Tree *def, Resolver *resolver, ClassType *self,
                           const FunctionSchema *schema) {
  Definition *d = ARENA_NEW(&c->scratch, Definition);
  *d = (Definition){.def = without_unused_body(c, def),
                    .resolver = resolver ? resolver : frontend_builtin_resolver(),
                    .self = self,
                    .schema = schema};
  function->definition = d;
  function->ensure_defined = ensure_defined;
  vec_arena_push(&c->scratch, &c->pending, function);
}

Function *frontend_define_function(Compilation *c, const Tree *def, Str qualified_name, Resolver *resolver) {
  Function *function = unit_new_function(c->unit, qualified_name);
  set_definition(c, function, def, resolver, NULL, NULL);
  return function;
}

void define_with_schema(Compilation *c, Function *function, const Tree *def, const FunctionSchema *schema,
                        Resolver *resolver) {
  set_definition(c, function, def, resolver, NULL, schema);
}

Function *define_hook(Compilation *c, ClassType *class_type, const Tree *def, Resolver *resolver) {
  Function *hook = unit_new_hook(c->unit, class_type, ident_text(def_name(def)));
  set_definition(c, hook, def, resolver, class_type, NULL);
  return hook;
}

Function *define_method(Compilation *c, ClassType *class_type, const Tree *def, Str name, Resolver *resolver) {
  Function *method = unit_new_method(c->unit, class_type, name);
  set_definition(c, method, def, resolver, class_type, NULL);
  ((Definition *)method->definition)->is_on_demand = is_decorated(def, "_on_demand");
  /* Whether the class is what an interface asks for is asked before bodies compile. */
  if (option_get(decl_return_type(def_decl(def))) && !is_decorated(def, "_on_demand"))
    method->schema = schema_from_def(c, resolver ? resolver : &builtin_resolver, def, class_type, method->name, false);
  return method;
}

static void compile_pending(Compilation *c, void *argument) {
  ensure_defined(argument, c);
}

void compilation_finish(Compilation *c) {
  /* Compiling may define more. */
  while (c->finished < c->pending.length) {
    Function *function = c->pending.data[c->finished++];
    Definition *d = function->definition;
    if (function->graph || !d || d->failed || d->is_on_demand) continue;
    c->is_consequence = false;
    Status status = compilation_protect(c, compile_pending, function);
    if (!status) continue;
    if (compilation_is_over(status)) catch_throw(&c->catch_point, status);
    if (c->is_consequence)
      status_free(status);
    else
      vec_arena_push(&c->scratch, &c->errors, status);
  }
  c->is_consequence = false;
  for (size_t i = 0; i < c->pending.length; i++) {
    Function *method = c->pending.data[i];
    const Definition *d = method->definition;
    if (method->graph || !d || d->failed || !d->is_on_demand) continue;
    method->definition = NULL;
    unit_remove_method(c->unit, method);
  }
}

void tree_list_add(Map *lists, Str name, const Tree *tree) {
  TreeList *list = map_get(lists, name);
  if (!list) {
    list = ARENA_NEW(lists->arena, TreeList);
    (void)map_put(lists, name, list);
  }
  vec_arena_push(lists->arena, list, tree);
}
