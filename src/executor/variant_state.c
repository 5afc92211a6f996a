/* The state of a call: what a plan and the choice of it rely on of the first argument's attributes. The object keeps a
 * Snapshot of that for each executor, mode, grad mode and precision, so that a call of a settled module compares the
 * stamp and does not walk paths and read attributes one by one. */
#include "executor/variant.h"

#include "interp/state.h"
#include "ivalue/lock.h"

CallState call_state_begin(const GraphExecutor *e, const Exec *exec, ExecutorMode mode, const IValue *arguments,
                           uint32_t count) {
  _Static_assert(EXECUTOR_MODE_COUNT <= 4, "two bits say which");
  CallState state = {.reader = (e->serial << 2 | (uint64_t)mode) * CALL_TERMS + call_terms_of(exec)};
  if (!count || arguments[0].tag != TAG_OBJECT || !object_is_shared(arguments[0].object)) return state;
  state.object = arguments[0].object;
  state.stamp = state_stamp_now();
  state.snapshot = object_snapshot(state.object, state.reader, state.stamp);
  return state;
}

/* What tensors look like is no state: it changes without a write to an attribute. */
Variant *call_state_variant(const CallState *state, const ArgumentSpec *inputs) {
  Variant *v = state->snapshot && !inputs->failed && !inputs->tensors ? state->snapshot->variant : NULL;
  return v && argument_spec_begins_with(&v->spec, inputs) ? v : NULL;
}

static void rely_on(const ClassType *class_type, uint32_t slot) {
  attribute_rely_on(&class_type->attributes.data[slot]);
}

void call_state_rely_on(const CallState *state, const AttributePaths *paths) {
  if (!state->object) return;
  for (size_t i = 1; i < paths->objects.length; i++) {
    const AttributeObject *object = &paths->objects.data[i];
    rely_on(paths->objects.data[object->parent].class_type, object->slot);
  }
  for (size_t i = 0; i < paths->leaves.length; i++)
    rely_on(paths->objects.data[paths->leaves.data[i].object].class_type, paths->leaves.data[i].slot);
}

static uint64_t serial_of(const Code *code) {
  return code ? code_serial(code) : UINT64_MAX;
}

static Status read_anew(const CallState *state, Variant *v, const Code *code, IValue self, Snapshot **out) {
  HEAP_SCOPE(v->executor->graph->arena->heap); /* not the caller's, whose call may not be the last */
  Snapshot *snapshot = *out = snapshot_new(code ? code_state_count(code) : 0);
  if (!snapshot) return status_out_of_memory();
  snapshot->stamp = state->stamp;
  snapshot->reader = state->reader;
  snapshot->variant = v->is_generic ? NULL : v;
  snapshot->code = serial_of(code);
  if (code) TRY(code_read_state(code, self, snapshot->values));
  if (state->object) object_keep_snapshot(state->object, snapshot);
  STATISTIC_ADD(state_reads);
  return OK;
}

Status call_state_read(CallState *state, Variant *v, const Plan *plan, const IValue *arguments) {
  const Code *code = plan ? plan->code : NULL;
  Snapshot *snapshot = state->snapshot;
  if (snapshot && snapshot->code == serial_of(code)) return OK;
  snapshot_release(snapshot);
  state->snapshot = NULL;
  bool has_paths = state->object && atomic_load(&v->executor->paths)->objects.length;
  if (!has_paths && !(code && code_state_count(code))) return OK;
  MemBudget *budget = mem_budget_enter(NULL); /* what is kept is nobody's */
  Status status = read_anew(state, v, code, arguments[0], &state->snapshot);
  mem_budget_enter(budget);
  return status;
}
