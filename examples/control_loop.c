/* A control loop: a thousand times a second a policy looks at a pendulum (simulated here) and answers a torque.
 * cc control_loop.c $(pkg-config --cflags --libs wick) -lm -o control_loop && ./control_loop policy.pt [PROCESSOR] */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <wick/wick.h>

enum { PERIOD_NS = 1000000, DEADLINE_NS = PERIOD_NS / 2, STEPS = 2000 };

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}
static void sleep_until(int64_t ns) {
  struct timespec then = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL) == EINTR) continue;
}
static void told(const char *what, int failed) {
  printf("%s: %s\n", what, failed ? strerror(errno) : "yes");
}

/* This thread alone: wick's threads keep the processors and the policy that the process began with. */
static void become_punctual(const char *processor) {
  if (processor) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((unsigned)atoi(processor), &set);
    told("on its own processor", sched_setaffinity(0, sizeof set, &set));
  }
  told("real-time policy", sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 50}));
  told("memory locked", mlockall(MCL_CURRENT | MCL_FUTURE));
}

int main(int count, char **words) {
  float state[] = {0.3f, 0}, torque[] = {0}; /* angle from upright, speed */
  wick_module *module = NULL;
  wick_function *policy = NULL;
  wick_value *input = NULL, *output = NULL;
  wick_error *error = NULL;
  wick_run_options options = {.size = sizeof options, .threads = 1};
  int failed = wick_load(NULL, count > 1 ? words[1] : "policy.pt", NULL, &module, &error) ||
               wick_function_of(module, "forward", &policy, &error) ||
               wick_tensor_borrow(state, WICK_FLOAT32, 1, (int64_t[]){2}, NULL, NULL, NULL, &input, &error) ||
               wick_tensor_borrow(torque, WICK_FLOAT32, 1, (int64_t[]){1}, NULL, NULL, NULL, &output, &error) ||
               wick_prepare(module, "forward", (const wick_value *const[]){input}, 1, NULL, 0, &options, &error);
  if (!failed) become_punctual(count > 2 ? words[2] : NULL);

  options.deadline_ns = DEADLINE_NS;
  int64_t start = now_ns(), longest = 0, latest = 0;
  int missed = 0;
  for (int step = 0; step < STEPS && !failed; step++) {
    int64_t due = start + (int64_t)step * PERIOD_NS;
    sleep_until(due);
    int64_t began = now_ns();
    wick_status status = wick_function_run_into(policy, (const wick_value *const[]){input}, 1, NULL, 0, &options,
                                                (wick_value *const[]){output}, 1, &error);
    int64_t took = now_ns() - began;
    if (status == WICK_DEADLINE) { /* nothing was written: the torque before holds once more */
      wick_error_free(error), error = NULL;
      missed++;
    } else {
      failed = status != WICK_OK;
    }
    if (took > longest) longest = took;
    if (began - due > latest) latest = began - due;
    state[1] += (9.81f * sinf(state[0]) + torque[0]) * 0.001f; /* here a robot reads sensors and drives motors */
    state[0] += state[1] * 0.001f;
  }
  if (failed) {
    fprintf(stderr, "%s\n", wick_error_message(error));
  } else {
    printf("longest call %.1f us, latest begin %.1f us, %d deadlines missed\n", longest / 1e3, latest / 1e3, missed);
    puts(fabsf(state[0]) < 0.05f ? "upright" : "fallen");
  }
  wick_error_free(error);
  wick_value_release(output), wick_value_release(input);
  wick_function_release(policy), wick_module_release(module);
  return failed;
}
