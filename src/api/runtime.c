/* Runtimes, caches, version. */
#include "op/conv.h"
#include "api/handles.h"

#define TEXT_OF(x) #x
#define VERSION_TEXT(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)
const char *wick_version(void) {
  return VERSION_TEXT(WICK_VERSION_MAJOR, WICK_VERSION_MINOR, WICK_VERSION_PATCH);
}

wick_status wick_runtime_new(const wick_runtime_options *options, wick_runtime **out, wick_error **error) {
  wick_runtime_options o;
  *out = NULL;
  API_TRY(api_copy_options("wick_runtime_options", options, sizeof o, &o));
  if (o.alloc || o.free || o.parallel)
    return api_status(status_new(ERROR_UNSUPPORTED, "wick_runtime_options: alloc, free and parallel are reserved"),
                      error);
  wick_runtime *runtime = mem_calloc(1, sizeof *runtime);
  if (!runtime) return api_status(status_out_of_memory(), error);
  ref_init(&runtime->refs);
  runtime->threads = o.max_threads > 1024 ? 1024 : (int)o.max_threads;
  runtime->print = o.print;
  runtime->print_user = o.user;
  if (o.cache_bytes) cache_set_limit((size_t)o.cache_bytes);
  *out = runtime;
  return api_status(OK, error);
}
wick_runtime *runtime_retain(wick_runtime *runtime) {
  if (runtime) ref_retain(&runtime->refs);
  return runtime;
}
void wick_runtime_release(wick_runtime *runtime) {
  if (runtime && ref_release(&runtime->refs)) mem_free(runtime);
}

void api_exec_init(Exec *exec, const wick_runtime *runtime) {
  exec_init(exec, &api_services);
  if (!runtime) return;
  if (runtime->threads) exec->threads = runtime->threads;
  exec->print = runtime->print;
  exec->print_user = runtime->print_user;
}

uint64_t wick_trim(void) {
  conv_onednn_trim(); /* packed weights go to the cache, which then gives everything back */
  return cache_trim();
}

void wick_stats_get(wick_stats *out) {
  wick_stats stats = {.size = out->size, .cache_bytes = cache_bytes()};
  memcpy(out, &stats, out->size < sizeof stats ? out->size : sizeof stats);
}

wick_cancel *wick_cancel_new(void) {
  wick_cancel *cancel = mem_calloc(1, sizeof *cancel);
  if (cancel) ref_init(&cancel->refs);
  return cancel;
}
void wick_cancel_fire(wick_cancel *cancel) {
  atomic_store_explicit(&cancel->fired, true, memory_order_relaxed);
}
void wick_cancel_release(wick_cancel *cancel) {
  if (cancel && ref_release(&cancel->refs)) mem_free(cancel);
}
