/* Measured calls of one method: what `wick bench` counts and shows of them. */
#pragma once

#include "cli/cli.h"
#include "cli/json.h"

typedef struct Measured {
  const char *path;
  long threads;                  /* 0: the runtime's */
  double load, *times;           /* milliseconds; of every call */
  size_t count, warmup;          /* calls, and how many of them are warm-up */
  double rate;                   /* calls a second that were wanted; 0: one after the other */
  size_t late;                   /* calls that ended after the next was due */
  double latest;                 /* milliseconds after which the latest call began */
  double joules;                 /* of the measured calls; below 0: the machine doesn't tell it */
  double allocations, allocated; /* blocks and bytes of memory a call took; below 0: not counted */
} Measured;

/* ---- bench_stats.c ---- */
/* The nearest rank of the measured calls in order: p in (0, 100]. */
double measured_percentile(const Measured *m, double p);
double measured_median(const Measured *m); /* of an even number of calls the mean of the middle two */
/* On standard error: that the calls took so different times that figures say little, and what else runs. */
void measured_note_noise(const Measured *runs, size_t count);
void measured_histogram(const Measured *m);
/* Between what, with 95% of confidence, second's median over first's lies, by the calls that were measured. false: too
 * few of them. */
bool measured_ratio(const Measured *first, const Measured *second, double *out_low, double *out_high);
void measured_json(const Measured *m, Json *json); /* members of an object that is open */
/* The runs of one model, or of several, in columns. */
void measured_print(const Measured *runs, size_t count);

/* ---- bench_calls.c ---- */
typedef struct BenchCalls {
  wick_module *module;
  const char *method;
  const Inputs *inputs;
  wick_profile *profile; /* of the calls after the warm-up; NULL: none */
  bool grad;             /* with grad mode on */
  bool is_elsewhere;     /* a device computes, which each call waits for */
} BenchCalls;
/* Makes m->count calls and fills in what they took. false: it was complained about. */
bool bench_calls(const BenchCalls *calls, Measured *m);
/* What a call takes of memory once it has settled: the model is loaded and warmed up anew. */
bool bench_memory(const BenchCalls *calls, const ModelOptions *model, Measured *m);
