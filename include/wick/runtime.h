/* wick/runtime: threads, caches, printing; how functions are made to run. */
#ifndef WICK_RUNTIME_H
#define WICK_RUNTIME_H

#include "wick/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- runtime: threads, caches, printing ---- */
typedef struct wick_runtime wick_runtime; /* NULL stands for the process's default everywhere */
/* How threads of wick's own are scheduled: as the process was when the library was loaded (but never by a real-time
 * policy), or SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR. */
enum {
  WICK_THREADS_DEFAULT = 0,
  WICK_THREADS_OTHER = 1,
  WICK_THREADS_BATCH = 2,
  WICK_THREADS_IDLE = 3,
  WICK_THREADS_FIFO = 4,
  WICK_THREADS_RR = 5
};
typedef struct wick_runtime_options {
  uint32_t size;        /* sizeof(wick_runtime_options) */
  uint32_t max_threads; /* within one call; 0: the processors this process may use */
  uint64_t cache_bytes; /* of all that is kept for later calls and can be made again, at a time: freed storage, packed
                           weights, plans. Plans are not refused for it (wick_executor_options.max_plans bounds them):
                           the rest makes room. 0: 768 MiB, of which freed storage is 256 MiB */
  void *user;
  /* Where the memory of what is loaded, compiled and run with this runtime comes from: programs, values, tensors. Both
   * or none. `align` is a power of two up to 64; NULL is an answer, and the call fails with WICK_OUT_OF_MEMORY. `free`
   * gets the bytes that were asked for. Any thread may call them, and several at once, wick's own among them, until the
   * last of what was taken is given back: values that a caller keeps may outlive the runtime. They must not call wick.
   * What belongs to the process (operators, names, types of builtin things) comes from malloc, and so do the threads'
   * stacks and what other libraries take. */
  void *(*alloc)(void *user, size_t bytes, size_t align);
  void (*free)(void *user, void *p, size_t bytes);
  /* Threads of the host in place of wick's, for the loops within calls of this runtime and for wick_call_parallel: calls
   * body(arg, begin, end) for parts of 0 to n, each of `grain` and more, on any threads, several at once, and returns
   * when all have returned. What it leaves out, the caller's thread does. n is at most max_threads, for wick decides how
   * a loop is cut: results are the same on whatever threads. Any thread that runs a call may call it, several at
   * once. It must not call wick, nor leave otherwise than by returning. Plans are still made on wick's own thread, and
   * libraries with threads of their own (OpenMP's) are not asked for products. NULL: wick's own threads. */
  void (*parallel)(void *user, int64_t n, int64_t grain, void (*body)(void *arg, int64_t begin, int64_t end),
                   void *arg);
  void (*print)(void *user, const char *text, size_t length); /* print() and warnings; NULL: standard output */
  /* Threads of wick's own, for the whole process, those that run already too: of loops, of forks and asynchronous
   * calls, the one that makes plans (nice 10 at least, where there are nice values), and OpenMP's, where wick opened it,
   * when they next work. The callers' threads stay as they are. All zero: as before. What the system refuses is
   * WICK_UNSUPPORTED, with the name of the errno (EPERM: the process lacks CAP_SYS_NICE); then nothing changes and no
   * runtime is made. */
  const uint32_t *thread_cpus; /* numbers of processors; NULL: those of the process. max_threads 0: at most so many */
  uint32_t thread_cpu_count;
  uint32_t thread_policy;   /* WICK_THREADS_... */
  int32_t thread_priority;  /* FIFO, RR: from 1 on; OTHER, BATCH, IDLE: the nice value; DEFAULT: 0 */
  uint32_t thread_reserved; /* must be 0 */
  uint64_t max_bytes;       /* of the same memory, at a time, with what is kept for later calls, which goes where an
                               allocation would fail; 0: no limit */
  uint32_t max_async;       /* calls of wick_run_async that have not ended, waiting ones too; one more is WICK_BUSY at
                              * once. 0: no limit */
} wick_runtime_options;
WICK_API wick_status wick_runtime_new(const wick_runtime_options *WICK_NULLABLE options, wick_runtime **out,
                                      wick_error **error);
WICK_API void wick_runtime_release(wick_runtime *runtime);
/* How many threads work within one later call of this runtime (NULL: of none) whose options do not say; count 0: as
 * many as the process has processors. */
WICK_API void wick_runtime_set_threads(wick_runtime *runtime, uint32_t count);
WICK_API uint32_t wick_runtime_threads(wick_runtime *runtime);
typedef void wick_print_callback(void *user, const char *text, size_t length);
typedef void wick_warn_callback(void *user, const char *message);
/* Where later calls of this runtime (NULL: of none) send what their programs print, and their warnings; either may be
 * NULL: printed. Any thread may call them, several at once. Not while programs run. */
WICK_API void wick_runtime_set_output(wick_runtime *WICK_NULLABLE runtime, wick_print_callback *WICK_NULLABLE print,
                                      wick_warn_callback *WICK_NULLABLE warn, void *user);
/* Gives back what is kept for later calls and can be made again: storage for reuse, packed weights, stacks of calls
 * that ended, and the plans that no call is in, which later calls make anew. Returns how many bytes. What belongs to a
 * module goes with it, without this, and with the last module of a runtime all that is kept. */
WICK_API uint64_t wick_trim(void);
/* The same of what was loaded, compiled and run with this runtime (NULL: with none). */
WICK_API uint64_t wick_runtime_trim(wick_runtime *runtime);
typedef struct wick_stats {
  uint32_t size;
  uint32_t reserved;
  uint64_t cache_bytes; /* freed storage kept for reuse, by all runtimes; the other caches are below */
  /* since the process started: */
  uint64_t invocations;    /* calls that came to an optimizing executor */
  uint64_t plan_hits;      /* of these, ran in a plan */
  uint64_t plan_misses;    /* ran the program as written, for want of a plan */
  uint64_t compiles;       /* plans that were made */
  uint64_t bailouts;       /* calls that left their plan because an assumption failed; they went on as written */
  uint64_t packed_weights; /* weights that convolutions put in the order their kernels read */
  uint64_t state_reads;    /* calls that read their module's attributes anew; others know that nobody wrote them */
  uint64_t state_guards;   /* guards on tensors of such attributes that were asked; others know that they hold */
  /* now, by all runtimes: */
  uint64_t packed_weight_bytes; /* weights in the order their kernels read */
  uint64_t plan_bytes;
  uint64_t stack_bytes;       /* of calls that ended */
  uint64_t compiled_bytes;    /* what fusion back ends compiled */
  uint64_t small_block_bytes; /* freed blocks of this thread */
  /* since the process started: calls of fused operators that had to be done operator by operator; wick_explain says
   * which and why */
  uint64_t declines;
  /* likewise: */
  uint64_t dropped_weights;  /* weights that were kept in the order that kernels read alone */
  uint64_t restored_weights; /* of these, put in their own order again, for somebody asked */
} wick_stats;
/* Fills the part of *out that its size covers. */
WICK_API void wick_stats_get(wick_stats *out);
/* What is in memory, in bytes. */
typedef struct wick_memory {
  uint32_t size;
  uint32_t reserved;
  uint64_t weights;        /* of a module: its tensors' memory, what several show counted once; of a runtime: 0 */
  uint64_t shared;         /* of these, what other modules show, too, until one of them writes */
  uint64_t freed_storage;  /* of a runtime: kept for reuse */
  uint64_t packed_weights; /* beside the weights they were made of; one that is kept in its place is among those */
  uint64_t plans;
  uint64_t stacks; /* of a runtime: of calls that ended */
} wick_memory;
/* Of what was loaded, compiled and run with a runtime (NULL: with none). Fills the part of *out that its size
 * covers. */
WICK_API wick_status wick_runtime_memory(wick_runtime *runtime, wick_memory *out, wick_error **error);
/* As text, since the process started: what was left undone and why (operators that were not fused, guards that failed),
 * with the lines of the programs; what the executors did; the processor time that making plans took by step. Freed with
 * wick_text_free. */
WICK_API wick_status wick_explain(char **out_text, wick_error **error);

/* ---- executors: how functions are made to run ----
 * simple         as written
 * specializing   optimized for every kind of arguments: dtypes, ranks, what requires a gradient, what is None
 * profiling      a few calls are watched; then calls run in a plan that assumes what was seen, checks it, and goes on
 *                as written where it does not hold
 * Plans are made on a thread of wick's own while calls go on. Only the first call of a function may wait for it: up to
 * 10 ms, and then up to 10 ms or as long again as it took; small plans it makes itself. The environment's WICK_EXECUTOR
 * names the default. */
enum {
  WICK_EXECUTOR_DEFAULT = 0,
  WICK_EXECUTOR_SIMPLE = 1,
  WICK_EXECUTOR_SPECIALIZING = 2,
  WICK_EXECUTOR_PROFILING = 3
};
typedef struct wick_executor_options {
  uint32_t size;
  uint32_t executor;      /* WICK_EXECUTOR_... */
  uint32_t profiled_runs; /* calls that are watched before a plan is made; 0: the default */
  uint32_t bailout_depth; /* how often calls are watched again after assumptions failed; 0: the default */
  uint32_t max_plans;     /* kinds of arguments of one function with plans of their own, 32 at most; 0: the default */
  uint32_t synchronous;   /* nonzero: plans are made by the call that wants them, and kept whatever they gain */
  uint32_t small_derivatives; /* nonzero: parts of a single node, too, have backward graphs of their own; for looking */
} wick_executor_options;
/* For later calls of modules of this runtime (NULL: of those without one, and of runtimes to come). Calls under way go
 * on as they began. */
WICK_API wick_status wick_runtime_set_executor(wick_runtime *runtime,
                                               const wick_executor_options *WICK_NULLABLE options, wick_error **error);
/* The one of a name, as WICK_EXECUTOR has it: "simple", "specializing" (or "specialising"), "profiling".
 * WICK_NOT_FOUND: there is none. */
WICK_API wick_status wick_executor_named(const char *name, uint32_t *out, wick_error **error);
/* The one that runs calls of this runtime (NULL: of none) whose options do not ask for another; never
 * WICK_EXECUTOR_DEFAULT. */
WICK_API uint32_t wick_runtime_executor(wick_runtime *runtime);
/* Back ends: what runs groups of pointwise operators as one. Results have the same bits with any. Those that libraries
 * bring (wick/backend.h) have greater numbers. */
enum {
  WICK_BACKEND_DEFAULT = 0,
  WICK_BACKEND_NONE = 1, /* operator by operator */
  WICK_BACKEND_TILE = 2, /* interpreted */
  WICK_BACKEND_NATIVE =
      3 /* machine code, made beside the calls, where there is such; interpreted until then and elsewhere */
};
/* For later calls of modules of this runtime (NULL: of those without one) on a kind of device ("cpu"); a call's options
 * go before. WICK_BACKEND_DEFAULT: as the environment's WICK_BACKEND=none|tile|native says. */
WICK_API wick_status wick_runtime_set_backend(wick_runtime *runtime, const char *device, uint32_t backend,
                                              wick_error **error);
/* The one of a name, as WICK_BACKEND has it: "none", "tile", "native", or as a library registered it.
 * WICK_NOT_FOUND: there is none. */
WICK_API wick_status wick_backend_named(const char *name, uint32_t *out, wick_error **error);
/* Whose arithmetic quantized linear layers, convolutions and additions follow: "qnnpack" or "onednn" ("fbgemm", "x86"
 * mean the latter), as torch.backends.quantized.engine. The default is onednn on x86, qnnpack elsewhere. runtime NULL:
 * for calls without a runtime. */
WICK_API wick_status wick_runtime_set_quantized_engine(wick_runtime *runtime, const char *name, wick_error **error);
/* The one that calls of this runtime (NULL: of none) follow: "qnnpack" or "onednn". Static. */
WICK_API const char *wick_runtime_quantized_engine(wick_runtime *runtime);
/* Whose operators a program means: where PyTorch 2.x corrected or extended one of 1.13, a program of 2.x gets what 2.14
 * does (docs/torch2.md, "What differs"). Archives say it themselves, sources and single operators don't. */
enum { WICK_TORCH_DEFAULT = 0, WICK_TORCH_1 = 1 /* 1.13 */, WICK_TORCH_2 = 2 /* 2.x */ };
/* For later programs and calls of operators of this runtime (NULL: of those without one, and of runtimes to come) that
 * do not say. WICK_TORCH_DEFAULT: as the environment's WICK_TORCH_VERSION says, else 1.13. */
WICK_API wick_status wick_runtime_set_torch_version(wick_runtime *runtime, uint32_t version, wick_error **error);
/* What is set; never WICK_TORCH_DEFAULT. */
WICK_API uint32_t wick_runtime_torch_version(wick_runtime *runtime);
/* The one of a number as PyTorch has them: "1.13", "2", "2.14"; what comes after the first number makes no difference.
 * WICK_NOT_FOUND: wick knows none such. */
WICK_API wick_status wick_torch_version_named(const char *name, uint32_t *out, wick_error **error);
/* Switches one of them off, or on again, for the whole process, whoever asks for it. */
WICK_API wick_status wick_enable_backend(uint32_t backend, int on, wick_error **error);
/* 0: plans get what is required to run them and nothing else. For later calls, as wick_runtime_set_executor. */
WICK_API void wick_runtime_set_optimize(wick_runtime *runtime, int optimize);
/* Returns when no plan is being made. */
WICK_API void wick_wait_for_plans(void);

#ifdef __cplusplus
}
#endif
#endif
