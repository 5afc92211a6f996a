/* Graph -> Code: a Code's parts, and its nodes one by one. */
#include <assert.h>

#include "call/row.h"
#include "interp/compile_internal.h"
#include "interp/node_body.h"

void compile_out(Compiler *c, Status status) {
  catch_throw(&c->catch_point, status);
}

bool is_counted(const Type *type) {
  switch (type->kind) {
    case TYPE_INT:
    case TYPE_FLOAT:
    case TYPE_BOOL:
    case TYPE_NONE:
    case TYPE_DEVICE:
      return false;
    default:
      return true;
  }
}

/* ---- emitting ---- */

static Str name_of_function(Compiler *c, const Function *function) {
  if (!function) return STR("");
  char *known = ptrmap_get(&c->function_names, function);
  Str name = function->name;
  if (!known) ptrmap_put(&c->function_names, function, known = arena_strndup(c->arena, name.data, name.length));
  return (Str){known, name.length};
}

/* The text as the Code keeps it, once. */
static const char *keep_instance(Compiler *c, Str instance) {
  if (!instance.length) return NULL;
  char *known = map_get(&c->instances, instance);
  if (known) return known;
  known = arena_strndup(c->arena, instance.data, instance.length);
  map_put(&c->instances, (Str){known, instance.length}, known);
  return known;
}

/* What is the same call, though every node that came by it may have a chain of its own. */
typedef struct CallKey {
  const Function *function;
  SourceRange range;
  const DebugInlined *caller;
  const char *instance; /* kept; NULL: none */
} CallKey;
static_assert(sizeof(CallKey) == 3 * sizeof(void *) + sizeof(SourceRange), "compared as bytes");

static DebugInlined *make_inlined(Compiler *c, const CallKey *key) {
  CallKey *kept = ARENA_NEW(&c->scratch, CallKey);
  DebugInlined *made = ARENA_NEW(c->arena, DebugInlined);
  *kept = *key;
  *made = (DebugInlined){name_of_function(c, key->function), str_from(key->instance ? key->instance : ""), key->range,
                         key->caller};
  map_put(&c->calls, (Str){(const char *)kept, sizeof *kept}, made);
  return made;
}

static const DebugInlined *place_inlined(Compiler *c, const InlinedCall *call) {
  if (!call) return NULL;
  DebugInlined *made = ptrmap_get(&c->inlined, call);
  if (made) return made;
  CallKey key = {call->function, call->range, place_inlined(c, call->caller), keep_instance(c, call->instance)};
  made = map_get(&c->calls, (Str){(const char *)&key, sizeof key});
  if (!made) made = make_inlined(c, &key);
  ptrmap_put(&c->inlined, call, made);
  return made;
}

uint32_t emit(Compiler *c, Opcode op, uint8_t flags, uint32_t a, uint32_t b, uint32_t cc) {
  Instruction instruction = {(uint16_t)op, flags, a, b, cc};
  DebugPlace place = {0};
  if (c->node) place = (DebugPlace){c->node->range, place_inlined(c, c->node->inlined)};
  vec_arena_push(&c->scratch, &c->instructions, instruction);
  vec_arena_push(&c->scratch, &c->places, place);
  return (uint32_t)c->instructions.length - 1;
}

uint32_t here(const Compiler *c) {
  return (uint32_t)c->instructions.length;
}

void patch(Compiler *c, uint32_t instruction) {
  assert(instruction < c->instructions.length);
  c->instructions.data[instruction].a = here(c);
}

static void compile_operator(Compiler *c, const Node *node) {
  const Operator *op;
  Status failed = node_resolve(node, &op);
  if (failed) compile_out(c, failed);
  uint32_t index;
  Site *site = new_site(c, node, 0, &index);
  site->op = op;
  Opcode opcode = op ? INST_OP : INST_UNSUPPORTED;
  if (!op) site->name = symbol_name(node->kind);
  if (op && op->row->factory) {
    site->operation = ARENA_NEW(c->arena, KindForm);
    *site->operation = (KindForm){.name = op->row->schema};
    Status status = op->row->factory->make(node, &site->operation->kernel, &site->state, &site->state_free);
    if (status) compile_out(c, status);
  } else if (op && (site->state = node_body_new(node, op, c->arena, c->flags & CODE_GOES_FIRST))) {
    site->state_free = node_body_free;
    site->name = ((NodeBody *)site->state)->body.name;
  }
  site_outputs(c, site, node);
  emit(c, opcode, 0, index, 0, 0);
}

static const Function *static_function(const Node *node) {
  const Type *type = node_input(node, 0)->type;
  if (type->kind != TYPE_FUNCTION) return NULL;
  return type->function;
}

static void compile_call(Compiler *c, const Node *node) {
  uint32_t index;
  bool is_method = node->kind == SYM_prim_CallMethod;
  Site *site;
  Opcode op = INST_CALL;
  if (is_method) {
    const Type *self = node_input(node, 0)->type;
    Str name = node_string(node, SYM_attr_name);
    site = new_site(c, node, 0, &index);
    site->name = (Str){arena_strndup(c->arena, name.data, name.length), name.length};
    if (self->kind == TYPE_CLASS) {
      site->function = class_type_find_method(self->class_type, name);
      if (!site->function)
        compile_out(c, status_new(ERROR_COMPILE, "'" STR_FMT "' has no method '" STR_FMT "'", STR_ARG(self->name),
                                  STR_ARG(name)));
    } else {
      op = INST_INTERFACE_CALL;
    }
  } else {
    const Function *function = static_function(node);
    if (!function)
      compile_out(c, status_new(ERROR_UNSUPPORTED, "a call of a function that is not known when compiling"));
    site = new_site(c, node, 1, &index);
    site->function = (Function *)function;
  }
  site_outputs(c, site, node);
  if (site->output_count != 1) compile_out(c, status_internal("a call with other than one output"));
  emit(c, op, 0, index, 0, 0);
}

static void compile_with(Compiler *c, const Node *node) {
  const Type *type = node_input(node, 0)->type;
  bool enter = node->kind == SYM_prim_Enter;
  Str name = enter ? STR("__enter__") : STR("__exit__");
  uint32_t index;
  Site *site = new_site(c, node, 0, &index);
  site->name = name;
  site->function = type->kind == TYPE_CLASS ? class_type_find_method(type->class_type, name) : NULL;
  if (!site->function)
    compile_out(
        c, status_new(ERROR_COMPILE, "an object of a `with` statement has no method '" STR_FMT "'", STR_ARG(name)));
  site_outputs(c, site, node);
  if (enter) c->code->enter_depth++;
  emit(c, enter ? INST_ENTER : INST_EXIT, 0, index, 0, 0);
}

static void compile_fork(Compiler *c, const Node *node) {
  const NodeAttribute *graph = node_attribute(node, SYM_attr_Subgraph);
  if (!graph || graph->tag != ATTR_GRAPH) compile_out(c, status_internal("prim::fork without a graph"));
  uint32_t index;
  new_site(c, node, 0, &index);
  Code *child;
  Status status = code_compile_with(graph->g, c->code->name, c->flags & CODE_NO_REUSE, NULL, NULL, &child);
  if (status) compile_out(c, status);
  Site *site = &c->sites.data[index];
  site->code = child;
  const Type *future = node_output(node, 0)->type;
  site->type = future->kind == TYPE_FUTURE ? type_for_value(future->elements[0]) : TYPE(ANY);
  site_outputs(c, site, node);
  emit(c, INST_FORK, 0, index, 0, 0);
}

/* What a run of the plan brings along. */
static bool is_state(const Compiler *c, const Node *node) {
  if (node->kind != SYM_prim_GetAttr || !c->state || node->owning_block != c->graph->block) return false;
  uint32_t unique = node_output(node, 0)->unique;
  const Value *input = unique < c->state->count ? c->state->inputs[unique] : NULL;
  return input && input == graph_input(c->graph, 0);
}

/* ---- nodes ---- */

static void compile_node(Compiler *c, const Node *node) {
  c->node = node;
  if (is_state(c, node)) return;
  if (node->callable) {
    uint32_t index;
    Site *site = new_site(c, node, 0, &index);
    ref_retain(&node->callable->refs);
    site->callable = node->callable;
    site->name = symbol_name(node->kind);
    site_outputs(c, site, node);
    emit(c, INST_CALLABLE, 0, index, 0, 0);
    return;
  }
  switch (node->kind) {
    case SYM_prim_Constant:
      return;
    case SYM_prim_If:
      compile_if(c, node);
      return;
    case SYM_prim_Loop:
      compile_loop(c, node);
      return;
    case SYM_prim_CallFunction:
    case SYM_prim_CallMethod:
      compile_call(c, node);
      return;
    case SYM_prim_Enter:
    case SYM_prim_Exit:
      compile_with(c, node);
      return;
    case SYM_prim_fork:
      compile_fork(c, node);
      return;
    case SYM_prim_profile:
      compile_profile(c, node);
      return;
    case SYM_prim_BailOut:
      if (c->flags & CODE_IS_BASELINE)
        compile_marker(c, node);
      else
        compile_guard(c, node);
      return;
    default:
      if (fuses_with_next(c, node)) return; /* compiled with its branch */
      if (!compile_direct(c, node)) compile_operator(c, node);
  }
}

void compile_block(Compiler *c, const Block *block) {
  BLOCK_EACH(node, block) {
    if (c->state && node == c->state->first_effect) c->code->effects_from = here(c);
    if (!waits_for_loop(c, node)) compile_node(c, node);
  }
}

/* ---- constants ---- */

/* Takes over the reference, also when it throws. */
static uint32_t add_constant(Compiler *c, IValue value) {
  for (size_t i = 0; i < c->constants.length && c->constants.length < 256; i++) {
    IValue known = c->constants.data[i];
    if (known.tag != value.tag) continue;
    bool same = known.i == value.i;
    if (!same && value.tag == TAG_STRING) same = str_equal(ivalue_str(known), ivalue_str(value));
    if (same) {
      ivalue_release(value);
      return (uint32_t)i;
    }
  }
  Status status = vec_arena_try_reserve(&c->scratch, &c->constants, c->constants.length + 1);
  if (status) {
    ivalue_release(value);
    compile_out(c, status);
  }
  c->constants.data[c->constants.length++] = value;
  return (uint32_t)c->constants.length - 1;
}

static void collect_constants(Compiler *c, const Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) collect_constants(c, node->blocks[i]);
    Value *output = node->output_count == 1 ? node->outputs[0] : NULL;
    IValue value;
    if (node->kind == SYM_prim_Uninitialized && output) {
      value = zero_of_type(c, output->type, 0);
    } else if (node->kind != SYM_prim_Constant) {
      continue;
    } else if (output->type->kind == TYPE_FUNCTION) {
      value = (IValue){.tag = TAG_FUNCTION, .function = (Function *)output->type->function};
      ref_retain(&value.function->refs);
    } else {
      if (!value_is_constant(output, &value)) compile_out(c, status_internal("a constant without a value"));
      ivalue_retain(value);
      if (value.tag >= TAG_LIST) ivalue_mark_constant(value);
    }
    c->register_of[output->unique] = c->code->parameter_count + add_constant(c, value);
  }
}

/* ---- state ---- */

/* The values that a run brings along get the registers after the constants'. */
static void collect_state(Compiler *c) {
  uint32_t first = c->code->parameter_count + c->code->constant_count;
  BLOCK_EACH(node, c->graph->block) {
    if (!is_state(c, node)) continue;
    const Value *object = node_input(node, 0);
    bool is_first = object == graph_input(c->graph, 0);
    ptrdiff_t slot = class_type_find_attribute(object->type->class_type, node_string(node, SYM_attr_name));
    if (slot < 0) compile_out(c, status_internal("state that its object does not have"));
    StateRead read = {is_first ? 0 : c->register_of[object->unique] - first + 1, (uint32_t)slot};
    assert(is_first || read.object <= c->state_reads.length);
    c->register_of[node_output(node, 0)->unique] = first + (uint32_t)c->state_reads.length;
    vec_arena_push(&c->scratch, &c->state_reads, read);
  }
}

/* ---- the whole ---- */

static void compile_graph(Compiler *c) {
  const Graph *graph = c->graph;
  Code *code = c->code;
  liveness_compute(graph, &c->scratch, &c->life);
  ptrmap_init(&c->inlined, &c->scratch);
  ptrmap_init(&c->function_names, &c->scratch);
  map_init(&c->instances, &c->scratch);
  map_init(&c->calls, &c->scratch);
  c->register_of = ARENA_ARRAY(&c->scratch, uint32_t, graph->next_unique + 1);
  c->hint_of = ARENA_ARRAY(&c->scratch, uint32_t, graph->next_unique + 1);
  memset(c->register_of, 0xff, (graph->next_unique + 1) * sizeof *c->register_of);
  code->parameter_count = graph_input_count(graph);
  code->output_count = graph_output_count(graph);
  collect_constants(c, graph->block);
  code->constant_count = (uint32_t)c->constants.length;
  collect_state(c);
  code->state_count = (uint32_t)c->state_reads.length;
  code->borrowed_count = code->constant_count + code->state_count;
  for (uint32_t i = 0; i < code->parameter_count + code->borrowed_count; i++) {
    vec_arena_push(&c->scratch, &c->register_state, REGISTER_HELD);
    vec_arena_push(&c->scratch, &c->holders, NULL);
  }
  for (uint32_t i = 0; i < code->parameter_count; i++) c->register_of[graph_input(graph, i)->unique] = i;
  drop_list(c, ptrmap_get(&c->life.block_starts, graph->block));
  compile_block(c, graph->block);
  if (c->state && c->state->knows_effects && !c->state->first_effect) code->effects_from = here(c) + 1;
  c->node = graph->block->ret;
  uint32_t begin = (uint32_t)c->operands.length;
  for (uint32_t i = 0; i < code->output_count; i++) {
    uint32_t operand = use(c, graph->block->ret, i);
    if (moves(c, graph->block->ret, i, 1)) operand |= OPERAND_MOVE;
    vec_arena_push(&c->scratch, &c->operands, operand);
  }
  emit(c, INST_RET, 0, 0, begin, code->output_count);
}

static const void *keep(Compiler *c, const void *items, size_t count, size_t bytes) {
  void *kept = arena_alloc_array(c->arena, count ? count : 1, bytes);
  if (count) memcpy(kept, items, count * bytes);
  return kept;
}

static void finish(Compiler *c) {
  Code *code = c->code;
  code->instruction_count = (uint32_t)c->instructions.length;
  code->register_count = (uint32_t)c->register_state.length;
  code->instructions = keep(c, c->instructions.data, c->instructions.length, sizeof(Instruction));
  code->places = keep(c, c->places.data, c->places.length, sizeof(DebugPlace));
  code->operands = keep(c, c->operands.data, c->operands.length, sizeof(uint32_t));
  code->entries = keep(c, c->entries.data, c->entries.length, sizeof(CodeEntry));
  code->entry_count = (uint32_t)c->entries.length;
  code->sites = (Site *)keep(c, c->sites.data, c->sites.length, sizeof(Site));
  code->constants = keep(c, c->constants.data, c->constants.length, sizeof(IValue));
  code->state = keep(c, c->state_reads.data, c->state_reads.length, sizeof(StateRead));
  code->site_count = (uint32_t)c->sites.length;
  c->sites.length = c->constants.length = 0; /* the Code owns what they hold */
}

static void site_dispose(Site *site) {
  if (site->state_free) site->state_free(site->state);
  if (site->code) code_free(site->code);
  if (site->callable && ref_release(&site->callable->refs)) site->callable->release(site->callable);
}

Status code_compile_with(const Graph *graph, Str name, uint32_t flags, const Code *baseline, const StateValues *state,
                         Code **out) {
  *out = NULL;
  if (!graph_fits_stack(graph)) return graph_too_deep();
  if (graph->numbers_erased) return status_new(ERROR_UNSUPPORTED, "a graph whose numbers were erased does not run");
  Compiler *c = mem_calloc(1, sizeof *c);
  Code *code = mem_calloc(1, sizeof *code);
  if (!c || !code) {
    mem_free(c);
    mem_free(code);
    return status_out_of_memory();
  }
  static _Atomic uint64_t serial; /* a profile outlives the Codes that it saw */
  code->serial = atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed);
  c->graph = graph;
  c->code = code;
  c->flags = flags;
  c->baseline = code->baseline = baseline;
  c->state = state;
  arena_init(&c->scratch, &c->catch_point);
  arena_init_small(&code->arena, &c->catch_point);
  c->arena = &code->arena;
  if (catch_enter(&c->catch_point)) {
    code->name = (Str){arena_strndup(c->arena, name.data, name.length), name.length};
    compile_graph(c);
    finish(c);
  }
  Status status = c->catch_point.status;
  for (size_t i = 0; i < c->sites.length; i++) site_dispose(&c->sites.data[i]);
  for (size_t i = 0; i < c->constants.length; i++) ivalue_release(c->constants.data[i]);
  arena_dispose(&c->scratch);
  code->arena.catch_point = NULL;
  mem_free(c);
  if (status) {
    arena_dispose(&code->arena);
    mem_free(code);
    return status;
  }
  *out = code;
  return OK;
}

Status code_compile(const Graph *graph, Str name, Code **out) {
  return code_compile_with(graph, name, 0, NULL, NULL, out);
}

Status code_compile_baseline(const Graph *graph, Str name, Code **out) {
  return code_compile_with(graph, name, CODE_IS_BASELINE, NULL, NULL, out);
}

Status code_compile_plan(const Graph *graph, Str name, const Code *baseline, const StateValues *state, Code **out) {
  return code_compile_with(graph, name, graph->is_sealed ? CODE_GOES_FIRST : 0, baseline, state, out);
}

size_t code_bytes(const Code *code) {
  if (!code) return 0;
  size_t bytes = sizeof *code + code->arena.bytes;
  for (uint32_t i = 0; i < code->site_count; i++) bytes += code_bytes(code->sites[i].code);
  return bytes;
}

void code_free(Code *code) {
  if (!code) return;
  for (uint32_t i = 0; i < code->site_count; i++) site_dispose(&code->sites[i]);
  for (uint32_t i = 0; i < code->constant_count; i++) ivalue_release(code->constants[i]);
  arena_dispose(&code->arena);
  mem_free(code);
}
