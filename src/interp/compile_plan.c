/* Graphs of the profiling executor: prim::profile, and prim::BailOut as a guard (in plans) or as a marker (in the
 * baseline that a failed guard goes on in). */
#include "interp/compile_internal.h"

/* Inputs from `first` on that die here: their registers are free afterwards. */
static void drop_dying(Compiler *c, const Node *node, uint32_t first) {
  for (uint32_t i = first; i < node->input_count; i++)
    if (dies(c, node, i)) drop_value(c, node_input(node, i));
}

/* The output takes the first input's register where that dies, so that a guard that holds moves nothing. */
static uint32_t pass_on(Compiler *c, const Node *node, uint8_t *out_flags) {
  *out_flags = moves(c, node, 0, MOVES_B);
  if (dies(c, node, 0)) {
    uint32_t r = use(c, node, 0), hint = c->hint_of[node_output(node, 0)->unique];
    free_register(c, r);
    if (!hint && r < c->next_register) c->next_register = r;
  }
  return define(c, node_output(node, 0));
}

void compile_profile(Compiler *c, const Node *node) {
  if (!node->output_count || !node->input_count) return;
  const NodeAttribute *slot = node_attribute(node, SYM_attr_index);
  if (!slot || slot->tag != ATTR_INT || slot->i < 0 || slot->i >= NO_REGISTER)
    compile_out(c, status_internal("prim::profile without a slot"));
  uint8_t flags;
  uint32_t from = use(c, node, 0), to = pass_on(c, node, &flags);
  emit(c, INST_PROFILE, flags, to, from, (uint32_t)slot->i);
  if (slot->i >= c->code->profile_count) c->code->profile_count = (uint32_t)slot->i + 1;
  drop_dead(c, node);
}

static uint32_t marker_index(Compiler *c, const Node *node) {
  enum { MAX_MARKERS = 1 << 20 };
  const NodeAttribute *index = node_attribute(node, SYM_attr_index);
  if (!index || index->tag != ATTR_INT || index->i < 0 || index->i >= MAX_MARKERS)
    compile_out(c, status_internal("prim::BailOut without an index"));
  return (uint32_t)index->i;
}

/* The marker may do without what the guard tests. */
static bool fits_marker(const CodeEntry *entry, const Node *guard) {
  return entry->pc != NO_REGISTER && (entry->count == guard->input_count || entry->count + 1 == guard->input_count);
}

/* Guards on state stand in runs, each with an instruction in front that jumps over all. false: it is in none. */
static bool joins_run(Compiler *c, const Node *node) {
  enum { MAX_RUNS = 64 }; /* bits of Snapshot.held */
  if (!c->code->state_count) return false;
  uint32_t count = c->guard_runs.count, at = c->guard_runs.at;
  if (count && c->guard_runs.block == node->owning_block && c->instructions.data[at].a == here(c)) return true;
  if (count == MAX_RUNS) return false;
  c->guard_runs.at = emit(c, INST_STATE_GUARDS, 0, 0, count, 0);
  c->guard_runs.block = node->owning_block;
  c->guard_runs.count++;
  return true;
}

void compile_guard(Compiler *c, const Node *node) {
  uint32_t index = marker_index(c, node);
  const CodeEntry *entry = c->baseline && index < c->baseline->entry_count ? &c->baseline->entries[index] : NULL;
  if (!entry || !node->input_count || !fits_marker(entry, node))
    compile_out(c, status_internal("guard %u has no entry into the baseline", index));
  Site site = {.arg_begin = (uint32_t)c->operands.length,
               .arg_count = node->input_count,
               .entry = index,
               .type = node_output(node, 0)->type};
  if (site.type->kind != TYPE_TENSOR)
    compile_out(c, status_internal("guard %u of something that is not a tensor", index));
  for (uint32_t i = 0; i < node->input_count; i++) vec_arena_push(&c->scratch, &c->operands, use(c, node, i));
  site.arg_begin += node->input_count - entry->count;
  site.arg_count = entry->count;
  vec_arena_push(&c->scratch, &c->sites, site);
  uint8_t flags = 0;
  uint32_t from = use(c, node, 0), to = from;
  bool in_run = false;
  if (is_temporary(c, from)) {
    to = pass_on(c, node, &flags);
  } else {
    c->register_of[node_output(node, 0)->unique] = from; /* borrowed as well */
    in_run = joins_run(c, node);
  }
  emit(c, INST_GUARD, flags, to, from, (uint32_t)c->sites.length - 1);
  if (in_run) patch(c, c->guard_runs.at);
  drop_dying(c, node, 1);
  drop_dead(c, node);
}

void compile_marker(Compiler *c, const Node *node) {
  uint32_t index = marker_index(c, node);
  const ValueList *missing = ptrmap_get(&c->life.unlisted, node);
  for (size_t i = 0; missing && i < missing->length; i++) /* a while loop's unused index lives nowhere */
    if (c->register_of[missing->data[i]->unique] != NO_REGISTER)
      compile_out(
          c, status_internal("guard %u does not list %%%u, which is needed after it", index, missing->data[i]->unique));
  while (c->entries.length <= index) vec_arena_push(&c->scratch, &c->entries, ((CodeEntry){.pc = NO_REGISTER}));
  c->entries.data[index] =
      (CodeEntry){(uint32_t)c->instructions.length, node->input_count, (uint32_t)c->operands.length};
  for (uint32_t i = 0; i < node->input_count; i++) vec_arena_push(&c->scratch, &c->operands, use(c, node, i));
  if (node->output_count) {
    uint8_t flags;
    uint32_t from = use(c, node, 0), to = pass_on(c, node, &flags);
    if (to != from) emit(c, flags ? INST_MOVE : INST_LOAD, 0, to, from, 0);
  }
  drop_dying(c, node, node->output_count ? 1 : 0);
  drop_dead(c, node);
}
