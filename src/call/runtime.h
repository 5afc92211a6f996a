/* Runtime: what calls share with those after them and with nobody else's: how they compute where their options do not
 * say, and where their text goes. Every Exec has one: the caller's, or the process's. */
#pragma once

#include "base/heap.h"
#include "base/hostile.h"
#include "base/memory.h"
#include "base/parallel.h"

struct ExecutorOptions;
struct PackedWeights;
struct Task;
struct Function;
struct Graph;

enum { RUNTIME_STACKS = CACHE_ENTRIES(8) };
typedef struct Runtime {
  RefCount refs;
  void (*destroy)(struct Runtime *runtime);      /* the last reference went; NULL: the maker's affair, nobody counts */
  struct Runtime *next, *previous;               /* of those that have one */
  Heap *heap;                                    /* held; NULL: the process's */
  _Atomic int64_t modules;                       /* handles that are there: without one nothing is kept for calls */
  struct PackedWeights *packed_weights;          /* compute/conv/conv_weights.h; NULL: the process's */
  _Atomic(struct Task *) stacks[RUNTIME_STACKS]; /* interp/task.c: of calls that ended */
  int threads;           /* of parallel_for within a call; 0: as many as the process has processors */
  ParallelHook parallel; /* whose threads run the parts; .run NULL: wick's own */
  void (*print)(void *user, const char *text, size_t length); /* print() and warnings; NULL: stdout and stderr */
  void *print_user;
  void (*warn)(void *user, const char *message); /* warnings, of print_user; NULL: printed */
  /* Shown every function's graph after each step of its compilation, for dumps; NULL: nobody. Set before the first call
   * alone. */
  void (*observe)(void *user, const struct Function *function, const char *step, const struct Graph *graph);
  void *observe_user;
  _Atomic(const struct ExecutorOptions *) executor; /* executor/executor.h; NULL: as the environment says */
  _Atomic uint8_t backends[2];      /* fuse/backend.h: of groups on CPU and CUDA; 0: as the environment says */
  _Atomic uint8_t precision;        /* Precision */
  _Atomic uint8_t quantized_engine; /* QuantizedEngine; 0: the processor's */
  _Atomic uint8_t torch_version;    /* TorchVersion of programs that do not say; 0: as the environment says */
} Runtime;

/* Of calls that have none of their own. */
Runtime *runtime_of_process(void);
/* Begins as the process's is now, but for print and observe, with the process's heap and packed weights. */
void runtime_init(Runtime *runtime);
/* Who may come to use it when its maker has let go: with a `destroy`, it counts. */
Runtime *runtime_hold(Runtime *runtime);
void runtime_let_go(Runtime *runtime);
/* The process's, and all that were begun and have not ended. None begins or ends meanwhile. */
void runtime_begin(Runtime *runtime, void (*destroy)(Runtime *runtime));
void runtime_each(void (*visit)(Runtime *runtime, void *argument), void *argument);
