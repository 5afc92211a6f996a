/* Exec: one execution context, passed to everything that runs. Kernels read no global state. */
#pragma once

#include <stdio.h>

#include "base/work.h"
#include "ivalue/ivalue.h"

typedef struct Generator Generator;       /* tensor/random.h */
typedef struct Heap Heap;                 /* base/heap.h */
typedef struct Runtime Runtime;           /* call/runtime.h */
typedef struct ParallelHook ParallelHook; /* base/parallel.h */

struct Operator;
struct Call;
struct Function;
struct Graph;
struct Exec;

/* What an operator needs of higher folders; one const struct, filled in api. Entries may be NULL in small tests. */
typedef struct Services {
  /* Compiles an operator's `body` text once; the Function is the process's. */
  Status (*compile_body)(struct Exec *exec, const struct Operator *op, struct Function **out);
  /* Runs a function to its end; arguments borrowed, result owned. Bounded re-entry. */
  Status (*call_function)(struct Exec *exec, struct Function *function, const IValue *arguments, uint32_t count,
                          IValue *out);
  /* Autograd: called by operator_call in place of running the operator, when an input records and grad mode is on. It
   * saves what the gradient needs, runs the operator with operator_run (with grad mode off: what a kernel calls is not
   * recorded) and hangs the history on the outputs. Not called for composite kernels and bodies without a gradient of
   * their own. */
  Status (*autograd_record)(struct Exec *exec, struct Call *call);
  /* After an operator whose result is a view of an input that doesn't record, in grad mode: for later writes into
   * views. */
  Status (*autograd_view)(struct Exec *exec, struct Call *call);
  /* A kernel left the call to the operator's body, for a Reason (report/reason.h): for the profile, if there is one. */
  void (*profile_decline)(struct Exec *exec, int reason);
} Services;

/* A tracer: told of every call that the program makes, after its kernel. */
typedef struct Recorder {
  Status (*record)(struct Recorder *recorder, struct Exec *exec, struct Call *call);
  uint32_t inside; /* calls of which it is told when they return: what these call is theirs */
} Recorder;

/* Of one call: runtime, options, what it may use up, grad mode, and the task that runs it. */
typedef struct Exec {
  Work work; /* first member: threads, limits, what it may use up, kept weights */
  const Services *services;
  Runtime *runtime;
  /* options */
  const struct ExecutorOptions *executor; /* the runtime's when the call began; NULL: as the environment says */
  uint32_t executor_mode;                 /* ExecutorMode of this call, or 0: executor's */
  uint8_t backend;                        /* BackendNumber of groups on CPU; 0: the runtime's */
  bool deterministic;
  bool is_silent;               /* work beside the program's: nothing is printed, and no observer shown */
  Generator *generator;         /* the default generator, borrowed; lock around use: generator_lock */
  struct DeviceMap *device_map; /* tensor/device_map.h: of the program that runs or is compiled; NULL: none */
  Device default_device;        /* where tensors are made that are made of none and told no device */
  Recorder *recorder;           /* NULL: nobody traces */
  struct OpProfile *profile;    /* interp: where every operator's time is recorded; NULL: nowhere */
  int native_depth;             /* re-entries into the interpreter from C */

  bool grad_enabled;
  struct DeviceQueue *queue; /* tensor/device_class.h: what kernels gave a device to do; the device's. NULL: nothing */
  struct Task *task;         /* interp: the running task, or NULL */
} Exec;

/* A call in the runtime: its options, the default generator, and the time limit of what the thread works for. */
void exec_init_in(Exec *exec, Runtime *runtime, const Services *services);
/* In the process's. */
void exec_init(Exec *exec, const Services *services);
/* Text of the program, to where the runtime sends it or to the stream. */
void exec_print(const Exec *exec, Str text, FILE *stream);
/* A warning of the program's. */
Status exec_warn(const Exec *exec, Str message) MUST_CHECK;
/* Shows the runtime's observer a graph, if there is one. */
void exec_show(const Exec *exec, const struct Function *function, const char *step, const struct Graph *graph);
/* Waits for what kernels gave a device to do; what failed of it. Calls from outside end with it. */
Status exec_synchronize(const Exec *exec) MUST_CHECK;
/* The thread works within the memory budget of exec's call, in its runtime's heap and with its runtime's threads from
 * now on; gives what is to be entered afterwards. */
typedef struct ExecBefore {
  MemBudget *budget;
  Heap *heap;
  const ParallelHook *hook;
} ExecBefore;
ExecBefore exec_enter(const Exec *exec);
void exec_leave(ExecBefore before);
/* The error that a refused allocation of such a thread becomes. */
Status exec_memory_error(const Exec *exec, Status status) MUST_CHECK;
void generator_lock(void);
void generator_unlock(void);
