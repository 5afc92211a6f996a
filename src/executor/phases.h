/* The lists of passes that make a plan's graph of a graph as written: straight lists, in the documents' order. */
#pragma once

#include "call/exec.h"
#include "executor/compile_times.h"
#include "ir/unit.h"

/* What a list works on. Between passes it pauses (queue_pause) and shows the graph to who observes. */
typedef struct Phases {
  Graph *graph;
  Exec *exec;               /* for what passes compute; its observer is shown the graph after every pass */
  const Function *function; /* for the observer; NULL of a subgraph */
  bool grad_enabled;        /* when the graph is entered */
  bool small_derivatives;   /* as in ExecutorOptions */
  CompileClock *clock;      /* is told what every pass took */
  bool profiles;            /* for the profiling executor, whatever the list */
  bool is_profiled;         /* the graph comes from profiling_insensitive, instrumented */
  /* Of profiling_optimizations, when `graph` is what failed guards go on in. */
  Status (*keep_baseline)(struct Phases *p);
} Phases;

/* The file under whose name PyTorch logs what becomes of graphs; "graph_executor" shows them all. */
const char *phases_log_file(bool profiles);

/* All throw to the graph's catch point; ERROR_CANCELLED when the process ends. */
void run_required_passes(Phases *p);
/* The specializing executor's, phases 0 to 5, of a graph whose inputs' types say what the spec says. */
void run_specialized(Phases *p);
void run_profiling_insensitive(Phases *p);
/* Of an instrumented graph with the profile's types on its prim::profile nodes. */
void run_profiling_optimizations(Phases *p);
/* Fusion and what else autograd can't see through; nothing in the graph may need a gradient. */
void run_nondiff_optimization(Phases *p);
/* What of that may be done to a graph of which nothing is known. */
void run_last_optimizations(Phases *p);
