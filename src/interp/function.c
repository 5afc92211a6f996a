/* Calling functions: their Code on first use, runs on the caller's thread, runs of their own. */
#include <assert.h>
#include <pthread.h>

#include "base/fork.h"
#include "base/stack.h"
#include "interp/task.h"
#include "ivalue/snapshot.h"

enum { MAX_NATIVE_DEPTH = 200 };

/* Threads that call first at the same time may each make the Code; the first stays. */
static const Code *publish(Function *function, Code *code) {
  Code *first = NULL;
  if (atomic_compare_exchange_strong(&function->code, &first, code)) return code;
  code_free(code);
  return first;
}

Status function_code(Exec *exec, Function *function, const Code **out) {
  *out = atomic_load_explicit(&function->code, memory_order_acquire);
  if (*out) return OK;
  if (!function->graph) return status_internal("function '" STR_FMT "' has not been compiled", STR_ARG(function->name));
  pthread_mutex_t *growth = function->unit->growth;
  HEAP_SCOPE(function->unit->store.arena.heap); /* not the caller's, who may go first */
  const Graph *graph = function->graph;
  Code *code = NULL;
  if (growth) lock_take(growth);
  Status status = function_slots() ? function_slots()->graph_to_run(exec, function, &graph) : OK;
  if (!status) status = code_compile(graph, function->name, &code);
  if (growth) lock_drop(growth);
  if (!status) *out = publish(function, code);
  return status;
}

static Status check_count(const Code *code, uint32_t count) {
  if (code->parameter_count == count) return OK;
  return status_new(ERROR_INVALID_ARGUMENT, "'" STR_FMT "' takes %u arguments, got %u", STR_ARG(code->name),
                    code->parameter_count, count);
}

/* Borrowed until the run has ended. */
static void take_state(const Frame *frame, const InterpRun *run) {
  const Code *code = frame->code;
  if (!code->state_count) return;
  assert(run && run->state && run->state->count == code->state_count);
  memcpy(frame->registers + code->parameter_count + code->constant_count, run->state->values,
         code->state_count * sizeof(IValue));
}

Status interp_run_plan(Exec *exec, const Code *code, const IValue *inputs, uint32_t input_count, IValue *outputs,
                       uint32_t output_count, InterpRun *run) {
  for (uint32_t i = 0; i < output_count; i++) outputs[i] = IVALUE_NONE;
  TRY(check_count(code, input_count));
  assert(output_count == 1 || output_count == code->output_count);
  if (exec->native_depth >= MAX_NATIVE_DEPTH || STACK_IS_LOW())
    return status_exception("RecursionError", "the interpreter was entered %d times from within itself",
                            exec->native_depth);
  Task *task = task_acquire(exec->runtime);
  if (!task) return status_out_of_memory();
  RunGroup group;
  group_init(&group, exec);
  task->exec = exec;
  task->outer = exec->task;
  task->group = task->outer ? task->outer->group : &group;
  task->outputs = outputs;
  task->output_count = output_count;
  task->run = run;
  Frame *frame;
  Status status = task_push(task, code, &frame);
  if (status) {
    task_release(task);
    return status;
  }
  for (uint32_t i = 0; i < input_count; i++) frame->registers[i] = ivalue_retain(inputs[i]);
  take_state(frame, run);
  exec->native_depth++;
  if (task_run(task) == RUN_SUSPENDED) pool_wait_done(task);
  exec->native_depth--;
  if (group.is_used) pool_wait_group(&group);
  status = task->status;
  task_release(task);
  return status;
}

Status interp_run(Exec *exec, const Code *code, const IValue *inputs, uint32_t input_count, IValue *outputs,
                  uint32_t output_count) {
  return interp_run_plan(exec, code, inputs, input_count, outputs, output_count, NULL);
}

Status interp_call(Exec *exec, Function *function, const IValue *arguments, uint32_t count, IValue *out) {
  *out = IVALUE_NONE;
  const Code *code;
  TRY(function_code(exec, function, &code));
  return interp_run(exec, code, arguments, count, out, 1);
}

Status interp_start(Exec *exec, Function *function, const Code *code, const IValue *arguments, uint32_t count,
                    AsyncRun *run, Future **out) {
  *out = NULL;
  TRY(check_count(code, count));
  const Type *type =
      function->schema && function->schema->return_count == 1 ? function->schema->returns[0].type : TYPE(ANY);
  Task *task = task_acquire(exec->runtime);
  if (!task) return status_out_of_memory();
  Frame *frame;
  Future *future = NULL;
  Status status = task_push(task, code, &frame);
  if (!status) {
    for (uint32_t i = 0; i < count; i++) {
      ivalue_mark_shared(arguments[i]);
      frame->registers[i] = ivalue_retain(arguments[i]);
    }
    take_state(frame, run ? &run->run : NULL);
    status = future_new(type, &future);
  }
  if (status) goto failed;
  task->own_exec = *exec;
  task->own_exec.task = NULL;
  task->own_exec.native_depth = 0;
  task->exec = &task->own_exec;
  if (exec->work.budget) {
    task->own_budget = *exec->work.budget;
    task->own_exec.work.budget = &task->own_budget;
  }
  group_init(&task->own_group, exec);
  task->own_group.active = 0; /* pool_submit counts it */
  task->group = &task->own_group;
  task->future = future;
  task->outputs = &task->result;
  task->output_count = 1;
  if (run) task->run = &run->run;
  task->unit = unit_retain(function->unit);
  runtime_hold(task->runtime);
  *out = future;
  ivalue_retain(ivalue_future(future));
  TRY_GOTO(pool_submit(task), failed_submit);
  return OK;
failed_submit:
  ivalue_release(ivalue_future(future));
  ivalue_release(ivalue_future(future));
  unit_release(task->unit);
  runtime_let_go(task->runtime);
  *out = NULL;
failed:
  while (task->top) task_pop(task);
  task_release(task);
  return status;
}
