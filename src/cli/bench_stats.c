/* What measured calls come to: percentiles, histogram, tables. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/bench.h"

static int compare_times(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}
/* The calls after the warm-up, in order; NULL: out of memory. */
static double *sorted(const Measured *m) {
  size_t n = m->count - m->warmup;
  double *times = malloc(n * sizeof *times);
  if (!times) return NULL;
  memcpy(times, m->times + m->warmup, n * sizeof *times);
  qsort(times, n, sizeof *times, compare_times);
  return times;
}
double measured_percentile(const Measured *m, double p) {
  assert(m->count > m->warmup && p > 0 && p <= 100);
  size_t n = m->count - m->warmup, rank = (size_t)ceil(p / 100 * (double)n - 1e-9);
  double *times = sorted(m), result = times ? times[rank ? rank - 1 : 0] : 0;
  free(times);
  return result;
}
double measured_median(const Measured *m) {
  assert(m->count > m->warmup);
  size_t n = m->count - m->warmup;
  double *times = sorted(m), result = times ? (times[(n - 1) / 2] + times[n / 2]) / 2 : 0;
  free(times);
  return result;
}

void measured_note_noise(const Measured *runs, size_t count) {
  enum { LEAST_CALLS = 5 };
  const double TOO_FAR = 1.5; /* the median from the least: beside others on a processor it is twice that */
  double worst = 0, load[1] = {0};
  for (size_t i = 0; i < count; i++) {
    double least = measured_percentile(&runs[i], 1e-9), median = measured_median(&runs[i]);
    if (runs[i].count - runs[i].warmup >= LEAST_CALLS && least > 0 && median / least > worst) worst = median / least;
  }
  long processors = sysconf(_SC_NPROCESSORS_ONLN);
  if (worst < TOO_FAR) return;
  if (getloadavg(load, 1) == 1)
    complain(NULL, "noisy: the median call took %.1f times the least one (load %.1f on %ld processors)", worst, load[0],
             processors);
  else
    complain(NULL, "noisy: the median call took %.1f times the least one", worst);
}

/* Classes whose limits lie on a logarithmic scale, since times of calls have long tails. */
void measured_histogram(const Measured *m) {
  enum { MOST = 12, WIDTH = 44 };
  size_t n = m->count - m->warmup, counts[MOST] = {0}, highest = 1, classes = n < 40 ? 6 : MOST;
  double least = measured_percentile(m, 1e-9), greatest = measured_percentile(m, 100);
  double step = pow(greatest / least, 1.0 / (double)classes);
  if (!(least > 0) || !(step > 1.0001)) return;
  for (size_t i = m->warmup; i < m->count; i++) {
    double at = floor(log(m->times[i] / least) / log(step));
    counts[at < 0 ? 0 : at >= (double)classes ? classes - 1 : (size_t)at]++;
  }
  for (size_t i = 0; i < classes; i++)
    if (counts[i] > highest) highest = counts[i];
  show("\n");
  for (size_t i = 0; i < classes; i++) {
    show("%11.5f ms |", least * pow(step, (double)i));
    size_t length = (counts[i] * WIDTH + highest - 1) / highest;
    for (size_t k = 0; k < length; k++) show("#");
    show("%s%zu\n", length ? " " : "", counts[i]);
  }
}

/* Shown from so many calls on: with fewer it is the greatest of them, by another name. */
static const struct {
  const char *name, *key;
  double p;
  size_t least_calls;
} percentiles[] = {{"p50", "p50_ms", 50, 1},
                   {"p90", "p90_ms", 90, 10},
                   {"p99", "p99_ms", 99, 100},
                   {"p99.9", "p99_9_ms", 99.9, 1000},
                   {"max", "max_ms", 100, 1}};
enum { PERCENTILES = sizeof percentiles / sizeof *percentiles };
static double peak_megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024;
}

static void put_number(Json *json, const char *key, double value) {
  json_put_key(json, key);
  json_put_real(json, value);
}
void measured_json(const Measured *m, Json *json) {
  json_put_key(json, "model");
  json_put_text(json, m->path);
  json_put_key(json, "threads");
  json_put_int(json, m->threads);
  put_number(json, "load_ms", m->load);
  json_put_key(json, "calls_ms");
  json_put_begin(json, '[');
  for (size_t i = 0; i < m->count; i++) json_put_real(json, m->times[i]);
  json_put_end(json, ']');
  json_put_key(json, "warmup");
  json_put_int(json, (long long)m->warmup);
  put_number(json, "median_ms", measured_median(m));
  for (size_t i = 0; i < PERCENTILES; i++)
    put_number(json, percentiles[i].key, measured_percentile(m, percentiles[i].p));
  if (m->rate > 0) {
    put_number(json, "rate", m->rate);
    json_put_key(json, "late");
    json_put_int(json, (long long)m->late);
    put_number(json, "latest_start_ms", m->latest);
  }
  if (m->allocations >= 0) {
    put_number(json, "allocations_a_call", m->allocations);
    put_number(json, "bytes_a_call", m->allocated);
  }
  json_put_key(json, "joules_a_call"); /* null: the machine doesn't tell it */
  if (m->joules < 0)
    json_put_text(json, NULL);
  else
    json_put_real(json, m->joules / (double)(m->count - m->warmup));
  put_number(json, "peak_rss_mb", peak_megabytes());
}

/* ---- for people: a line for each figure, a column for each run ---- */

static void print_line(const Measured *runs, size_t count, const char *name, double (*figure)(const Measured *, double),
                       double argument, const char *unit) {
  show("%-11s", name);
  for (size_t i = 0; i < count; i++) {
    double value = figure(&runs[i], argument);
    show(" %10.*f %s", value < 1 ? 4 : value < 10000 ? 3 : 0, value, unit);
  }
  if (count == 2 && figure(&runs[0], argument) > 0)
    show("  %8.2fx", figure(&runs[1], argument) / figure(&runs[0], argument));
  show("\n");
}
static double load_of(const Measured *m, double unused) {
  (void)unused;
  return m->load;
}
static double call_of(const Measured *m, double index) {
  return m->times[(size_t)index];
}
static double median_of(const Measured *m, double unused) {
  (void)unused;
  return measured_median(m);
}
static double joules_of(const Measured *m, double unused) {
  (void)unused;
  return m->joules / (double)(m->count - m->warmup);
}
static double figure_at(const Measured *m, double offset) {
  return *(const double *)((const char *)m + (size_t)offset);
}
/* Names that are too long for their column are numbers there. */
static void print_heads(const Measured *runs, size_t count) {
  enum { WIDTH = 13, MOST = 300 };
  bool same = !strcmp(runs[0].path, runs[count - 1].path), fits = true;
  char head[MOST];
  for (size_t i = 0; i < count && !same; i++) {
    const char *slash = strrchr(runs[i].path, '/'), *name = slash ? slash + 1 : runs[i].path;
    fits = fits && strlen(name) <= WIDTH;
  }
  for (size_t i = 0; i < count && !fits; i++) {
    show("(%zu)  %s", i + 1, runs[i].path);
    show(runs[i].threads ? ", %ld threads\n" : "\n", runs[i].threads);
  }
  show("%-11s", "");
  for (size_t i = 0; i < count; i++) {
    const char *slash = strrchr(runs[i].path, '/'), *name = slash ? slash + 1 : runs[i].path;
    if (same)
      snprintf(head, sizeof head, "%ld threads", runs[i].threads);
    else if (fits)
      snprintf(head, sizeof head, "%s", name);
    else
      snprintf(head, sizeof head, "(%zu)", i + 1);
    show(" %13.13s", head);
  }
  show("%s\n", count == 2 ? "    second / first" : "");
}

/* ---- how far two runs can be told apart ---- */

/* The ratio of the medians of both runs' calls, drawn again and again from those that were measured, with repetition:
 * 95 of 100 such ratios lie between (B. Efron's bootstrap, by percentiles). */
static double median_of_draw(const double *times, size_t count, double *room, uint64_t *random) {
  for (size_t i = 0; i < count; i++) {
    *random = *random * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    room[i] = times[(*random >> 33) % count];
  }
  qsort(room, count, sizeof *room, compare_times);
  return (room[(count - 1) / 2] + room[count / 2]) / 2;
}
bool measured_ratio(const Measured *first, const Measured *second, double *out_low, double *out_high) {
  assert(first->count >= first->warmup && second->count >= second->warmup);
  enum { DRAWS = 1000, LEAST_CALLS = 5, MOST_CALLS = 10000 };
  size_t n = first->count - first->warmup, m = second->count - second->warmup;
  if (n < LEAST_CALLS || m < LEAST_CALLS) return false;
  if (n > MOST_CALLS) n = MOST_CALLS;
  if (m > MOST_CALLS) m = MOST_CALLS;
  double *room = malloc((n + m) * sizeof *room), *ratios = malloc(DRAWS * sizeof *ratios);
  uint64_t random = 1;
  bool fine = room && ratios;
  for (size_t i = 0; fine && i < DRAWS; i++) {
    double below = median_of_draw(first->times + first->warmup, n, room, &random);
    double above = median_of_draw(second->times + second->warmup, m, room, &random);
    fine = below > 0;
    ratios[i] = fine ? above / below : 0;
  }
  if (fine) {
    qsort(ratios, DRAWS, sizeof *ratios, compare_times);
    *out_low = ratios[DRAWS * 25 / 1000];
    *out_high = ratios[DRAWS * 975 / 1000 - 1];
  }
  free(room);
  free(ratios);
  return fine;
}
static void print_ratio(const Measured *runs) {
  double low, high;
  if (!measured_ratio(&runs[0], &runs[1], &low, &high)) return;
  show("second / first: %.3f of the medians; 95%% of draws from these calls: %.3f to %.3f%s\n",
       measured_median(&runs[1]) / measured_median(&runs[0]), low, high,
       low <= 1 && high >= 1 ? " (no difference shown)" : "");
}

void measured_print(const Measured *runs, size_t count) {
  assert(count > 0);
  char name[40];
  if (count > 1) print_heads(runs, count);
  print_line(runs, count, "load", load_of, 0, "ms");
  print_line(runs, count, "first call", call_of, 0, "ms");
  for (size_t i = 1; i < runs->warmup && i < 6; i++) {
    snprintf(name, sizeof name, "call %zu", i + 1);
    print_line(runs, count, name, call_of, (double)i, "ms");
  }
  print_line(runs, count, "median", median_of, 0, "ms");
  for (size_t i = 1; i < PERCENTILES; i++)
    if (runs->count - runs->warmup >= percentiles[i].least_calls)
      print_line(runs, count, percentiles[i].name, measured_percentile, percentiles[i].p, "ms");
  if (runs->allocations >= 0) {
    print_line(runs, count, "blocks", figure_at, offsetof(Measured, allocations), "a call");
    print_line(runs, count, "memory", figure_at, offsetof(Measured, allocated), "bytes a call");
  }
  if (runs->joules >= 0)
    print_line(runs, count, "energy", joules_of, 0, "J a call");
  else
    show("energy      not told by this machine (/sys/class/powercap, often for root alone)\n");
  for (size_t i = 0; i < count && runs->rate > 0; i++)
    show("late        %10zu of %zu calls at %g a second; the latest began %.3f ms after its time\n", runs[i].late,
         runs[i].count - runs[i].warmup, runs[i].rate, runs[i].latest);
  if (count == 2) print_ratio(runs);
  show("peak memory %10.1f MB\n(%zu calls, after %zu of warm-up)\n", peak_megabytes(), runs->count - runs->warmup,
       runs->warmup);
}
