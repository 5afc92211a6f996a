/* Into Python and out of it: callbacks come on any thread, inside any interpreter or none; signals come to the
 * process. */
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "py_wick.h"

/* ---- away from an interpreter and back ---- */

/* The state with which this thread went away: what calls it back goes on with it, its frames and its exception. */
static _Thread_local PyThreadState *away_with;

void python_away(Away *away) {
  away->before = away_with;
  away_with = away->thread = PyEval_SaveThread();
}
void python_back(Away *away) {
  away_with = away->before;
  PyEval_RestoreThread(away->thread);
}

/* ---- entering an interpreter ---- */

static PyThreadState *thread_now(void) {
#if PY_VERSION_HEX >= 0x030d0000
  return PyThreadState_GetUnchecked();
#else
  return _PyThreadState_UncheckedGet();
#endif
}

bool python_enter(PyInterpreterState *interpreter, Entered *entered) {
  *entered = (Entered){0};
  if (!Py_IsInitialized()) return false;
  PyThreadState *now = thread_now();
  if (now && PyThreadState_GetInterpreter(now) == interpreter) return true; /* it is inside already */
  if (now) {
    python_away(&entered->outer);
    entered->has_outer = true;
  }
  if (!now && away_with && PyThreadState_GetInterpreter(away_with) == interpreter) {
    entered->away = away_with;
    away_with = NULL;
    PyEval_RestoreThread(entered->away);
    return true;
  }
  if (interpreter == PyInterpreterState_Main()) {
    entered->is_new = PyGILState_GetThisThreadState() == NULL;
    entered->gil = PyGILState_Ensure();
    entered->has_gil = true;
    return true;
  }
  /* PyGILState knows the main interpreter alone */
  if ((entered->own = PyThreadState_New(interpreter))) {
    PyEval_RestoreThread(entered->own);
    return true;
  }
  if (entered->has_outer) python_back(&entered->outer);
  return false;
}

void python_leave(Entered *entered) {
  if (entered->away) away_with = PyEval_SaveThread();
  if (entered->has_gil) PyGILState_Release(entered->gil);
  if (entered->own) {
    PyThreadState_Clear(entered->own);
    PyThreadState_DeleteCurrent();
  }
  if (entered->has_outer) python_back(&entered->outer);
}

/* With a state of its own, an exception would go nowhere. */
bool python_goes_on(const Entered *entered) {
  return !entered->own && !(entered->has_gil && entered->is_new);
}

/* ---- long calls ---- */

/* A signal handler has no argument, and what SIGINT does is the process's: so are the token of the call that the main
 * thread is in, and the handler that was there before ours. */
static _Atomic(wick_cancel *) interrupted;
static struct sigaction before;

static void interrupt(int number, siginfo_t *info, void *context) {
  wick_cancel *cancel = atomic_load(&interrupted);
  if (cancel) wick_cancel_fire(cancel);
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(number, info, context);
  else if (before.sa_handler != SIG_IGN && before.sa_handler != SIG_DFL)
    before.sa_handler(number);
}

static bool is_main_thread(void) {
  static _Thread_local enum { UNKNOWN, MAIN, OTHER } known; /* saves asking the kernel for each call */
  if (known == UNKNOWN) known = gettid() == getpid() ? MAIN : OTHER;
  return known == MAIN;
}

/* Ours stands before Python's from the first long call on, or before what a program has put in its place. */
static bool watches_keyboard(void) {
  struct sigaction now;
  if (!is_main_thread() || atomic_load(&interrupted) || sigaction(SIGINT, NULL, &now)) return false;
  if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == interrupt) return true;
  if (!(now.sa_flags & SA_SIGINFO) && (now.sa_handler == SIG_IGN || now.sa_handler == SIG_DFL)) return false;
  struct sigaction ours = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
  ours.sa_sigaction = interrupt;
  sigemptyset(&ours.sa_mask);
  before = now;
  return sigaction(SIGINT, &ours, NULL) == 0;
}

void long_call_begin(LongCall *call, wick_run_options *options) {
  *call = (LongCall){0};
  if (watches_keyboard() && (options->cancel || (call->cancel = wick_cancel_new()))) {
    if (call->cancel) options->cancel = call->cancel;
    call->watches = true;
    atomic_store(&interrupted, options->cancel);
  }
  python_away(&call->away);
}

void long_call_end(LongCall *call) {
  python_back(&call->away);
  if (!call->watches) return;
  atomic_store(&interrupted, NULL);
  if (call->cancel) wick_cancel_release(call->cancel);
  PyErr_CheckSignals(); /* the handler of Python's raises what it raises */
}
