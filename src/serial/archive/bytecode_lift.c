/* See bytecode_lift.h. Instructions and their meaning are those of PyTorch's interpreter for phones
 * (torch/csrc/jit/mobile/interpreter.cpp); the shapes of If and Loop those of its code generator
 * (torch/csrc/jit/runtime/interpreter/code_impl.h). */
#include "serial/archive/bytecode_lift.h"

#include <assert.h>

#include "frontend/emitter.h"
#include "ir/operator_use.h"
#include "pass/pass.h"
#include "serial/archive/bytecode_machine.h"

enum { MAX_INSTRUCTIONS = 1 << 20, MAX_REGISTERS = 1 << 21, WORK_PER_INSTRUCTION = 64, MAX_NESTING = 200 };

/* ---- control flow ---- */

static void lift_range(Lift *l, size_t begin, size_t end);

/* Where the jump at `at` leads, within (at, limit]. */
static size_t target(Lift *l, size_t at, size_t limit) {
  int64_t x = l->instructions[at].x;
  if (x < 1 || (uint64_t)x > limit - at) LIFT_FAIL(l, "a jump leads out of its block");
  return at + (size_t)x;
}

static void lift_block(Lift *l, Block *block, size_t begin, size_t end) {
  assert(begin <= end);
  size_t base = l->base;
  Node *before = l->graph->insert_before;
  l->base = l->stack.length;
  for (uint32_t i = 0; i < block_input_count(block); i++) lift_push(l, block_input(block, i));
  graph_set_insert_block(l->graph, block);
  lift_range(l, begin, end);
  for (size_t i = l->base; i < l->stack.length; i++) block_register_output(block, l->stack.data[i]);
  l->stack.length = l->base;
  l->base = base;
  graph_set_insert_point(l->graph, before);
}

static const Type *joined(Lift *l, const Type *a, const Type *b) {
  const Type *type = type_unify(l->graph->store, a, b, true);
  if (!type) LIFT_FAIL(l, "two values of one place have no common type");
  return type;
}

static bool block_raises(const Block *block) {
  for (const Node *node = block->ret->prev; node != block->param; node = node->prev)
    if (node->kind == SYM_prim_RaiseException) return true;
  return false;
}
static void give_uninitialized(Lift *l, Block *block, uint32_t i, const Type *type) {
  Node *before = l->graph->insert_before;
  graph_set_insert_block(l->graph, block);
  block_replace_output(block, i, lift_uninitialized(l, type));
  graph_set_insert_point(l->graph, before);
}

/* A block that raises, or gives what has no value, gives what the other one gives. */
static Value *if_output(Lift *l, Node *node, uint32_t i) {
  bool empty[2];
  for (int b = 0; b < 2; b++)
    empty[b] = block_raises(node->blocks[b]) || value_is_uninitialized(block_output(node->blocks[b], i));
  for (int b = 0; b < 2; b++)
    if (empty[b] && !empty[!b]) give_uninitialized(l, node->blocks[b], i, block_output(node->blocks[!b], i)->type);
  if (empty[0] && empty[1])
    for (int b = 0; b < 2; b++) give_uninitialized(l, node->blocks[b], i, TYPE(NONE));
  Value *output =
      node_add_output(node, joined(l, block_output(node->blocks[0], i)->type, block_output(node->blocks[1], i)->type));
  return empty[0] && empty[1] ? lift_uninitialized(l, TYPE(NONE)) : output;
}

/* JF to the else block; a JMP over that one stands before it. */
static size_t lift_if(Lift *l, size_t at, size_t end) {
  size_t otherwise = target(l, at, end);
  if (otherwise < at + 2 || l->instructions[otherwise - 1].opcode != OPCODE_JMP) LIFT_FAIL(l, "a branch has no end");
  size_t after = target(l, otherwise - 1, end);
  Value *condition = lift_pop(l);
  IValue known;
  if (value_is_constant(condition, &known) && known.tag == TAG_BOOL) {
    lift_range(l, known.b ? at + 1 : otherwise, known.b ? otherwise - 1 : after);
    return after;
  }
  Node *node = graph_insert_node(l->graph, graph_create_if(l->graph, condition));
  node->range = lift_line(l, at);
  lift_block(l, node->blocks[0], at + 1, otherwise - 1);
  lift_block(l, node->blocks[1], otherwise, after);
  l->at = at;
  uint32_t count = block_output_count(node->blocks[0]);
  if (block_output_count(node->blocks[1]) != count) LIFT_FAIL(l, "the branches leave different numbers of values");
  for (uint32_t i = 0; i < count; i++) lift_push(l, if_output(l, node, i));
  return after;
}

typedef struct LoopPlan {
  size_t at, exit;
  Value *trip_count, *condition, **carried;
  uint32_t count;
  const Type **types;
} LoopPlan;

/* NULL: what the body gives is wider; plan->types are widened. */
static Node *try_loop(Lift *l, LoopPlan *plan) {
  Node *node = graph_insert_node(l->graph, graph_create_loop(l->graph, plan->trip_count, plan->condition));
  Block *body = node->blocks[0];
  node->range = lift_line(l, plan->at);
  for (uint32_t i = 0; i < plan->count; i++) {
    node_add_input(node, plan->carried[i]);
    block_add_input(body, STR(""), plan->types[i]);
    node_add_output(node, plan->types[i]);
  }
  lift_block(l, body, plan->at + 1, plan->exit - 1);
  l->at = plan->at;
  if (block_output_count(body) != plan->count + 1) LIFT_FAIL(l, "the body of a loop leaves another number of values");
  bool fits = true;
  for (uint32_t i = 0; i < plan->count; i++) {
    const Type *given = block_output(body, i + 1)->type;
    if (type_is_subtype(given, plan->types[i], NULL)) continue;
    plan->types[i] = value_is_uninitialized(plan->carried[i]) && plan->types[i]->kind == TYPE_NONE
                         ? given
                         : joined(l, plan->types[i], given);
    fits = false;
  }
  if (fits) return node;
  node_destroy(node);
  for (uint32_t i = 0; i < plan->count; i++)
    if (value_is_uninitialized(plan->carried[i])) plan->carried[i] = lift_uninitialized(l, plan->types[i]);
  return NULL;
}

/* LOOP over a counter, the trip count, the condition and what is carried; the body's last instruction leads back. */
static size_t lift_loop(Lift *l, size_t at, size_t end) {
  const Instruction *in = &l->instructions[at];
  LoopPlan plan = {.at = at, .exit = target(l, at, end)};
  if (in->n < 2 || plan.exit < at + 2 || l->instructions[plan.exit - 1].opcode != OPCODE_JMP ||
      l->instructions[plan.exit - 1].x != -(int64_t)(plan.exit - 1 - at))
    LIFT_FAIL(l, "a loop has no end");
  Value **values = lift_pop_many(l, in->n);
  IValue counter;
  if (!value_is_constant(lift_pop(l), &counter) || counter.tag != TAG_INT || counter.i != 0)
    LIFT_FAIL(l, "a loop does not count from 0");
  plan.trip_count = values[0], plan.condition = values[1], plan.carried = values + 2;
  plan.count = (uint32_t)in->n - 2;
  plan.types = ARENA_ARRAY(l->graph->arena, const Type *, plan.count + 1);
  for (uint32_t i = 0; i < plan.count; i++) plan.types[i] = plan.carried[i]->type;
  uint64_t price = l->register_count / 64;
  if (l->work < price) LIFT_FAIL(l, "the bytecode takes too long to read");
  l->work -= price;
  Value **saved = ARENA_ARRAY(l->graph->arena, Value *, l->register_count + 1);
  memcpy(saved, l->registers, l->register_count * sizeof *saved);
  Node *node;
  while (!(node = try_loop(l, &plan))) memcpy(l->registers, saved, l->register_count * sizeof *saved);
  for (uint32_t i = 0; i < plan.count; i++) lift_push(l, node_output(node, i));
  return plan.exit;
}

static void lift_range(Lift *l, size_t begin, size_t end) {
  assert(begin <= end);
  if (++l->nesting > MAX_NESTING) LIFT_FAIL(l, "blocks nest too deeply");
  for (size_t at = begin; at < end;) {
    const Instruction *in = &l->instructions[at];
    l->at = at;
    if (!l->work--) LIFT_FAIL(l, "the bytecode takes too long to read");
    switch (in->opcode) {
      case OPCODE_JF:
        at = lift_if(l, at, end);
        break;
      case OPCODE_LOOP:
        at = lift_loop(l, at, end);
        break;
      case OPCODE_JMP:
      case OPCODE_RET:
        LIFT_FAIL(l, "%s where a block goes on", bytecode_opcode_name(in->opcode));
      default:
        lift_instruction(l, in);
        at++;
    }
  }
  l->nesting--;
}

/* ---- a method ---- */

static uint8_t opcode_of(Lift *l, Str name) {
  uint8_t opcode = bytecode_opcode(name);
  if (opcode < OPCODE_COUNT) return opcode;
  catch_throw(&l->c->catch_point, status_new(ERROR_UNSUPPORTED, "the instruction " STR_FMT " of bytecode",
                                             STR_ARG(str_slice(name, 0, name.length < 40 ? name.length : 40))));
}

_Noreturn static void fail_code(Lift *l, const char *what) {
  catch_throw(&l->c->catch_point, status_new(ERROR_DATA, "%s", what));
}

static void read_instruction(Lift *l, IValue entry, Instruction *out) {
  if (entry.tag != TAG_TUPLE || entry.tuple->length != 3 || entry.tuple->values[0].tag != TAG_STRING ||
      entry.tuple->values[1].tag != TAG_INT || entry.tuple->values[2].tag != TAG_INT)
    fail_code(l, "an instruction is no (name, x, n)");
  Str name = ivalue_str(entry.tuple->values[0]);
  *out = (Instruction){opcode_of(l, name), entry.tuple->values[1].i, entry.tuple->values[2].i};
  strbuf_printf(&l->listing, STR_FMT " %lld %lld\n", STR_ARG(name), (long long)out->x, (long long)out->n);
}

static int64_t last_stored(const Instruction *in) {
  int64_t last;
  return __builtin_add_overflow(in->x, in->n, &last) ? INT64_MAX : last;
}

/* The listing belongs to the unit, as sources do: the graph's nodes point into it. */
static void read_instructions(Lift *l, const BytecodeFunction *function) {
  IValue entries = bytecode_table_get(function->code, "instructions");
  if (entries.tag != TAG_TUPLE || !entries.tuple->length || entries.tuple->length > MAX_INSTRUCTIONS)
    fail_code(l, "a function has no instructions, or too many");
  Arena *arena = l->graph->arena;
  l->count = entries.tuple->length;
  l->instructions = ARENA_ARRAY(arena, Instruction, l->count);
  l->lines = ARENA_ARRAY(arena, uint32_t, l->count + 1);
  int64_t registers = 0;
  for (size_t i = 0; i < l->count; i++) {
    Instruction *in = &l->instructions[i];
    l->lines[i] = (uint32_t)l->listing.length;
    read_instruction(l, entries.tuple->values[i], in);
    int64_t last = in->opcode == OPCODE_STORE ? in->x : in->opcode == OPCODE_STOREN ? last_stored(in) : 0;
    if (last > registers) registers = last;
  }
  l->lines[l->count] = (uint32_t)l->listing.length;
  if (registers > MAX_REGISTERS) fail_code(l, "a function has too many registers");
  const char *name =
      arena_printf(arena, "bytecode of " STR_FMT "." STR_FMT, STR_ARG(function->class_name), STR_ARG(function->name));
  Status status = source_new(strbuf_view(&l->listing), name, 1, &l->source);
  if (status) catch_throw(&l->c->catch_point, status);
  unit_hold_source(l->c->unit, l->source);
  l->register_count = (size_t)registers + 1;
  l->registers = ARENA_ARRAY(arena, Value *, l->register_count);
  memset(l->registers, 0, l->register_count * sizeof *l->registers);
  l->work = WORK_PER_INSTRUCTION * (uint64_t)l->count;
}

typedef struct Emission {
  Lift lift;
  Arena arena;
  const BytecodeFunction *source;
  Function *method;
} Emission;

static void emit(Compilation *c, void *argument) {
  Emission *m = argument;
  Lift *l = &m->lift;
  TypeStore *store = &c->unit->store;
  l->graph = graph_new(&m->arena, store);
  l->operators = bytecode_table_get(m->source->code, "operators");
  l->constants = bytecode_table_get(m->source->code, "constants");
  l->types = bytecode_table_get(m->source->code, "types");
  read_instructions(l, m->source);
  for (uint32_t i = 0; i < m->method->schema->argument_count; i++)
    lift_push(l, graph_add_input(l->graph, m->method->schema->arguments[i].name, m->method->schema->arguments[i].type));
  if (l->instructions[l->count - 1].opcode != OPCODE_RET) fail_code(l, "a function does not return");
  lift_range(l, 0, l->count - 1);
  l->at = l->count - 1;
  if (l->stack.length != m->method->schema->return_count)
    LIFT_FAIL(l, "a function returns another number of values than its schema says");
  for (uint32_t i = 0; i < m->method->schema->return_count; i++) {
    const Type *type = m->method->schema->returns[i].type;
    Value *result = lift_fit(l, type, l->stack.data[i]);
    result = value_convert(l->graph, type, result, true, lift_line(l, l->at));
    if (!type_is_subtype_unrefined(result->type, type))
      LIFT_FAIL(l, "a function gives %s and says that it gives %s", type_text(l->c, result->type),
                type_text(l->c, type));
    graph_register_output(l->graph, result);
  }
  function_note_operators(m->method, l->graph);
  constant_pooling(l->graph);
  dead_code_elimination(l->graph);
  Status status = graph_check(l->graph);
  if (status) catch_throw(&c->catch_point, status);
  m->method->graph = graph_compact(l->graph, &store->arena, store, false);
  graph_seal(m->method->graph);
}

void bytecode_lift(Bytecode *bytecode, Compilation *c, const BytecodeFunction *source, Function *method,
                   bool *out_widened) {
  if (!method->schema) method->schema = bytecode_schema(c, bytecode, source);
  if (method->graph) graph_dispose(method->graph);
  method->graph = NULL;
  Emission *m = mem_calloc(1, sizeof *m);
  if (!m) catch_throw(&c->catch_point, status_out_of_memory());
  *m = (Emission){.lift = {.c = c, .bytecode = bytecode}, .source = source, .method = method};
  arena_init(&m->arena, &c->catch_point);
  Status status = compilation_protect(c, emit, m);
  *out_widened |= m->lift.widened;
  strbuf_dispose(&m->lift.listing);
  strbuf_dispose(&m->lift.why);
  if (m->lift.graph) graph_dispose(m->lift.graph);
  arena_dispose(&m->arena);
  mem_free(m);
  if (status) catch_throw(&c->catch_point, status);
}
