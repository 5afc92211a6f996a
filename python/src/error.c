/* wick's errors as Python's, and calls that Ctrl-C ends. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "py_wick.h"

/* ---- errors ---- */

static PyObject *class_named(const char *name) {
  PyObject *builtins = PyEval_GetBuiltins(); /* borrowed */
  PyObject *found = builtins ? PyDict_GetItemString(builtins, name) : NULL;
  return found && PyExceptionClass_Check(found) ? found : NULL;
}

static PyObject *class_of(wick_status status, const wick_error *error) {
  const char *named = wick_error_exception(error);
  PyObject *found = *named ? class_named(named) : NULL;
  if (found) return found;
  switch (status) {
    case WICK_OUT_OF_MEMORY:
      return PyExc_MemoryError;
    case WICK_CANCELLED:
      return PyExc_KeyboardInterrupt;
    case WICK_DEADLINE:
      return PyExc_TimeoutError;
    case WICK_UNSUPPORTED:
      return PyExc_NotImplementedError;
    case WICK_IO:
      return PyExc_OSError;
    default:
      return PyExc_RuntimeError;
  }
}

/* What an operator says of itself, "aten::add: ", is not in PyTorch's messages of eager calls. */
static const char *without_operator(const char *message) {
  const char *colon = strstr(message, ": ");
  if (strncmp(message, "aten::", 6) != 0 || !colon) return message;
  for (const char *c = message; c < colon; c++)
    if (*c == ' ' || *c == '(') return message;
  return colon + 2;
}

PyObject *raise_wick(ModuleState *state, wick_status status, wick_error *error) {
  (void)state;
  if (!PyErr_Occurred()) {
    const char *message = wick_error_message(error), *trace = wick_error_trace(error);
    if (*trace)
      PyErr_Format(class_of(status, error), "%s\n%s", trace, message);
    else
      PyErr_SetString(class_of(status, error), without_operator(message));
  }
  wick_error_free(error);
  return NULL;
}

/* ---- long calls ---- */

/* The token of the call that the main thread is in, and what SIGINT did before it. A signal handler has no argument: of
 * the process, as the handler is. */
static wick_cancel *volatile interrupted;
static struct sigaction before_call;

static void interrupt(int number, siginfo_t *info, void *context) {
  wick_cancel *cancel = interrupted;
  if (cancel) wick_cancel_fire(cancel);
  if (before_call.sa_flags & SA_SIGINFO)
    before_call.sa_sigaction(number, info, context);
  else if (before_call.sa_handler != SIG_IGN && before_call.sa_handler != SIG_DFL)
    before_call.sa_handler(number);
}

static bool is_main_thread(void) {
  static _Thread_local enum { UNKNOWN, MAIN, OTHER } known; /* saves asking the kernel for each call */
  if (known == UNKNOWN) known = gettid() == getpid() ? MAIN : OTHER;
  return known == MAIN;
}

static bool watches_keyboard(void) {
  struct sigaction now;
  if (!is_main_thread() || interrupted || sigaction(SIGINT, NULL, &now)) return false;
  return now.sa_flags & SA_SIGINFO || (now.sa_handler != SIG_IGN && now.sa_handler != SIG_DFL);
}

void long_call_begin(LongCall *call, wick_run_options *options) {
  *call = (LongCall){0};
  if (!options->cancel && watches_keyboard() && (call->cancel = wick_cancel_new())) {
    struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    ours.sa_sigaction = interrupt;
    sigemptyset(&ours.sa_mask);
    options->cancel = call->cancel;
    interrupted = call->cancel;
    sigaction(SIGINT, &ours, &before_call);
  }
  call->thread = PyEval_SaveThread();
}

void long_call_end(LongCall *call) {
  PyEval_RestoreThread(call->thread);
  if (!call->cancel) return;
  sigaction(SIGINT, &before_call, NULL);
  interrupted = NULL;
  wick_cancel_release(call->cancel);
  PyErr_CheckSignals(); /* the handler of Python's raises what it raises */
}
