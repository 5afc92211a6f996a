/* Opens the library at run time, uses its threads, closes it and lives on; the same with a library that has wick in it
 * and a thread of the program's that used it. Usage: unload libwick.so [a library with wick in it] */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wick/wick.h"

#define FIND(name) __typeof__(wick_##name) *name = (__typeof__(wick_##name) *)dlsym(library, "wick_" #name)

static const char text[] =
    "def work(n: int) -> int:\n"
    "    total = 0\n"
    "    for i in range(n):\n"
    "        total += i\n"
    "    return total\n"
    "def forks(n: int) -> int:\n"
    "    a, b = torch.jit.fork(work, n), torch.jit.fork(work, n)\n"
    "    return torch.jit.wait(a) + torch.jit.wait(b)\n";

/* Without forks no thread of the library's keeps it loaded. */
static int use_alone(void *library) {
  FIND(compile);
  FIND(run);
  FIND(value_int);
  FIND(value_release);
  FIND(module_release);
  wick_module *module;
  if (compile(NULL, text, strlen(text), "text.py", &module, NULL)) return 1;
  const wick_value *n = value_int(1000);
  int failed = run(module, "work", &n, 1, NULL, 0, NULL, NULL, NULL) != WICK_OK;
  value_release((wick_value *)n);
  module_release(module);
  return failed;
}

static int use(void *library) {
  FIND(compile);
  FIND(run);
  FIND(run_async);
  FIND(future_wait);
  FIND(future_release);
  FIND(value_int);
  FIND(value_release);
  FIND(module_release);
  wick_module *module;
  wick_future *future;
  if (compile(NULL, text, strlen(text), "text.py", &module, NULL)) return 1;
  const wick_value *n = value_int(1000);
  int failed = run(module, "forks", &n, 1, NULL, 0, NULL, NULL, NULL) ||
               run_async(module, "forks", &n, 1, NULL, 0, NULL, &future, NULL) || future_wait(future, 0, NULL, NULL);
  if (!failed) future_release(future);
  value_release((wick_value *)n);
  module_release(module);
  return failed;
}

static pthread_barrier_t turn;
/* Uses the library until it is closed, and ends after that. */
static void *outlive(void *library) {
  static int is_bad;
  int failed = use_alone(library);
  pthread_barrier_wait(&turn);
  pthread_barrier_wait(&turn);
  return failed ? &is_bad : NULL;
}
static int close_under_a_thread(const char *path) {
  pthread_t thread;
  void *failed, *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  pthread_barrier_init(&turn, NULL, 2);
  if (!library || pthread_create(&thread, NULL, outlive, library)) return 1;
  pthread_barrier_wait(&turn);
  dlclose(library);
  int is_there = dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL;
  pthread_barrier_wait(&turn);
  pthread_join(thread, &failed);
  return failed || is_there;
}

int main(int count, char **words) {
  const char *path = count > 1 ? words[1] : "libwick.so";
  if (count > 2 && close_under_a_thread(words[2]))
    return fprintf(stderr, "a library with wick in it did not close, or a thread that used it failed\n"), 1;
  for (int i = 0; i < 3; i++) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library || use(library)) return fprintf(stderr, "can't use the library\n"), 1;
#ifndef __SANITIZE_THREAD__ /* it does not let a forked child start threads */
    int status = 1;
    pid_t child = fork();
    if (!child) _exit(use(library));
    if (waitpid(child, &status, 0) != child || status) return fprintf(stderr, "the child failed\n"), 1;
#endif
    dlclose(library);
    usleep(20000);
  }
  puts("unloaded");
  return 0;
}
