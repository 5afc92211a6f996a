/* Instrumenting graphs, merging what runs saw. */
#include "executor/profiling_record.h"

#include <assert.h>

#include "base/fork.h"
#include "base/hostile.h"
#include "pass/motion/attribute_writes.h"
#include "type/tensor_type.h"

enum {
  MAX_IDLE_RUNS = CACHE_ENTRIES(4),
  MAX_WRITES = 64, /* of tensors to attributes in a graph: of those beyond nothing is told */
  MAX_STATES = 4 * MAX_WRITES
};

/* An attribute that the graph reads and writes: slots of a tensor read and of one written. What a run writes, the next
 * one reads. */
typedef struct State {
  uint32_t read, written;
} State;

struct ProfilingRecord {
  RefCount refs;
  pthread_mutex_t lock; /* of everything below */
  uint32_t slot_count;
  uint32_t state_count;
  bool awaits_state; /* of a run that wrote something else than it read */
  State states[MAX_STATES];
  _Atomic uint32_t needed, returned;
  ProfileRun *merged;
  ProfileRun *idle[MAX_IDLE_RUNS]; /* for the next runs */
  uint32_t idle_count;
};

/* ---- instrumenting ---- */

static void erase_types(Graph *graph, Block *block) {
  for (Node *node = block->param; node != block->ret; node = node->next) {
    for (uint32_t i = 0; i < node->output_count; i++) {
      Value *v = node_output(node, i);
      v->type = type_without_refinement(graph->store, v->type);
    }
    for (uint32_t i = 0; i < node->block_count; i++) erase_types(graph, node->blocks[i]);
  }
}

static void profile_inputs(Graph *graph, Node *user, uint32_t *slots) {
  for (uint32_t i = 0; i < user->input_count; i++) {
    Value *v = node_input(user, i);
    if (v->type->kind != TYPE_TENSOR || v->node->kind == SYM_prim_profile) continue;
    Node *profile = graph_create(graph, SYM_prim_profile, 1, &v, 1);
    node_set_int(profile, SYM_attr_index, (*slots)++);
    node_copy_metadata(profile, user);
    node_insert_before(profile, user);
    for (uint32_t k = i; k < user->input_count; k++) /* one profile for all the places of one user */
      if (node_input(user, k) == v) node_replace_input(user, k, node_output(profile, 0));
  }
}

static void instrument_block(Graph *graph, Block *block, uint32_t *slots) {
  BLOCK_EACH(node, block) {
    if (node->kind == SYM_prim_profile) continue;
    profile_inputs(graph, node, slots);
    for (uint32_t i = 0; i < node->block_count; i++) instrument_block(graph, node->blocks[i], slots);
  }
}

uint32_t instrument_graph(Graph *graph) {
  uint32_t slots = 0;
  erase_types(graph, graph->block);
  instrument_block(graph, graph->block, &slots);
  profile_inputs(graph, graph->block->ret, &slots);
  return slots;
}

/* ---- state ---- */

typedef struct Write {
  const ClassAttribute *attribute;
  uint32_t slot;
} Write;
typedef struct StateSearch {
  ProfilingRecord *record;
  Write writes[MAX_WRITES];
  uint32_t count;
} StateSearch;

static const ClassAttribute *attribute_at(const Node *node, Symbol kind) {
  const ClassType *class_type;
  uint32_t slot;
  return node->kind == kind ? attribute_of_node(node, &class_type, &slot) : NULL;
}

static void find_writes(StateSearch *s, const Block *block) {
  BLOCK_EACH(node, block) {
    const ClassAttribute *attribute = attribute_at(node, SYM_prim_SetAttr);
    const Node *profile = attribute ? node_input(node, 1)->node : NULL;
    if (profile && profile->kind == SYM_prim_profile && s->count < MAX_WRITES)
      s->writes[s->count++] = (Write){attribute, (uint32_t)node_int(profile, SYM_attr_index)};
    for (uint32_t i = 0; i < node->block_count; i++) find_writes(s, node->blocks[i]);
  }
}

static void find_states_of(StateSearch *s, const ClassAttribute *attribute, const Value *read) {
  ProfilingRecord *record = s->record;
  for (size_t i = 0; i < read->uses.length; i++) {
    const Node *profile = read->uses.data[i].user;
    for (uint32_t k = 0; k < s->count && profile->kind == SYM_prim_profile; k++)
      if (s->writes[k].attribute == attribute && record->state_count < MAX_STATES)
        record->states[record->state_count++] = (State){(uint32_t)node_int(profile, SYM_attr_index), s->writes[k].slot};
  }
}

static void find_states(StateSearch *s, const Block *block) {
  BLOCK_EACH(node, block) {
    const ClassAttribute *attribute = attribute_at(node, SYM_prim_GetAttr);
    if (attribute) find_states_of(s, attribute, node_output(node, 0));
    for (uint32_t i = 0; i < node->block_count; i++) find_states(s, node->blocks[i]);
  }
}

static bool slots_differ(const ProfileSlot *a, const ProfileSlot *b) {
  if (a->seen != b->seen || a->seen != PROFILE_DEFINED) return a->seen != b->seen;
  size_t bytes = (size_t)(a->ndim > 0 ? a->ndim : 0) * sizeof *a->sizes;
  return a->dtype != b->dtype || a->ndim != b->ndim || a->grad != b->grad || !device_equal(a->device, b->device) ||
         memcmp(a->sizes, b->sizes, bytes) || memcmp(a->strides, b->strides, bytes);
}

static bool changes_state(const ProfilingRecord *record, const ProfileRun *run) {
  for (uint32_t i = 0; i < record->state_count; i++) {
    const ProfileSlot *read = &run->slots[record->states[i].read], *written = &run->slots[record->states[i].written];
    if (read->seen && written->seen && slots_differ(read, written)) return true;
  }
  return false;
}

bool profiling_record_await_state(ProfilingRecord *record, const ProfileRun *run) {
  lock_take(&record->lock);
  bool begins = run && !record->awaits_state && !profiling_record_is_ready(record) && changes_state(record, run);
  if (begins) {
    record->awaits_state = true;
    atomic_fetch_add(&record->needed, 1);
  }
  lock_drop(&record->lock);
  return begins;
}

/* ---- the record ---- */

typedef struct Instrumentation {
  Graph *graph;
  uint32_t slots;
} Instrumentation;

static void instrument(void *argument) {
  Instrumentation *i = argument;
  i->slots = instrument_graph(i->graph);
}

Status profiling_record_new(Graph *graph, uint32_t runs, ProfilingRecord *before, ProfilingRecord **out) {
  if (!graph_fits_stack(graph)) return graph_too_deep();
  Instrumentation instrumentation = {graph, 0};
  TRY(arena_protect(graph->arena, instrument, &instrumentation));
  if (before && before->slot_count == instrumentation.slots) {
    profiling_record_extend(before, runs);
    *out = profiling_record_retain(before);
    return OK;
  }
  ProfilingRecord *record = mem_calloc(1, sizeof *record);
  if (!record) return status_out_of_memory();
  record->merged = profile_run_new(instrumentation.slots);
  if (!record->merged) {
    mem_free(record);
    return status_out_of_memory();
  }
  ref_init(&record->refs);
  pthread_mutex_init(&record->lock, NULL);
  record->slot_count = instrumentation.slots;
  record->needed = runs;
  StateSearch search = {.record = record};
  find_writes(&search, graph->block);
  if (search.count) find_states(&search, graph->block);
  *out = record;
  return OK;
}

ProfilingRecord *profiling_record_retain(ProfilingRecord *record) {
  ref_retain(&record->refs);
  return record;
}

void profiling_record_release(ProfilingRecord *record) {
  if (!record || !ref_release(&record->refs)) return;
  profile_run_free(record->merged);
  for (uint32_t i = 0; i < record->idle_count; i++) profile_run_free(record->idle[i]);
  pthread_mutex_destroy(&record->lock);
  mem_free(record);
}

uint32_t profiling_record_slots(const ProfilingRecord *record) {
  return record->slot_count;
}

ProfileRun *profiling_record_begin(ProfilingRecord *record) {
  ProfileRun *run = NULL;
  lock_take(&record->lock);
  if (record->idle_count) run = record->idle[--record->idle_count];
  lock_drop(&record->lock);
  return run ? run : profile_run_new(record->slot_count);
}

static void merge_slot(ProfileSlot *into, const ProfileSlot *slot) {
  uint8_t seen = into->seen | slot->seen;
  if (!(into->seen & PROFILE_DEFINED)) {
    *into = *slot;
  } else if (slot->seen & PROFILE_DEFINED) {
    if (into->dtype != slot->dtype) into->dtype = -1;
    if (into->grad != slot->grad) into->grad = -1;
    if (!device_equal(into->device, slot->device)) into->device.type = -1;
    if (into->ndim != slot->ndim) into->ndim = -1;
    for (int i = 0; i < into->ndim; i++) {
      if (into->sizes[i] != slot->sizes[i]) into->sizes[i] = -1;
      if (into->strides[i] != slot->strides[i]) into->strides[i] = -1;
    }
  }
  into->seen = seen;
}

/* What holds for everything that came by; false: nothing came by, or nothing can be said. */
static bool slot_info(const ProfileSlot *slot, TensorInfo *out) {
  tensor_info_init(out);
  if (slot->seen == PROFILE_UNDEFINED) out->undefined = 1;
  if (slot->seen != PROFILE_DEFINED) return slot->seen == PROFILE_UNDEFINED;
  out->dtype = slot->dtype;
  out->requires_grad = slot->grad;
  out->ndim = slot->ndim;
  if (slot->device.type >= 0) {
    out->device_type = slot->device.type;
    out->device_index = slot->device.index;
  }
  if (slot->ndim >= 0) {
    out->has_sizes = out->has_strides = true;
    memcpy(out->sizes, slot->sizes, (size_t)slot->ndim * sizeof *slot->sizes);
    memcpy(out->strides, slot->strides, (size_t)slot->ndim * sizeof *slot->strides);
  }
  return tensor_info_is_known(out);
}

void profiling_record_end(ProfilingRecord *record, ProfileRun *run, bool completed) {
  assert(!run || run->count == record->slot_count);
  if (!run) return;
  lock_take(&record->lock);
  if (completed && !profiling_record_is_ready(record)) {
    for (uint32_t i = 0; i < record->slot_count; i++) merge_slot(&record->merged->slots[i], &run->slots[i]);
    atomic_fetch_add(&record->returned, 1);
  }
  lock_drop(&record->lock);
  memset(run->slots, 0, run->count * sizeof *run->slots);
  lock_take(&record->lock);
  if (record->idle_count < MAX_IDLE_RUNS && !profiling_record_is_ready(record)) {
    record->idle[record->idle_count++] = run;
    run = NULL;
  }
  lock_drop(&record->lock);
  profile_run_free(run);
}

void profiling_record_extend(ProfilingRecord *record, uint32_t runs) {
  atomic_store(&record->needed, atomic_load(&record->returned) + runs);
}

bool profiling_record_is_ready(const ProfilingRecord *record) {
  return atomic_load(&record->returned) >= record->needed;
}

static void apply_block(const ProfileRun *seen, Graph *graph, Block *block) {
  BLOCK_EACH(node, block) {
    for (uint32_t i = 0; i < node->block_count; i++) apply_block(seen, graph, node->blocks[i]);
    if (node->kind != SYM_prim_profile) continue;
    TensorInfo info;
    int64_t slot = node_int(node, SYM_attr_index);
    bool known = slot >= 0 && slot < seen->count && slot_info(&seen->slots[slot], &info);
    const Type *type = known ? type_tensor_refined(graph->store, &info) : TYPE(TENSOR);
    node_output(node, 0)->type = type;
    if (known) node_set_type(node, SYM_attr_profiled_type, type);
  }
}

/* What was merged does not change any more. */
void profiling_record_apply(ProfilingRecord *record, Graph *copy) {
  assert(profiling_record_is_ready(record));
  apply_block(record->merged, copy, copy->block);
}
