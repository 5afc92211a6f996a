/* Task: one run of the interpreter: its frames, on a stack of chunks of its own so that it can be left in `wait` and
 * taken up by another thread, and where its results go. Forked tasks run on a small pool of threads. */
#pragma once

#include <pthread.h>

#include "interp/code.h"
#include "ivalue/future.h"

typedef struct Frame {
  struct Frame *caller;
  const Code *code;
  const Instruction *pc; /* of the call or wait that is under way, while another frame runs */
  IValue *registers;
  IValue *window;  /* scratch for call sites; owns nothing between instructions */
  IValue *entered; /* objects of open `with` statements, retained */
  uint32_t entered_count;
  uint32_t output; /* the caller's register for the result */
  struct TaskChunk *chunk;
  size_t chunk_used; /* of chunk, before this frame */
} Frame;

/* Everything an outermost call starts: the call returns when all of it has ended, so that forked tasks never outlive
 * the caller's Exec. Runs that it enters again from C belong to its group. The pool's lock guards it. */
typedef struct RunGroup {
  int running;              /* forked tasks that have not ended; an asynchronous call counts itself */
  int active;               /* of all its tasks those that are queued or on a thread: neither suspended nor ended */
  struct Task *suspended;   /* those that wait for a Future, the last first */
  struct Task *ended_call;  /* of an asynchronous call whose forks are still running */
  const _Atomic bool *stop; /* as the Exec's: what ends waiting, too */
  uint64_t deadline_ns;
  bool is_used, is_watched; /* has forked or waited; stands in the list of those that end in time (wait.c) */
  struct RunGroup *next, *previous;
} RunGroup;

typedef struct Task {
  Runtime *runtime; /* that keeps the stack */
  struct TaskChunk *chunk, *first_chunk;
  Frame *top;
  uint32_t depth;
  Exec *exec;
  Exec own_exec; /* of a forked task */
  RunGroup *group;
  RunGroup own_group;    /* of an asynchronous call */
  WorkBudget own_budget; /* the same */
  Future *future;        /* gets the result of a forked task */
  IValue *outputs;       /* of a root task */
  uint32_t output_count;
  Status status;
  bool is_done;          /* of a root task, under the pool's lock */
  bool is_overdue;       /* queued, though its call is to end */
  struct Task *next;     /* in the pool's queue */
  CompilationUnit *unit; /* held while an asynchronous call runs, as the runtime is */
  IValue result;         /* slot for a forked task's output */
  InterpRun *run; /* of a root task or an asynchronous call in a plan, or NULL; in the latter case an AsyncRun's */
  /* Who waits for whom, under the pool's lock: each task for one Future, or for one run that it has entered from C. */
  Future *awaited;
  FutureWaiter waiter;
  struct Task *outer, *inner; /* of a run entered from C: the task that did; of that one: the run it waits for */
  struct Task *next_suspended, *previous_suspended; /* in the group */
  Status interrupted;                               /* why it is to end instead of waiting on */
} Task;

enum { MAX_FRAMES = 20000 };

Task *task_acquire(Runtime *runtime); /* from those that it keeps; NULL: no memory */
void task_release(Task *task);        /* its frames must be gone */
/* Pushes a frame with dead registers and the constants in place; parameters are the caller's to fill. */
Status task_push(Task *task, const Code *code, Frame **out) MUST_CHECK;
void task_pop(Task *task); /* releases what the registers hold */

/* ---- run.c ---- */
typedef enum RunState { RUN_DONE, RUN_SUSPENDED } RunState; /* suspended: the task must not be touched any more */
RunState task_run(Task *task);

/* ---- pool.c ---- */
void group_init(RunGroup *group, const Exec *exec); /* with one active task */
Status pool_submit(Task *task) MUST_CHECK;          /* a new one with a Future; starts the threads at first */
void pool_finish(Task *task);                       /* after RUN_DONE: results, group, memory of forked tasks */
/* Until a suspended root task is done; an outermost one helps with its group's tasks. */
void pool_wait_done(Task *root);
void pool_wait_group(RunGroup *group); /* whose root has ended: until all its tasks have */
/* For wait.c, within the lock. */
void pool_enter(void);
void pool_leave(void);
void pool_queue(Task *task, bool first);                 /* of a group that has threads to run it */
void pool_hurry(bool (*is_over)(const RunGroup *group)); /* the queued tasks of such groups come next */
bool pool_start_thread(void *(*serve)(void *));
void pool_has_begun(void); /* first thing in such a thread */

/* ---- wait.c ---- */
/* The task's top frame waits for the future: *out_suspended, and then the task must not be touched any more; or the
 * future is done; or the call is over. A wait that can't end, in a ring, ends with an error when the task goes on. */
Status wait_suspend(Task *task, Future *future, bool *out_suspended) MUST_CHECK;
/* Within the pool's lock. */
void wait_break_ring(RunGroup *group); /* where nothing of the group is active, it may be stuck */
bool wait_watch(RunGroup *group);      /* its tasks end in time from now on; false: no thread for that */
void wait_unwatch(RunGroup *group);
void wait_after_fork(void); /* in the child, where the thread that watches is gone */

/* ---- autocast.c ---- */
/* ERROR_UNSUPPORTED: the object of a `with` statement wants computation in another dtype. */
Status autocast_check_entered(IValue object) MUST_CHECK;

/* ---- transfer.c ---- */
/* The object's method, from the site's cache when the class is the last one's. */
Status transfer_find_method(Site *site, IValue self, Function **out) MUST_CHECK;
/* A task of its own for the site's code; arguments are in values, retained here. */
Status transfer_fork(Task *parent, const Site *site, const IValue *values, IValue *out) MUST_CHECK;
/* The results of the bottom frame go to the task, which takes them over also on failure: one for one, or packed in a
 * tuple where the caller wants one. */
Status transfer_results(Task *task, IValue *results, uint32_t count) MUST_CHECK;
/* The top frame's guard, on value, does not hold, or is to fail for a test: counts the reason and puts a frame of the
 * baseline in its place, at the guard's entry, with the values that live there. On failure the frame stays. */
Status transfer_to_baseline(Task *task, const Site *site, IValue value) MUST_CHECK;
/* Whether all guards of a run on state, before which this instruction stands, held in an earlier call under the stamp
 * of this one's Snapshot, or do so now. */
bool transfer_state_holds(const Task *task, const Instruction *run);
bool transfer_guard_is_forced(InterpRun *run, uint32_t entry); /* only where run->force_guard is set */
/* Of a run in a plan that is failing: whether anybody could notice that it ran (InterpRun.left_no_trace). */
void transfer_note_failure(const Task *task);
/* Ends every `with` and releases every frame; the first error stays. */
void transfer_unwind(Task *task);

/* ---- trace.c ---- */
/* Adds the TorchScript stack trace of the task's frames (PyTorch's text). */
Status trace_add(const Task *task, Status status) MUST_CHECK;

/* ---- values.c: slow parts of instructions ---- */
Status value_raise(const Site *site, const IValue *arguments) MUST_CHECK;
Status value_to_list(const Type *type, IValue tensor, IValue *out) MUST_CHECK;
Status value_list_construct(const Type *element, const IValue *values, uint32_t count, IValue *out) MUST_CHECK;
Status value_dict_construct(const Type *type, const IValue *values, uint32_t count, IValue *out) MUST_CHECK;
Status value_unpack_list(List *l, uint32_t count, IValue *out) MUST_CHECK; /* as many as there are, or an error */
Status value_tuple_slice(const Tuple *t, int64_t begin, int64_t end, IValue *out) MUST_CHECK;
Status value_enum_part(IValue v, bool name, IValue *out) MUST_CHECK; /* its name, or its value */
Status value_key_error(IValue key) MUST_CHECK;
Status value_container_index(IValue container, IValue key, IValue *out) MUST_CHECK;
bool value_fits(IValue v, const Type *type); /* ivalue_is_instance with short ways for what is frequent */
Status value_cast_error(IValue v, const Type *type) MUST_CHECK;
