/* Runtimes, caches, version. */
#include <sched.h>

#include "api/handles.h"
#include "base/cache.h"
#include "base/lasting.h"
#include "base/parallel.h"
#include "base/small_blocks.h"
#include "base/thread.h"
#include "call/quantized_engine.h"
#include "call/torch_version.h"
#include "compute/conv/conv_weights.h"
#include "compute/fft/fft.h"
#include "executor/compile_times.h"
#include "executor/executor.h"
#include "fuse/backend.h"
#include "fuse/compiled.h"
#include "interp/interp.h"
#include "report/reason.h"

#define TEXT_OF(x) #x
#define VERSION_TEXT(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)
const char *wick_version(void) {
  return VERSION_TEXT(WICK_VERSION_MAJOR, WICK_VERSION_MINOR, WICK_VERSION_PATCH);
}

/* ORDER thread policy: the numbers of WICK_THREADS_... */
static const int policies[] = {-1, SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR};

static Status set_thread_options(const wick_runtime_options *o) {
  if (o->thread_policy >= sizeof policies / sizeof *policies || o->thread_reserved)
    return status_new(ERROR_INVALID_ARGUMENT, "wick_runtime_options: thread_policy %u", o->thread_policy);
  if (!o->thread_cpus != !o->thread_cpu_count)
    return status_new(ERROR_INVALID_ARGUMENT, "wick_runtime_options: thread_cpus is %s, thread_cpu_count %u",
                      o->thread_cpus ? "there" : "NULL", o->thread_cpu_count);
  if (!o->thread_cpus && !o->thread_policy && !o->thread_priority) return OK;
  ThreadOptions options = {o->thread_cpus, o->thread_cpu_count, policies[o->thread_policy], o->thread_priority};
  return status_context(thread_set_options(&options), "wick_runtime_options");
}

/* Threads within one call; 0: the default. */
static int thread_count(const wick_runtime_options *o) {
  uint32_t count = o->max_threads;
  if (!count && o->thread_cpu_count && o->thread_cpu_count < (uint32_t)parallel_default_threads())
    count = o->thread_cpu_count;
  return count > 1024 ? 1024 : (int)count;
}

static void destroy(Runtime *runtime) {
  packed_weights_free(runtime->packed_weights);
  interp_trim(runtime);
  heap_release(runtime->heap);
  mem_free((wick_runtime *)runtime);
}

wick_status wick_runtime_new(const wick_runtime_options *options, wick_runtime **out, wick_error **error) {
  wick_runtime_options o;
  API_OUT(out);
  API_TRY(api_copy_options("wick_runtime_options", options, sizeof o, &o));
  if (!o.alloc != !o.free)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "wick_runtime_options: alloc is %s, free is %s",
                                 o.alloc ? "there" : "NULL", o.free ? "there" : "NULL"),
                      error);
  API_TRY(set_thread_options(&o));
  HEAP_SCOPE(NULL);
  wick_runtime *runtime = mem_calloc(1, sizeof *runtime);
  if (!runtime) return api_status(status_out_of_memory(), error);
  runtime_init(&runtime->runtime);
  HeapOptions heap = {o.alloc, o.free, o.user, o.max_bytes, o.cache_bytes};
  runtime->runtime.heap = heap_new(&heap);
  runtime->runtime.packed_weights = packed_weights_new(runtime->runtime.heap);
  if (!runtime->runtime.heap || !runtime->runtime.packed_weights) {
    destroy(&runtime->runtime);
    return api_status(status_out_of_memory(), error);
  }
  runtime->runtime.threads = thread_count(&o);
  runtime->max_async = o.max_async;
  runtime->runtime.parallel = (ParallelHook){o.parallel, o.user};
  runtime->runtime.print = o.print;
  runtime->runtime.print_user = o.user;
  runtime_begin(&runtime->runtime, destroy);
  *out = runtime;
  return api_status(OK, error);
}
wick_runtime *runtime_retain(wick_runtime *runtime) {
  if (runtime) runtime_hold(&runtime->runtime);
  return runtime;
}
void wick_runtime_release(wick_runtime *runtime) {
  if (runtime) runtime_let_go(&runtime->runtime);
}

void wick_runtime_set_threads(wick_runtime *runtime, uint32_t count) {
  __atomic_store_n(&runtime_of(runtime)->threads, count > 1024 ? 1024 : (int)count, __ATOMIC_RELAXED);
}
uint32_t wick_runtime_threads(wick_runtime *runtime) {
  int count = __atomic_load_n(&runtime_of(runtime)->threads, __ATOMIC_RELAXED);
  return (uint32_t)(count ? count : parallel_default_threads());
}

void api_exec_init(Exec *exec, const wick_runtime *runtime) {
  exec_init_in(exec, runtime_of(runtime), &api_services);
}

void wick_runtime_set_output(wick_runtime *runtime, wick_print_callback *print, wick_warn_callback *warn, void *user) {
  Runtime *r = runtime_of(runtime);
  r->print = print;
  r->warn = warn;
  r->print_user = user;
}

static void trim(Runtime *runtime, void *bytes) {
  size_t freed = interp_trim(runtime) + packed_weights_trim(runtime->packed_weights);
  *(uint64_t *)bytes += freed + cache_trim(runtime->heap);
}

/* What the parts of what goes leave among the small blocks is counted with the parts. */
uint64_t wick_trim(void) {
  uint64_t bytes = small_blocks_trim() + executor_trim(NULL);
  bytes += fuse_trim(); /* of what plans still hold */
  bytes += fft_trim();
  runtime_each(trim, &bytes);
  small_blocks_trim();
  lasting_tidy();
  return bytes;
}

uint64_t wick_runtime_trim(wick_runtime *runtime) {
  uint64_t bytes = executor_trim(runtime_of(runtime));
  trim(runtime_of(runtime), &bytes);
  return bytes;
}

void runtime_add_module(wick_runtime *runtime) {
  atomic_fetch_add(&runtime_of(runtime)->modules, 1);
}
void runtime_drop_module(wick_runtime *runtime) {
  Runtime *r = runtime_of(runtime);
  uint64_t bytes = 0;
  if (atomic_fetch_sub(&r->modules, 1) != 1) return;
  trim(r, &bytes);
  lasting_tidy();
}

static void add_memory(Runtime *runtime, void *argument) {
  wick_memory *m = argument;
  size_t others = cache_others(runtime->heap), packed = packed_weights_bytes(runtime->packed_weights);
  m->freed_storage += cache_bytes(runtime->heap);
  m->packed_weights += packed;
  m->plans += others > packed ? others - packed : 0; /* at two moments */
  m->stacks += interp_stack_bytes(runtime);
}

wick_status wick_runtime_memory(wick_runtime *runtime, wick_memory *out, wick_error **error) {
  API_NEED(out);
  API_TRY(api_check_size("wick_memory", out->size));
  wick_memory memory = {.size = out->size};
  add_memory(runtime_of(runtime), &memory);
  memcpy(out, &memory, out->size < sizeof memory ? out->size : sizeof memory);
  return api_status(OK, error);
}

void wick_stats_get(wick_stats *out) {
  if (!out) return;
  wick_stats stats = {.size = out->size};
  wick_memory memory = {0};
  runtime_each(add_memory, &memory);
  stats.cache_bytes = memory.freed_storage;
  stats.packed_weight_bytes = memory.packed_weights;
  stats.plan_bytes = memory.plans;
  stats.stack_bytes = memory.stacks;
  stats.compiled_bytes = fuse_held().bytes;
  stats.small_block_bytes = small_blocks_bytes();
#define X(name, text) stats.name = STATISTIC_GET(name);
  STATISTICS(X)
#undef X
  memcpy(out, &stats, out->size < sizeof stats ? out->size : sizeof stats);
}

wick_status wick_explain(char **out_text, wick_error **error) {
  StrBuf text = {0};
  API_OUT(out_text);
  reason_print(&text);
#define X(name, what) strbuf_printf(&text, "%10llu  %s\n", (unsigned long long)STATISTIC_GET(name), what);
  STATISTICS(X)
#undef X
  compile_times_print(&text);
  return api_status(strbuf_take(&text, out_text), error);
}

_Static_assert((int)WICK_EXECUTOR_PROFILING == (int)EXECUTOR_PROFILING &&
                   (int)WICK_EXECUTOR_SIMPLE == (int)EXECUTOR_SIMPLE,
               "executors are numbered alike");

static const ExecutorOptions *executor_options_now(const wick_runtime *runtime) {
  const ExecutorOptions *chosen = atomic_load_explicit(&runtime_of(runtime)->executor, memory_order_acquire);
  return chosen ? chosen : executor_defaults();
}

wick_status wick_runtime_set_executor(wick_runtime *runtime, const wick_executor_options *options, wick_error **error) {
  wick_executor_options o;
  API_TRY(api_copy_options("wick_executor_options", options, sizeof o, &o));
  if (o.executor > WICK_EXECUTOR_PROFILING)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "wick_executor_options: executor %u", o.executor), error);
  ExecutorOptions wanted = {.mode = (ExecutorMode)o.executor,
                            .no_optimize = executor_options_now(runtime)->no_optimize,
                            .compile_now = o.synchronous != 0,
                            .profiled_runs = o.profiled_runs,
                            .bailout_depth = o.bailout_depth,
                            .max_plans = o.max_plans,
                            .small_derivatives = o.small_derivatives != 0};
  return api_status(executor_choose(runtime_of(runtime), &wanted), error);
}

wick_status wick_executor_named(const char *name, uint32_t *out, wick_error **error) {
  ExecutorMode mode;
  API_OUT(out);
  API_NEED(name);
  if (!executor_mode_parse(str_from(name), &mode))
    return api_status(status_new(ERROR_NOT_FOUND, "there is no executor '%s'", name), error);
  *out = (uint32_t)mode;
  return api_status(OK, error);
}
uint32_t wick_runtime_executor(wick_runtime *runtime) {
  return (uint32_t)executor_options_now(runtime)->mode;
}

_Static_assert((int)WICK_BACKEND_TILE == (int)BACKEND_TILE && (int)WICK_BACKEND_NONE == (int)BACKEND_NONE &&
                   (int)WICK_BACKEND_NATIVE == (int)BACKEND_NATIVE,
               "back ends are numbered alike");

wick_status wick_runtime_set_backend(wick_runtime *runtime, const char *device, uint32_t number, wick_error **error) {
  Device parsed;
  API_NEED(device);
  API_TRY(device_parse(str_from(device), &parsed));
  if (!fuse_exists((BackendNumber)number, parsed.type))
    return api_status(status_new(ERROR_INVALID_ARGUMENT,
                                 "wick_runtime_set_backend: there is no back end %u for device '%s'", number, device),
                      error);
  fuse_set(runtime_of(runtime), parsed.type, (BackendNumber)number);
  return api_status(OK, error);
}

wick_status wick_backend_named(const char *name, uint32_t *out, wick_error **error) {
  BackendNumber number;
  API_OUT(out);
  API_NEED(name);
  if (!fuse_backend_find(str_from(name), &number))
    return api_status(status_new(ERROR_NOT_FOUND, "there is no back end '%s'", name), error);
  *out = (uint32_t)number;
  return api_status(OK, error);
}

wick_status wick_enable_backend(uint32_t number, int on, wick_error **error) {
  if (!fuse_backend_of((BackendNumber)number))
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "wick_enable_backend: there is no back end %u", number),
                      error);
  fuse_set_enabled((BackendNumber)number, on != 0);
  return api_status(OK, error);
}

wick_status wick_runtime_set_quantized_engine(wick_runtime *runtime, const char *name, wick_error **error) {
  QuantizedEngine engine;
  API_NEED(name);
  if (!quantized_engine_parse(str_from(name), &engine))
    return api_status(
        status_new(ERROR_INVALID_ARGUMENT, "wick_runtime_set_quantized_engine: there is no engine '%s'", name), error);
  atomic_store(&runtime_of(runtime)->quantized_engine, (uint8_t)engine);
  return api_status(OK, error);
}

_Static_assert((int)WICK_TORCH_1 == (int)TORCH_1 && (int)WICK_TORCH_2 == (int)TORCH_2 && (int)TORCH_COUNT == 3,
               "versions are numbered alike");

wick_status wick_runtime_set_torch_version(wick_runtime *runtime, uint32_t version, wick_error **error) {
  if (version >= TORCH_COUNT)
    return api_status(
        status_new(ERROR_INVALID_ARGUMENT, "wick_runtime_set_torch_version: there is no version %u", version), error);
  atomic_store(&runtime_of(runtime)->torch_version, (uint8_t)version);
  return api_status(OK, error);
}

uint32_t wick_runtime_torch_version(wick_runtime *runtime) {
  return (uint32_t)torch_version_of(runtime_of(runtime));
}

wick_status wick_torch_version_named(const char *name, uint32_t *out, wick_error **error) {
  TorchVersion version;
  API_OUT(out);
  API_NEED(name);
  if (!torch_version_parse(str_from(name), &version))
    return api_status(status_new(ERROR_NOT_FOUND, "there is no version '%s' of PyTorch here (1.13, 2.14)", name),
                      error);
  *out = (uint32_t)version;
  return api_status(OK, error);
}

const char *wick_runtime_quantized_engine(wick_runtime *runtime) {
  return quantized_engine_name(quantized_engine_of(runtime_of(runtime)));
}

void wick_runtime_set_optimize(wick_runtime *runtime, int optimize) {
  ExecutorOptions options = *executor_options_now(runtime);
  options.no_optimize = !optimize;
  Status status = executor_choose(runtime_of(runtime), &options);
  status_free(status); /* out of memory: as before */
}

void wick_wait_for_plans(void) {
  executor_drain();
}

wick_cancel *wick_cancel_new(void) {
  wick_cancel *cancel = mem_calloc(1, sizeof *cancel);
  if (cancel) ref_init(&cancel->refs);
  return cancel;
}
void wick_cancel_fire(wick_cancel *cancel) {
  if (!cancel) return;
  atomic_store(&cancel->fired, true);
  interp_cancelled();
}
void wick_cancel_release(wick_cancel *cancel) {
  if (cancel && ref_release(&cancel->refs)) mem_free(cancel);
}
