/* What this machine can do at most: prints {"gflops": G, "gbytes": B, "threads": T}, of float32 multiply-adds and of
 * reading memory, with the threads that the first argument says. Vectors are the compiler's for -march=native; the
 * best of some runs counts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LANES = 16, CHAINS = 10, STEPS = 4000000, ROUNDS = 5, MAX_THREADS = 64 };
static const size_t buffer_floats = (size_t)64 << 20 >> 2; /* 64 MiB each: more than caches hold */

typedef float Vector __attribute__((vector_size(LANES * sizeof(float))));
typedef struct Worker {
  float *buffer;
  float result; /* so that nothing is left out */
} Worker;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Independent chains hide the latency of one multiply-add. */
static void *multiply(void *argument) {
  Worker *w = argument;
  Vector sums[CHAINS], a = (Vector){0} + 0.999f, b = (Vector){0} + 1e-3f;
  for (int c = 0; c < CHAINS; c++) sums[c] = (Vector){0} + (float)c;
  for (int i = 0; i < STEPS; i++) {
#pragma GCC unroll 10
    for (int c = 0; c < CHAINS; c++) sums[c] = sums[c] * a + b;
  }
  for (int c = 0; c < CHAINS; c++) w->result += sums[c][0];
  return NULL;
}

static void *read_all(void *argument) {
  Worker *w = argument;
  Vector sums[4] = {{0}};
  const Vector *v = (const Vector *)w->buffer;
  for (size_t i = 0; i + 4 <= buffer_floats / LANES; i += 4)
    for (int k = 0; k < 4; k++) sums[k] += v[i + (size_t)k];
  w->result += (sums[0] + sums[1] + sums[2] + sums[3])[0];
  return NULL;
}

/* The shortest time of all workers doing `work` at once. */
static double least_seconds(void *(*work)(void *), Worker *workers, int threads) {
  double least = 1e9;
  for (int r = 0; r < ROUNDS; r++) {
    pthread_t ids[MAX_THREADS];
    double start = now();
    for (int t = 1; t < threads; t++)
      if (pthread_create(&ids[t], NULL, work, &workers[t])) exit(1);
    work(&workers[0]);
    for (int t = 1; t < threads; t++) pthread_join(ids[t], NULL);
    double seconds = now() - start;
    least = seconds < least ? seconds : least;
  }
  return least;
}

int main(int count, char **words) {
  static Worker workers[MAX_THREADS];
  int threads = count > 1 ? atoi(words[1]) : 1;
  if (threads < 1 || threads > MAX_THREADS) return 2;
  for (int t = 0; t < threads; t++) {
    workers[t].buffer = aligned_alloc(64, buffer_floats * sizeof(float));
    if (!workers[t].buffer) return 1;
    for (size_t i = 0; i < buffer_floats; i++) workers[t].buffer[i] = 1;
  }
  double flops = 2.0 * LANES * CHAINS * STEPS * threads, bytes = (double)(buffer_floats * sizeof(float)) * threads;
  double gflops = flops / least_seconds(multiply, workers, threads) * 1e-9;
  double gbytes = bytes / least_seconds(read_all, workers, threads) * 1e-9;
  printf("{\"gflops\": %.1f, \"gbytes\": %.1f, \"threads\": %d}\n", gflops, gbytes, threads);
  return workers[0].result == 42;
}
