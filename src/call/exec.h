/* Exec: one execution context, passed to everything that runs. Kernels read no global state. */
#pragma once

#include "base/work_limit.h"
#include "ivalue/ivalue.h"

struct Operator;
struct Call;
struct Function;
struct Graph;
struct Exec;

/* What lower folders need from higher ones; one const struct, filled in api. Entries may be NULL in small tests. */
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
  /* What the operators of op/tensor/autograd.c do. */
  Status (*autograd_backward)(struct Call *call);
  Status (*autograd_backward_list)(struct Call *call);
  Status (*autograd_grad)(struct Call *call);
  Status (*autograd_retain_grad)(struct Call *call);
  Status (*autograd_retains_grad)(struct Call *call);
  Status (*autograd_tensor_grad)(struct Call *call);
  /* The graph that a function runs. */
  Status (*graph_to_run)(struct Exec *exec, struct Function *function, const struct Graph **out);
  /* A graph as the Python of archives, for the optimizer's log. */
  Status (*print_source)(const struct Graph *graph, StrBuf *out);
  /* Tracing: called after a kernel when exec->recorder is set. */
  Status (*trace_record)(struct Exec *exec, struct Call *call);
} Services;

/* What a call may still use up, shared with all it forks. */
typedef struct CallBudget {
  _Atomic int64_t steps_left; /* back edges and calls; INT64_MAX: no limit */
  bool limits_memory;
  MemBudget memory;
} CallBudget;

typedef struct Exec {
  const Services *services;
  bool grad_enabled, deterministic, inference;
  bool attended;            /* there is a deadline or a cancel token: they are looked at after every operator */
  uint8_t fusers[2];        /* fuse/backend.h: back ends of fusion groups on CPU and CUDA; 0: the process's */
  uint8_t quantized_engine; /* QuantizedEngine of packed quantized operators */
  int threads;              /* for parallel_for inside kernels */
  Generator *generator;     /* the default generator, borrowed; lock around use: generator_lock */
  _Atomic bool *stop;       /* polled by long loops; NULL: never. Set by cancel and deadline */
  uint64_t deadline_ns;     /* monotonic, 0: none; `attended` goes with both */
  CallBudget *budget;       /* NULL: none. The caller's; an asynchronous call's lies in its task */
  int native_depth;         /* re-entries into the interpreter from C */
  void *recorder;           /* tracer */
  void (*print)(void *user, const char *text, size_t length); /* print() and warnings; NULL: stdout */
  void *print_user;
  struct Task *task; /* interp: the running task, or NULL */
  /* Shown every function's graph after each step of its compilation, for dumps; NULL: nobody. */
  void (*observe)(void *user, const struct Function *function, const char *step, const struct Graph *graph);
  void *observe_user;
  const struct ExecutorOptions *executor; /* how functions are made to run; NULL: as the environment says */
  uint32_t executor_mode;                 /* ExecutorMode of this call, or 0: executor's */
  struct Runtime *runtime;
  struct DeviceMap *device_map; /* tensor/device_map.h: of the program that runs or is compiled; NULL: none */
  struct OpProfile *profile;    /* interp: where every operator's time is recorded; NULL: nowhere */
} Exec;

/* The process's default context: default threads and generator, and the time limit of what the thread works for. */
void exec_init(Exec *exec, const Services *services);
/* Cancelled, past its deadline or out of steps: the error; else OK. Cheap. */
Status exec_poll(const Exec *exec) MUST_CHECK;
/* Before work that may be long: OK, unless somebody attends and exec_poll fails. */
static inline Status exec_attend(const Exec *exec) {
  return __builtin_expect(exec->attended, 0) ? exec_poll(exec) : OK;
}
/* For loops that can't return a Status, on any thread: whether exec_attend would fail. */
bool exec_is_over(const Exec *exec);
void exec_set_deadline(Exec *exec, uint64_t monotonic_ns);
void exec_set_stop(Exec *exec, _Atomic bool *stop);
/* The thread works within the memory budget of exec's call from now on; gives what is to be entered afterwards. */
MemBudget *exec_enter_memory(const Exec *exec);
/* The error that a refused allocation of such a thread becomes. */
Status exec_memory_error(const Exec *exec, Status status) MUST_CHECK;
void generator_lock(void);
void generator_unlock(void);
