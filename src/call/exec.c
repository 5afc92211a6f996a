/* Exec: defaults, the process's default generator. */
#include "call/exec.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>

#include "base/fork.h"
#include "base/parallel.h"
#include "base/work_limit.h"
#include "call/runtime.h"
#include "call/torch_version.h"
#include "tensor/device_class.h"
#include "tensor/random.h"

static _Atomic(Generator *) default_generator;
static pthread_mutex_t generator_mutex = PTHREAD_MUTEX_INITIALIZER;

/* NULL while there is no memory for it: what draws random numbers says so. */
static Generator *the_generator(void) {
  Generator *generator = atomic_load_explicit(&default_generator, memory_order_acquire);
  if (__builtin_expect(generator != NULL, 1)) return generator;
  HEAP_SCOPE(NULL);
  lock_take(&generator_mutex);
  generator = atomic_load(&default_generator);
  if (!generator) {
    status_free(generator_new(67280421310721, &generator));
    atomic_store_explicit(&default_generator, generator, memory_order_release);
  }
  lock_drop(&generator_mutex);
  return generator;
}

Status exec_synchronize(const Exec *exec) {
  return exec->queue ? device_class(exec->queue->device.type)->synchronize(exec->queue) : OK;
}

void exec_init_in(Exec *exec, Runtime *runtime, const Services *services) {
  int threads = __atomic_load_n(&runtime->threads, __ATOMIC_RELAXED);
  *exec = (Exec){
      .work = {.threads = threads ? threads : parallel_default_threads(),
               .precision = (Precision)atomic_load_explicit(&runtime->precision, memory_order_relaxed),
               .torch_version = torch_version_of(runtime),
               .packed_weights = runtime->packed_weights},
      .services = services,
      .runtime = runtime,
      .executor = atomic_load_explicit(&runtime->executor, memory_order_acquire),
      .grad_enabled = true,
      .generator = the_generator(),
  };
  const WorkLimit *limit = work_limit();
  if (limit && limit->deadline_ns) work_set_deadline(&exec->work, limit->deadline_ns);
  if (limit && limit->stop) work_set_stop(&exec->work, limit->stop);
}

void exec_init(Exec *exec, const Services *services) {
  exec_init_in(exec, runtime_of_process(), services);
}

void exec_print(const Exec *exec, Str text, FILE *stream) {
  const Runtime *runtime = exec->runtime;
  if (exec->is_silent) return;
  if (runtime->print)
    runtime->print(runtime->print_user, text.data ? text.data : "", text.length);
  else
    fwrite(text.data ? text.data : "", 1, text.length, stream);
}

Status exec_warn(const Exec *exec, Str message) {
  const Runtime *runtime = exec->runtime;
  StrBuf text = {0};
  if (exec->is_silent) return OK;
  if (runtime->warn) {
    strbuf_str(&text, message);
    if (!text.failed) runtime->warn(runtime->print_user, text.data ? text.data : "");
  } else {
    strbuf_puts(&text, "UserWarning: ");
    strbuf_escape(&text, message, "\n\t"); /* people may sit at a terminal */
    strbuf_char(&text, '\n');
    if (!text.failed) exec_print(exec, strbuf_view(&text), stderr);
  }
  bool failed = text.failed;
  strbuf_dispose(&text);
  return failed ? status_out_of_memory() : OK;
}

void exec_show(const Exec *exec, const struct Function *function, const char *step, const struct Graph *graph) {
  const Runtime *runtime = exec->runtime;
  if (runtime->observe && !exec->is_silent) runtime->observe(runtime->observe_user, function, step, graph);
}

ExecBefore exec_enter(const Exec *exec) {
  return (ExecBefore){
      mem_budget_enter(exec->work.budget && exec->work.budget->limits_memory ? &exec->work.budget->memory : NULL),
      heap_enter(exec->runtime->heap),
      parallel_enter_hook(exec->runtime->parallel.run ? &exec->runtime->parallel : NULL)};
}
void exec_leave(ExecBefore before) {
  parallel_enter_hook(before.hook);
  heap_enter(before.heap);
  mem_budget_enter(before.budget);
}

Status exec_memory_error(const Exec *exec, Status status) {
  if (!status || status->code != ERROR_OUT_OF_MEMORY || !exec->work.budget ||
      !atomic_load(&exec->work.budget->memory.refused))
    return status;
  status_free(status);
  return status_new(ERROR_BUDGET, "the memory budget is used up");
}

void generator_lock(void) {
  lock_take(&generator_mutex);
}
void generator_unlock(void) {
  assert(lock_is_held());
  lock_drop(&generator_mutex);
}
