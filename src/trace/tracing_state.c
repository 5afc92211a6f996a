/* The state of a trace: which one the thread has, what values stand for, and what belongs to it until it ends. */
#include <assert.h>

#include "ivalue/future.h"
#include "trace/tracing.h"

static _Thread_local TracingState *current;

TracingState *trace_current(void) {
  return current;
}

Recorder *trace_recorder(void) {
  TracingState *t = current;
  return t && !t->pauses && !t->recorder.inside ? &t->recorder : NULL;
}

void trace_pause(TracingState *t) {
  t->pauses++;
}
void trace_resume(TracingState *t) {
  if (t->pauses) t->pauses--;
}
bool trace_is_paused(const TracingState *t) {
  return t->pauses != 0;
}

const TraceListener *trace_listener(const TracingState *t) {
  return &t->listener;
}

void trace_fail(TracingState *t, ErrorCode code, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = status_newv(code, format, arguments);
  va_end(arguments);
  catch_throw(t->graph->arena->catch_point, status);
}

void trace_warn(TracingState *t, TraceWarning kind, const char *message) {
  if (t->listener.warn) t->listener.warn(t->listener.user, kind, message);
}

/* ---- places ---- */

static SourceRange place_now(TracingState *t) {
  TracePlace place = {0};
  Arena *arena = t->graph->arena;
  if (!t->listener.place || !t->listener.place(t->listener.user, &place) || !place.file) return (SourceRange){0};
  Str key = str_from(arena_printf(arena, "%s:%u", place.file, place.line));
  Source *source = map_get(&t->places, key);
  if (!source) {
    vec_arena_reserve(arena, &t->sources, t->sources.length + 1);
    Status status = source_new(str_from(place.text ? place.text : ""), place.file, place.line, &source);
    if (status) catch_throw(arena->catch_point, status);
    t->sources.data[t->sources.length++] = source;
    map_put(&t->places, key, source);
  }
  return (SourceRange){source, 0, (uint32_t)source->length};
}

typedef struct Protected {
  TracingState *t;
  void (*body)(void *argument);
  void *argument;
} Protected;
static void run_protected(void *argument) {
  const Protected *p = argument;
  p->t->range = place_now(p->t);
  p->body(p->argument);
}
Status trace_protect(TracingState *t, void (*body)(void *argument), void *argument) {
  assert(t == current);
  t->recorder.inside++;
  Status status = arena_protect(t->graph->arena, run_protected, &(Protected){t, body, argument});
  t->recorder.inside--;
  return status;
}

/* ---- frames ---- */

static void frame_dispose(TraceFrame *frame) {
  ptrmap_dispose(&frame->values);
  for (size_t i = 0; i < frame->held.length; i++) ivalue_release(frame->held.data[i]);
  vec_dispose(&frame->held);
}

/* Lets go of what nobody but the trace holds: no one can mean it any more. On lack of memory all stays. */
static void sweep(TraceFrame *frame) {
  enum { FEWEST = 256 };
  PtrMap values;
  size_t kept = 0;
  ptrmap_init(&values, NULL);
  for (size_t i = 0; i < frame->held.length; i++) {
    IValue v = frame->held.data[i];
    if (ref_is_unique(v.counted)) continue;
    if (!ptrmap_put(&values, v.counted, ptrmap_get(&frame->values, v.counted))) {
      ptrmap_dispose(&values);
      return;
    }
  }
  for (size_t i = 0; i < frame->held.length; i++) {
    IValue v = frame->held.data[i];
    if (ptrmap_has(&values, v.counted))
      frame->held.data[kept++] = v;
    else
      ivalue_release(v);
  }
  frame->held.length = kept;
  frame->sweep_at = kept * 2 > FEWEST ? kept * 2 : FEWEST;
  ptrmap_dispose(&frame->values);
  frame->values = values;
}

Value *trace_find(const TracingState *t, const void *counted) {
  for (size_t i = t->frames.length; i-- > 0;) {
    Value *value = ptrmap_get(&t->frames.data[i].values, counted);
    if (value) return value;
  }
  return NULL;
}

void trace_remember(TracingState *t, IValue v, Value *value) {
  assert(ivalue_is_counted(v) && value->node->graph == t->graph);
  TraceFrame *frame = &vec_last(&t->frames);
  bool is_known = ptrmap_has(&frame->values, v.counted);
  if (!is_known && frame->held.length >= frame->sweep_at) sweep(frame);
  if ((!is_known && !vec_reserve(&frame->held, frame->held.length + 1)) ||
      !ptrmap_put(&frame->values, v.counted, value))
    catch_throw(t->graph->arena->catch_point, status_out_of_memory());
  if (!is_known) frame->held.data[frame->held.length++] = ivalue_retain(v);
}

static void push_frame(TracingState *t, Node *fork) {
  if (!vec_reserve(&t->frames, t->frames.length + 1)) catch_throw(t->graph->arena->catch_point, status_out_of_memory());
  TraceFrame frame = {.fork = fork, .sweep_at = 256};
  ptrmap_init(&frame.values, NULL);
  t->frames.data[t->frames.length++] = frame;
}

/* ---- the traced module ---- */

/* A placeholder for each tensor and object that can be reached from the module; what uses them gets its GetAttrs when
 * the trace ends (trace_blocks.c), for it is then that its method is known. A tensor goes by the first path to it, a
 * submodule by the last, as in PyTorch. */
static void gather(TracingState *t, const Object *object, Str prefix, int depth) {
  enum { MOST = 200 };
  const ClassType *type = object->class_type;
  Arena *arena = t->graph->arena;
  if (depth > MOST) trace_fail(t, ERROR_INVALID_ARGUMENT, "submodules are nested too deeply to be traced");
  for (uint32_t i = 0; i < type->attributes.length && i < object->slot_count; i++) {
    const ClassAttribute *a = &type->attributes.data[i];
    IValue value = object_get(object, i);
    bool is_tensor = value.tag == TAG_TENSOR && tensor_is_defined(value.tensor);
    if ((is_tensor && !trace_find(t, value.counted)) || value.tag == TAG_OBJECT) {
      graph_hold(t->graph, value);
      Str path = prefix.length ? str_from(arena_printf(arena, STR_FMT "." STR_FMT, STR_ARG(prefix), STR_ARG(a->name)))
                               : a->name;
      Node *node = graph_insert_node(t->graph, graph_create(t->graph, SYM_prim_TracedAttr, 0, NULL, 1));
      node_set_string(node, SYM_attr_name, path);
      node_output(node, 0)->type = is_tensor ? TYPE(TENSOR) : &value.object->class_type->type;
      trace_remember(t, value, node_output(node, 0));
      if (is_tensor || !value.object->class_type->is_module) continue;
      map_put(&t->modules, path, node_output(node, 0));
      gather(t, value.object, path, depth + 1);
    } else {
      ivalue_release(value);
    }
  }
}

/* ---- begin and end ---- */

typedef struct Beginning {
  TracingState *t;
  Exec *exec;
  const TraceStart *start;
  IValue *out_inputs;
} Beginning;
static void begin(void *argument) {
  const Beginning *b = argument;
  TracingState *t = b->t;
  const TraceStart *start = b->start;
  TypeStore *store = &t->workspace->store;
  Arena *arena = &store->arena;
  t->graph = t->workspace->graph = graph_new(arena, store);
  t->name = (Str){arena_strndup(arena, start->name.data, start->name.length), start->name.length};
  map_init(&t->places, arena);
  map_init(&t->modules, arena);
  push_frame(t, NULL);
  if (t->self) {
    Value *self = graph_add_input(t->graph, STR("self"), &t->self->class_type->type);
    trace_remember(t, ivalue_object(t->self), self);
    gather(t, t->self, STR(""), 0);
  }
  for (uint32_t i = 0; i < start->count; i++) {
    Str name = start->names ? start->names[i] : STR("");
    Value *value = graph_add_input(t->graph, name, trace_input_type(t, start->inputs[i]));
    b->out_inputs[i] = trace_input(t, b->exec, start->inputs[i], value);
  }
}

static void dispose(TracingState *t) {
  if (current == t) current = NULL;
  for (size_t i = 0; i < t->frames.length; i++) frame_dispose(&t->frames.data[i]);
  vec_dispose(&t->frames);
  for (size_t i = 0; i < t->used.length; i++) unit_release(t->used.data[i]);
  vec_dispose(&t->used);
  for (size_t i = 0; i < t->sources.length; i++) source_release(t->sources.data[i]);
  if (t->self) ivalue_release(ivalue_object(t->self));
  CompilationUnit *unit = t->unit;
  prepared_graph_free(t->workspace);
  unit_release(unit);
  mem_free(t);
}
void trace_abort(TracingState *t) {
  dispose(t);
}

Status trace_begin(Exec *exec, const TraceStart *start, IValue *out_inputs, TracingState **out) {
  if (current) return status_new(ERROR_INVALID_ARGUMENT, "this thread traces already: tracing can't be nested");
  TracingState *t = mem_calloc(1, sizeof *t);
  if (!t) return status_out_of_memory();
  t->recorder.record = trace_record;
  t->lenient = start->lenient;
  t->outplace = start->outplace;
  t->listener = start->listener;
  t->unit = unit_retain(start->unit);
  if (start->self) t->self = ivalue_retain(ivalue_object(start->self)).object;
  for (uint32_t i = 0; i < start->count; i++) out_inputs[i] = IVALUE_NONE;
  Status status = prepared_graph_new(&start->unit->store, &t->workspace);
  if (!status) status = arena_protect(&t->workspace->store.arena, begin, &(Beginning){t, exec, start, out_inputs});
  if (status) {
    for (uint32_t i = 0; i < start->count; i++) ivalue_release(out_inputs[i]);
    dispose(t);
    return status;
  }
  *out = current = t;
  return OK;
}

/* ---- scopes and forks: blocks, into which nodes go until they end ---- */

static Block *open_block(TracingState *t, Symbol kind, uint32_t outputs, Str path) {
  Node *node = graph_create(t->graph, kind, 0, NULL, outputs);
  if (path.length) node_set_string(node, SYM_attr_name, path);
  graph_insert_node(t->graph, node);
  graph_set_insert_block(t->graph, node_add_block(node));
  return node->blocks[0];
}
/* The node of the innermost open block; NULL: there is none. */
static Node *open_node(const TracingState *t) {
  return t->graph->insert_before->owning_block->owning_node;
}
static void close_block(TracingState *t) {
  assert(open_node(t)->block_count == 1);
  graph_set_insert_point(t->graph, open_node(t)->next);
}

typedef struct Step {
  TracingState *t;
  Str path;
  IValue value;
  IValue *out;
} Step;

static void enter(void *argument) {
  const Step *s = argument;
  if (!map_has(&s->t->modules, s->path))
    trace_fail(s->t, ERROR_NOT_FOUND, "the traced module has no submodule '" STR_FMT "'", STR_ARG(s->path));
  open_block(s->t, SYM_prim_TracedModuleForward, 0, s->path);
  Graph *graph = s->t->graph;
  Str outer = graph->scope == SYMBOL_NONE ? STR("") : symbol_base(graph->scope);
  graph->scope = symbol_intern(str_from(arena_printf(graph->arena, "scope::" STR_FMT "%s__module." STR_FMT,
                                                     STR_ARG(outer), outer.length ? "/" : "", STR_ARG(s->path))));
}
Status trace_enter(TracingState *t, Str path) {
  return trace_protect(t, enter, &(Step){.t = t, .path = path});
}

Status trace_leave(TracingState *t) {
  Node *node = open_node(t);
  if (!node || node->kind != SYM_prim_TracedModuleForward)
    return status_new(ERROR_INVALID_ARGUMENT, "no submodule was entered here");
  close_block(t);
  t->graph->scope = node->scope;
  return OK;
}

static void fork_off(void *argument) {
  TracingState *t = ((const Step *)argument)->t;
  push_frame(t, open_block(t, SYM_prim_TracedFork, 1, STR(""))->owning_node);
}
Status trace_fork(TracingState *t) {
  return trace_protect(t, fork_off, &(Step){.t = t});
}

static void join(void *argument) {
  const Step *s = argument;
  TracingState *t = s->t;
  Node *node = open_node(t);
  Future *future;
  Value *result = trace_value(t, s->value, NULL);
  Status status = future_new(result->type, &future);
  if (status) catch_throw(t->graph->arena->catch_point, status);
  *s->out = ivalue_future(future);
  future_complete(future, ivalue_retain(s->value));
  block_register_output(node->blocks[0], result);
  node_output(node, 0)->type = type_future(t->graph->store, result->type);
  close_block(t);
  frame_dispose(&vec_last(&t->frames));
  t->frames.length--;
  trace_remember(t, *s->out, node_output(node, 0));
}
Status trace_join(TracingState *t, IValue result, IValue *out) {
  Node *node = open_node(t);
  *out = IVALUE_NONE;
  if (!node || node != vec_last(&t->frames).fork)
    return status_new(ERROR_INVALID_ARGUMENT,
                      "no fork was begun here, or a submodule that was entered in it was not left");
  Status status = trace_protect(t, join, &(Step){.t = t, .value = result, .out = out});
  if (!status) return OK;
  ivalue_release(*out);
  *out = IVALUE_NONE;
  return status;
}

static void await(void *argument) {
  const Step *s = argument;
  TracingState *t = s->t;
  Value *future = trace_value(t, s->value, NULL);
  Node *node = trace_node(t, STR("aten::wait"), 1, &future, 1);
  node_output(node, 0)->type = future->type->elements[0];
  trace_assign(t, *s->out, node_output(node, 0));
}
Status trace_wait(TracingState *t, Future *future, IValue *out) {
  *out = IVALUE_NONE;
  future_wait(future);
  TRY(future_result(future, out));
  Status status = trace_protect(t, await, &(Step){.t = t, .value = ivalue_future(future), .out = out});
  if (!status) return OK;
  ivalue_release(*out);
  *out = IVALUE_NONE;
  return status;
}
