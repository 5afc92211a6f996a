/* The slow parts of passing control on: methods of interfaces, forks, results, failed guards, unwinding. */
#include <assert.h>

#include "interp/profile.h"
#include "interp/task.h"
#include "ivalue/snapshot.h"

Status transfer_find_method(Site *site, IValue self, Function **out) {
  if (self.tag != TAG_OBJECT)
    return status_new(ERROR_RUNTIME, "a method of something that is not an object: '" STR_FMT "'", STR_ARG(site->name));
  ClassType *c = self.object->class_type;
  Function *cached = atomic_load_explicit(&site->cached, memory_order_acquire);
  if (cached && cached->class_type == c) {
    *out = cached;
    return OK;
  }
  *out = class_type_find_method(c, site->name);
  if (!*out)
    return status_new(ERROR_RUNTIME, "'" STR_FMT "' has no method '" STR_FMT "'", STR_ARG(c->type.name),
                      STR_ARG(site->name));
  if ((*out)->class_type == c) atomic_store_explicit(&site->cached, *out, memory_order_release);
  return OK;
}

Status transfer_fork(Task *parent, const Site *site, const IValue *values, IValue *out) {
  Task *task = task_acquire(parent->exec->runtime);
  if (!task) return status_out_of_memory();
  Frame *frame;
  Future *future = NULL;
  Status status = task_push(task, site->code, &frame);
  if (!status) {
    for (uint32_t i = 0; i < site->arg_count && i < site->code->parameter_count; i++) {
      ivalue_mark_shared(values[i]);
      frame->registers[i] = ivalue_retain(values[i]);
    }
    status = future_new(site->type, &future);
  }
  if (!status) {
    task->own_exec = *parent->exec;
    task->own_exec.task = NULL;
    task->own_exec.native_depth = 0;
    task->exec = &task->own_exec;
    task->group = parent->group;
    task->future = future;
    task->outputs = &task->result;
    task->output_count = 1;
    *out = ivalue_future(future);
    ivalue_retain(*out);
    status = pool_submit(task);
    if (!status) return OK;
    ivalue_release(*out);
    ivalue_release(*out);
    *out = IVALUE_NONE;
  }
  while (task->top) task_pop(task);
  task_release(task);
  return status;
}

Status transfer_results(Task *task, IValue *results, uint32_t count) {
  if (task->output_count == count) {
    memcpy(task->outputs, results, count * sizeof *results);
    return OK;
  }
  if (task->output_count == 1 && count > 1) {
    Tuple *tuple;
    Status status = tuple_new(count, NULL, &tuple);
    if (!status) {
      memcpy(tuple->values, results, count * sizeof *results);
      task->outputs[0] = ivalue_tuple(tuple);
      return OK;
    }
    for (uint32_t i = 0; i < count; i++) ivalue_release(results[i]);
    return status;
  }
  for (uint32_t i = 0; i < count; i++) ivalue_release(results[i]);
  for (uint32_t i = 0; i < task->output_count; i++) task->outputs[i] = IVALUE_NONE;
  return OK;
}

bool transfer_guard_is_forced(InterpRun *run, uint32_t entry) {
  if (run->force_guard != UINT32_MAX && run->force_guard - 1 != entry) return false;
  return run->force_after == 0 || run->force_after-- == 0;
}

/* What the Snapshot is told must last: a view comes to record when what it shows does, without a change to it. */
static bool ask_state_guards(const Task *task, const Instruction *run, Snapshot *state) {
  const Frame *frame = task->top;
  bool lasts = true;
  for (const Instruction *guard = run + 1, *end = frame->code->instructions + run->a; guard < end; guard++) {
    IValue v = frame->registers[guard->b];
    assert(guard->op == INST_GUARD && guard->a == guard->b);
    if (v.tag != TAG_TENSOR) return false;
    STATISTIC_ADD(state_guards);
    state_rely_on(&v.tensor->is_relied_on); /* before it is looked at: ORDER snapshot */
    if (!guard_holds(frame->code->sites[guard->c].type->tensor, v.tensor, task->exec->grad_enabled)) return false;
    lasts &= !(v.tensor->flags & TENSOR_VIEW);
  }
  if (lasts) atomic_fetch_or_explicit(&state->held, UINT64_C(1) << run->b, memory_order_relaxed);
  return true;
}

bool transfer_state_holds(const Task *task, const Instruction *run) {
  Snapshot *state = task->run ? task->run->state : NULL;
  if (!state || task->run->force_guard) return false;
  bool held = atomic_load_explicit(&state->held, memory_order_relaxed) >> run->b & 1;
  return (held && state->stamp == state_stamp_now()) || ask_state_guards(task, run, state);
}

static void count_bailout(const Task *task, const Frame *frame, const Site *site, IValue value) {
  Reason reason = REASON_GUARD_FAILED_UNDEFINED;
  if (value.tag == TAG_TENSOR) reason = guard_failure(site->type->tensor, value.tensor, task->exec->grad_enabled);
  if (reason == REASON_COUNT) reason = REASON_GUARD_FAILED_FORCED;
  reason_add(reason, frame->code->places[frame->pc - frame->code->instructions].range);
}

Status transfer_to_baseline(Task *task, const Site *site, IValue value) {
  enum { FEW = 32 };
  Frame *frame = task->top;
  count_bailout(task, frame, site, value);
  const Code *baseline = frame->code->baseline;
  assert(baseline && site->entry < baseline->entry_count);
  const CodeEntry *entry = &baseline->entries[site->entry];
  const uint32_t *from = frame->code->operands + site->arg_begin, *to = baseline->operands + entry->registers;
  if (frame->entered_count) return status_internal("a guard failed within `with`");
  IValue few[FEW], *live = few;
  if (entry->count > FEW && !(live = mem_alloc(entry->count * sizeof *live))) return status_out_of_memory();
  for (uint32_t i = 0; i < entry->count; i++) live[i] = ivalue_retain(frame->registers[OPERAND_REGISTER(from[i])]);
  if (task->run) task->run->failed_guard = site->entry + 1;
  uint32_t output = frame->output;
  task_pop(task);
  Status status = task_push(task, baseline, &frame);
  uint32_t constants = baseline->parameter_count, temporaries = constants + baseline->borrowed_count;
  for (uint32_t i = 0; i < entry->count; i++) {
    if (!status && (to[i] < constants || to[i] >= temporaries)) {
      IValue *r = &frame->registers[to[i]];
      ivalue_release(*r);
      *r = live[i];
    } else {
      ivalue_release(live[i]);
    }
  }
  if (live != few) mem_free(live);
  TRY(status);
  frame->output = output;
  frame->pc = baseline->instructions + entry->pc;
  return OK;
}

void transfer_note_failure(const Task *task) {
  const Frame *outermost = task->top;
  while (outermost->caller) outermost = outermost->caller;
  task->run->left_no_trace = (uint32_t)(outermost->pc - outermost->code->instructions) < outermost->code->effects_from;
}

void transfer_unwind(Task *task) {
  bool was_limited = task->exec->work.is_limited;
  task->exec->work.is_limited = false; /* `__exit__` runs after a deadline too, as far as loops go */
  while (task->top) {
    Frame *frame = task->top;
    while (frame->entered_count) {
      IValue object = frame->entered[--frame->entered_count];
      Function *exit =
          object.tag == TAG_OBJECT ? class_type_find_method(object.object->class_type, STR("__exit__")) : NULL;
      IValue arguments[4] = {object, IVALUE_NONE, IVALUE_NONE, IVALUE_NONE}, result = IVALUE_NONE;
      if (exit) {
        Status status = interp_call(task->exec, exit, arguments, 4, &result);
        status_free(status);
        ivalue_release(result);
      }
      ivalue_release(object);
    }
    task_pop(task);
  }
  task->exec->work.is_limited = was_limited;
}
