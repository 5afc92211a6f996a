/* Every row of the registry with arguments that do not fit: from a sample that the row takes, one argument at a time
 * becomes something else, and the call must end in a result or an error, within its time and memory, without writing
 * what its schema does not say it writes and without results that share memory which it does not say they share.
 *
 * Calls run in a child process, so that a crash costs one call and is told with its arguments.
 *
 *   WICK_ROW_CALLS=40      calls for each row, or all
 *   WICK_ROW_PAIRS=20      besides, calls with two changes at once
 *   WICK_ROW_GRADIENTS=20  besides, calls whose results are differentiated, with gradients that do not fit either
 *   WICK_ROW_EXPANSIONS=9  besides, calls with expanded tensors of up to 10^12 elements and numbers of up to 2^62,
 *                          which look at the time; or all
 *   WICK_ROW_DEADLINE=50   of these, in milliseconds
 *   WICK_ROW_MEMORY=64     MiB that a call may take
 *   WICK_ROW_SECONDS=8     of processor time, after which a call is given up and counts as a crash
 *   WICK_ROW=aten::add     rows of that name alone
 *   WICK_ROW_LIBRARY=name  rows of that library of operators alone, which is opened for it
 *   WICK_ROW_SEED=1        another choice of the calls
 *   WICK_ROW_PART=1/4      the first quarter of the rows
 *   WICK_ROW_LIST=1        tells of the rows that no sample was found for; 2: of the samples of the others */
#include "sample.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/api.h"
#include "api/handles.h"
#include "base/clock.h"
#include "call/row.h"

enum { ATTEMPTS = 240, MAX_DEATHS = 500, TEXT = 3000 };
static const uint64_t deadline_ns = 500000000;
static const double late_s = 3; /* processor time of a call */
/* Processor time of an expanded one after its deadline, of all threads together. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
static const double expanded_late_s = 2;
#else
static const double expanded_late_s = 0.3;
#endif

/* What parent and child both see. */
typedef struct Progress {
  size_t row, call; /* to come, or running */
  size_t rows, factories, sampled, calls, expanded, over, results, errors, complaints, late;
  bool row_counted, sample_counted;
  int attempt;                    /* of the search for a sample; -1: it is over */
  double latest;                  /* of the expanded calls that were in time */
  bool deadly[ATTEMPTS * 2];      /* attempts that ended a child */
  char running[TEXT], error[200]; /* error: of the first sample of a row */
} Progress;
static Progress *progress;

static struct {
  size_t calls, pairs, gradients, expansions, seconds, part, parts;
  uint64_t seed, expanded_deadline_ns, memory;
  const char *row, *library;
  int list;
} options;

static size_t number_from(const char *name, size_t otherwise) {
  const char *text = getenv(name);
  return !text || !*text ? otherwise : !strcmp(text, "all") ? SIZE_MAX : strtoull(text, NULL, 10);
}
static void read_options(void) {
  options.calls = number_from("WICK_ROW_CALLS", 8);
  options.pairs = number_from("WICK_ROW_PAIRS", 0);
  options.gradients = number_from("WICK_ROW_GRADIENTS", 1);
  options.expansions = number_from("WICK_ROW_EXPANSIONS", 1);
  options.expanded_deadline_ns = number_from("WICK_ROW_DEADLINE", 50) * 1000000;
  options.memory = number_from("WICK_ROW_MEMORY", 64) << 20;
  options.seconds = number_from("WICK_ROW_SECONDS", 8);
  options.seed = number_from("WICK_ROW_SEED", 0);
  options.list = (int)number_from("WICK_ROW_LIST", 0);
  options.row = getenv("WICK_ROW");
  options.library = getenv("WICK_ROW_LIBRARY");
  options.part = options.parts = 1;
  const char *part = getenv("WICK_ROW_PART");
  if (part) assert_int_equal(sscanf(part, "%zu/%zu", &options.part, &options.parts), 2);
}

/* ---- one call ---- */
/* The most that this process has held; a sanitizer's own memory tells nothing. */
static long peak_mib(void) {
#ifdef __SANITIZE_ADDRESS__
  return 0;
#else
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss / 1024;
#endif
}
static double processor_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
static void give_up_after(time_t seconds) {
  struct itimerval timer = {.it_value = {.tv_sec = seconds}};
  setitimer(ITIMER_PROF, &timer, NULL);
  alarm((unsigned)seconds * 20);
}

/* ---- lateness ---- */

/* Processor time when the deadline passes, by a timer: other programs' share of the machine does not count. */
static timer_t deadline_timer;
static _Atomic int64_t used_at_deadline_ns; /* 0: it has not passed */

static void note_deadline(int signal) {
  (void)signal;
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  atomic_store(&used_at_deadline_ns, now.tv_sec * 1000000000 + now.tv_nsec);
}
static void lateness_open(void) {
  struct sigaction action = {.sa_handler = note_deadline, .sa_flags = SA_RESTART};
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
  assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &deadline_timer), 0);
}
static void lateness_begin(uint64_t deadline) {
  struct itimerspec at = {
      .it_value = {.tv_sec = (time_t)(deadline / 1000000000), .tv_nsec = (long)(deadline % 1000000000)}};
  atomic_store(&used_at_deadline_ns, 0);
  timer_settime(deadline_timer, TIMER_ABSTIME, &at, NULL);
}
/* Seconds since the deadline. */
static double lateness_end(void) {
  double now = processor_seconds();
  timer_settime(deadline_timer, 0, &(struct itimerspec){0}, NULL);
  int64_t passed = atomic_load(&used_at_deadline_ns);
  return passed ? now - 1e-9 * (double)passed : 0;
}

static void tell(const char *what, const char *call) {
  printf("%s: %s\n", what, call);
  fflush(stdout);
}

/* ---- gradients ---- */

/* backward() of the first result that records, with a gradient of its look, or one that change `which` makes of it. */
static void differentiate(Exec *exec, const IValue *outputs, uint32_t output_count, size_t which) {
  static OpRef backward = OP_REF("aten::backward", "");
  const Tensor *result = NULL;
  for (uint32_t i = 0; i < output_count && !result; i++)
    if (outputs[i].tag == TAG_TENSOR && tensor_records(outputs[i].tensor)) result = outputs[i].tensor;
  if (!result || result->ndim > SAMPLE_MAX_DIMS) return;
  SampleCall gradient = {.op = operator_find(STR("aten::backward")), .count = 1};
  gradient.arguments[0] = sample_tensor((DType)result->dtype, result->ndim, result->sizes);
  size_t count = changes_count(&gradient);
  if (which % 2) change_make(&gradient, which / 2 % count);
  StrBuf text = {0};
  sample_print(&gradient.arguments[0], &text);
  size_t used = strlen(progress->running);
  snprintf(progress->running + used, TEXT - used, ", backward(%s)", text.data);
  strbuf_dispose(&text);
  MadeCall made;
  IValue nothing = IVALUE_NONE;
  if (!sample_make_call(&gradient, &made)) return;
  const IValue inputs[] = {ivalue_tensor((Tensor *)result), made.inputs[0]};
  Status status = op_call(exec, &backward, 2, inputs, 0, &nothing);
  if (status && status->code == ERROR_INTERNAL) {
    progress->complaints++;
    tell(status->message, progress->running);
  }
  status_free(status);
  made_call_release(&made);
}

typedef enum Outcome { OUTCOME_NO_CALL, OUTCOME_RESULT, OUTCOME_ERROR } Outcome;

enum { NO_GRADIENT = -1, EXPANDED = -2 /* nor a gradient */ };

static Outcome run_made(const SampleCall *call, MadeCall *made, int64_t gradient, StrBuf *complaints) {
  Exec exec;
  WorkBudget budget = {.steps_left = 1000000, .limits_memory = true, .memory = {.left = options.memory}};
  IValue outputs[CALL_MAX_OUTPUTS] = {IVALUE_NONE};
  uint32_t output_count = operator_schema(call->op)->return_count;
  api_exec_init(&exec, NULL);
  exec.is_silent = true;
  exec.work.budget = &budget;
  exec.work.threads = 2;
  work_set_deadline(&exec.work, clock_now_ns() + (gradient == EXPANDED ? options.expanded_deadline_ns : deadline_ns));
  lateness_begin(exec.work.deadline_ns);
  Call c = {.inputs = made->inputs, .input_count = made->count, .outputs = outputs, .output_count = output_count};
  Watch *watch = watch_begin(call->op, made);
  ExecBefore before = exec_enter(&exec);
  WorkLimit limit = {.deadline_ns = exec.work.deadline_ns}, *limit_before = work_limit_enter(&limit);
  Status status = operator_call(&exec, call->op, &c);
  if (!status && limit.noticed) status = work_status();
  if (gradient == EXPANDED) progress->over += limit.noticed;
  bool succeeded = status == OK;
  if (status && status->code == ERROR_INTERNAL) strbuf_printf(complaints, "an internal error: %s; ", status->message);
  watch_end(watch, made, succeeded, outputs, output_count, complaints);
  if (succeeded && gradient >= 0) differentiate(&exec, outputs, output_count, (size_t)gradient);
  work_limit_enter(limit_before);
  exec_leave(before);
  for (uint32_t i = 0; i < output_count; i++) ivalue_release(outputs[i]);
  if (status && progress->attempt == 0) snprintf(progress->error, sizeof progress->error, "%s", status->message);
  status_free(status);
  return succeeded ? OUTCOME_RESULT : OUTCOME_ERROR;
}

static Outcome run_sample(const SampleCall *call, int64_t gradient) {
  StrBuf text = {0}, complaints = {0};
  MadeCall made;
  sample_call_print(call, &text);
  snprintf(progress->running, TEXT, "%s", text.data);
  strbuf_dispose(&text);
  if (!sample_make_call(call, &made)) return OUTCOME_NO_CALL;
  double begin = processor_seconds();
  long held = peak_mib();
  give_up_after((time_t)options.seconds);
  Outcome outcome = run_made(call, &made, gradient, &complaints);
  made_call_release(&made);
  double late = lateness_end();
  if (gradient == EXPANDED ? late > expanded_late_s : processor_seconds() - begin > late_s) {
    char what[64];
    snprintf(what, sizeof what, "late by %.2f s", late);
    progress->late++;
    tell(what, progress->running);
  } else if (gradient == EXPANDED && late > progress->latest) {
    progress->latest = late;
  }
  if (peak_mib() - held > 8 * (long)(options.memory >> 20))
    strbuf_printf(&complaints, "took %ld MiB; ", peak_mib() - held);
  if (complaints.length) {
    progress->complaints++;
    tell(complaints.data, progress->running);
  }
  strbuf_dispose(&complaints);
  progress->calls++;
  progress->expanded += gradient == EXPANDED;
  *(outcome == OUTCOME_RESULT ? &progress->results : &progress->errors) += 1;
  return outcome;
}

/* ---- one row ---- */
static bool find_sample(const Operator *op, SampleCall *out) {
  int most = ATTEMPTS + sample_own_attempts(op);
  bool found = false;
  for (int attempt = 0; attempt < most && !found; attempt++) {
    if (progress->deadly[attempt]) continue;
    progress->attempt = attempt;
    samples_reset(0);
    found = sample_guess(op, attempt, out) && run_sample(out, NO_GRADIENT) == OUTCOME_RESULT;
  }
  progress->attempt = -1;
  return found;
}

static void record_all(Sample *s) {
  if (s->kind == SAMPLE_TENSOR && s->state == STATE_PLAIN) s->state = STATE_RECORDS;
  for (size_t i = 0; i < s->count; i++) record_all(&s->items[i]);
}

/* Call `call`: the first `single` make one change of `count`, the next ones two; the last ones are differentiated,
 * every other one with a change; after them all, samples are expanded. */
static void run_changed(const SampleCall *sample, size_t count, size_t single, size_t call) {
  size_t mark = samples_mark();
  int64_t gradient = NO_GRADIENT;
  SampleCall changed;
  Chance chance = {options.seed * 1000003 + progress->row * 7919 + call};
  sample_call_copy(sample, &changed);
  if (call < single) {
    size_t shift = options.seed + progress->row; /* other changes for each row */
    change_make(&changed, (call * count / single + shift) % count);
  } else if (call < single + options.pairs) {
    change_make(&changed, chance_below(&chance, count));
    size_t now = changes_count(&changed);
    if (now) change_make(&changed, chance_below(&chance, now));
  } else if (call >= single + options.pairs + options.gradients) {
    gradient = EXPANDED;
    size_t expansions = expansions_count(sample), which = call - single - options.pairs - options.gradients;
    size_t wanted = options.expansions < expansions ? options.expansions : expansions;
    if (which < wanted)
      expansion_make(&changed, (which * expansions / wanted + options.seed + progress->row) % expansions);
  } else {
    gradient = (int64_t)chance_below(&chance, 1 << 20);
    if (call % 2) change_make(&changed, chance_below(&chance, count));
    for (uint32_t i = 0; i < changed.count; i++) record_all(&changed.arguments[i]);
  }
  run_sample(&changed, gradient);
  samples_reset(mark);
}

static void tell_sample(const Operator *op, const SampleCall *sample_or_null) {
  StrBuf text = {0};
  if (sample_or_null)
    sample_call_print(sample_or_null, &text);
  else
    strbuf_printf(&text, "%s: %s", op->row->schema, progress->error);
  tell(sample_or_null ? "sample" : "no sample", text.data);
  strbuf_dispose(&text);
}

/* From call `first` on, when an earlier one ended a child. */
static void run_row(const Operator *op, size_t first) {
  static SampleCall sample;
  if (!progress->row_counted) {
    progress->rows++;
    progress->factories += op->row->factory != NULL;
    progress->row_counted = true;
  }
  if (op->row->factory) return;
  bool found = find_sample(op, &sample);
  if (!progress->sample_counted) {
    progress->sampled += found;
    progress->sample_counted = true;
    if (options.list == 1 + found) tell_sample(op, found ? &sample : NULL);
  }
  size_t count = changes_count(&sample);
  size_t single = options.calls < count ? options.calls : count;
  size_t expansions = expansions_count(&sample);
  if (expansions > options.expansions) expansions = options.expansions;
  for (size_t call = first; count && call < single + options.pairs + options.gradients + expansions; call++) {
    progress->call = call;
    run_changed(&sample, count, single, call);
  }
}

/* ---- all rows ---- */
static bool is_wanted(const Operator *op, size_t index) {
  if (options.library && !op->library) return false;
  return index % options.parts == options.part - 1 && (!options.row || str_is(op->name, options.row));
}

static int run_child(void) {
  lateness_open();
  size_t index = 0, from = progress->row, first = progress->call;
  bool goes_on = from != SIZE_MAX;
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op), index++) {
    if ((goes_on && index < from) || !is_wanted(op, index)) continue;
    if (index != from) {
      progress->call = 0;
      progress->row_counted = progress->sample_counted = false;
      memset(progress->deadly, 0, sizeof progress->deadly);
    }
    progress->row = index;
    run_row(op, index == from ? first : 0);
  }
  give_up_after(0);
  extern int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
  return __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() ? 3 : 0;
}

/* true: it came to the end. */
static bool run_in_child(int *out_status) {
  fflush(stdout);
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) _exit(run_child());
  assert_int_equal(waitpid(child, out_status, 0), child);
  return WIFEXITED(*out_status) && (WEXITSTATUS(*out_status) == 0 || WEXITSTATUS(*out_status) == 3);
}

static void report(size_t deaths) {
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  printf(
      "%zu rows, %zu of them need a node of a graph, %zu called with success; %zu calls: %zu results, %zu errors; at "
      "most %ld MiB\n",
      progress->rows, progress->factories, progress->sampled, progress->calls, progress->results, progress->errors,
      used.ru_maxrss / 1024);
  printf("%zu expanded calls, %zu of them ended by the deadline, at most %.3f s of processor time after it\n",
         progress->expanded, progress->over, progress->latest);
  printf("%zu crashes, %zu complaints, %zu late\n", deaths, progress->complaints, progress->late);
}

/* No runner of tests: its handlers of signals would stand before a sanitizer's. */
int main(void) {
  size_t deaths = 0;
  int status;
  progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (progress == MAP_FAILED) return 1;
  progress->row = SIZE_MAX;
  read_options();
  samples_open("rows/samples.txt");
  wick_error *error = NULL;
  if (options.library && wick_load_library(options.library, &error)) {
    tell("no library", wick_error_message(error));
    return 1;
  }
  while (!run_in_child(&status) && deaths < MAX_DEATHS) {
    char what[64];
    snprintf(what, sizeof what, WIFSIGNALED(status) ? "ended by signal %d" : "ended with %d",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    tell(what, progress->running);
    deaths++;
    if (progress->attempt >= 0)
      progress->deadly[progress->attempt] = true;
    else
      progress->call++;
  }
  report(deaths);
  return deaths || progress->complaints || progress->late || status ||
         (!progress->sampled && !options.library); /* no sample is an object */
}
