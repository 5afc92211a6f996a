/* Asynchronous calls. A handle has two owners: the caller, and the call itself until it has ended, so that what the
 * call needs outlives it whoever lets go first. */
#include "api/future.h"

#include <assert.h>

#include "base/clock.h"
#include "interp/op_profile.h"
#include "ivalue/future.h"

struct wick_future {
  RefCount refs;
  Future *future; /* NULL until the call was started */
  CompilationUnit *unit;
  wick_runtime *runtime;
  wick_cancel *cancel;
  wick_profile *profile;
  uint64_t start_ns;   /* of a call with a profile */
  _Atomic bool counts; /* among the runtime's calls that have not ended */
};

/* Refuses what would be one too many. */
static Status count_call(wick_future *handle) {
  wick_runtime *runtime = handle->runtime;
  if (!runtime || !runtime->max_async) return OK;
  uint32_t before = atomic_fetch_add(&runtime->async_calls, 1);
  if (before < runtime->max_async) {
    atomic_store(&handle->counts, true);
    return OK;
  }
  atomic_fetch_sub(&runtime->async_calls, 1);
  return status_new(ERROR_BUSY, "%u asynchronous calls have not ended, and no more may be (max_async)",
                    runtime->max_async);
}
/* Whoever learns first that the call has ended. */
static void uncount_call(wick_future *handle) {
  if (atomic_exchange(&handle->counts, false)) atomic_fetch_sub(&handle->runtime->async_calls, 1);
}

Status future_handle_new(const wick_module *module, wick_cancel *cancel, wick_profile *profile, wick_future **out) {
  wick_future *handle = mem_calloc(1, sizeof *handle);
  if (!handle) return status_out_of_memory();
  ref_init(&handle->refs);
  handle->unit = unit_retain(module->unit);
  handle->runtime = runtime_retain(module->runtime);
  if (cancel) ref_retain(&cancel->refs);
  handle->cancel = cancel;
  if (profile) {
    ref_retain(&profile->refs);
    handle->start_ns = clock_now_ns();
  }
  handle->profile = profile;
  Status status = count_call(handle);
  if (status) {
    wick_future_release(handle);
    return status;
  }
  *out = handle;
  return OK;
}

static void let_go(void *argument, Future *future) {
  (void)future;
  wick_future *handle = argument;
  uncount_call(handle);
  if (handle->profile) op_profile_add_call(handle->profile->profile, clock_now_ns() - handle->start_ns);
  wick_future_release(handle);
}

Status future_handle_start(wick_future *handle, Future *future) {
  assert(!handle->future);
  handle->future = future;
  ref_retain(&handle->refs);
  Status status = future_then(future, let_go, handle);
  if (!status) return OK;
  future_wait(future); /* no memory to be told of the end: stay until it has come */
  wick_future_release(handle);
  return status;
}

int wick_future_done(const wick_future *future) {
  bool is_done = future && future_is_done(future->future);
  if (is_done) uncount_call((wick_future *)(uintptr_t)future);
  return is_done;
}

wick_status wick_future_wait(wick_future *future, uint64_t timeout_ns, wick_value **out, wick_error **error) {
  if (out) *out = NULL;
  API_NEED(future);
  if (!timeout_ns)
    future_wait(future->future);
  else if (!future_wait_for(future->future, timeout_ns))
    return api_status(status_new(ERROR_DEADLINE, "the call has not ended within the time to wait"), error);
  uncount_call(future);
  IValue result;
  API_TRY(future_result(future->future, &result));
  return api_status(value_give(result, future->unit, out), error);
}

wick_status wick_value_wait(const wick_value *future, wick_value **out, wick_error **error) {
  IValue result;
  API_OUT(out);
  API_NEED(future);
  if (future->value.tag != TAG_FUTURE)
    return api_status(status_new(ERROR_INVALID_ARGUMENT, "wick_value_wait: the value is no future"), error);
  future_wait(future->value.future);
  API_TRY(future_result(future->value.future, &result));
  return api_status(value_give(result, future->unit, out), error);
}

typedef struct Then {
  wick_future *handle;
  wick_future_callback *callback;
  void *user;
} Then;

static void call_back(void *argument, Future *future) {
  (void)future;
  Then *then = argument;
  then->callback(then->user, then->handle);
  wick_future_release(then->handle);
  mem_free(then);
}

wick_status wick_future_then(wick_future *future, wick_future_callback *callback, void *user, wick_error **error) {
  API_NEED(future);
  API_NEED(callback);
  Then *then = mem_alloc(sizeof *then);
  if (!then) return api_status(status_out_of_memory(), error);
  *then = (Then){future, callback, user};
  ref_retain(&future->refs);
  Status status = future_then(future->future, call_back, then);
  if (status) {
    wick_future_release(future);
    mem_free(then);
  }
  return api_status(status, error);
}

void wick_future_release(wick_future *future) {
  if (!future || !ref_release(&future->refs)) return;
  uncount_call(future);
  if (future->future) ivalue_release(ivalue_future(future->future));
  unit_release(future->unit);
  wick_runtime_release(future->runtime);
  wick_cancel_release(future->cancel);
  wick_profile_release(future->profile);
  mem_free(future);
}
