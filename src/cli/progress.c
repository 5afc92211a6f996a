/* What takes more than a second says so on a terminal; piped it is silent. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

enum { PATIENCE_MS = 1000 }; /* so long nothing is shown */

/* ---- what is counted ---- */

static bool shown;
void progress_show(const char *what, size_t done, size_t total) {
  static double first, last;
  if (!isatty(STDERR_FILENO)) return;
  double now = clock_ms();
  if (first == 0) first = now;
  if (now - first < PATIENCE_MS || (shown && done < total && now - last < 100)) return;
  last = now;
  shown = true;
  fprintf(stderr, "\r%s %zu of %zu\033[K", what, done, total);
  fflush(stderr);
}
void progress_clear(void) {
  if (shown) fputs("\r\033[K", stderr);
  shown = false;
}

/* ---- what is waited for: a thread shows for how long ---- */

typedef struct Wait {
  pthread_mutex_t lock;
  pthread_cond_t ended;
  pthread_t thread;
  const char *what;
  bool is_running, is_over;
} Wait;
static Wait wait = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

static void *show_wait(void *unused) {
  double start = clock_ms();
  bool said = false;
  (void)unused;
  pthread_mutex_lock(&wait.lock);
  while (!wait.is_over) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_cond_timedwait(&wait.ended, &wait.lock, &until);
    double seconds = (clock_ms() - start) / 1e3;
    if (wait.is_over || seconds * 1e3 < PATIENCE_MS) continue;
    said = true;
    fprintf(stderr, "\r%s, %.0f s\033[K", wait.what, seconds);
    fflush(stderr);
  }
  if (said) fputs("\r\033[K", stderr);
  pthread_mutex_unlock(&wait.lock);
  return NULL;
}
void progress_begin(const char *what) {
  if (!isatty(STDERR_FILENO) || wait.is_running) return;
  wait.what = what;
  wait.is_over = false;
  wait.is_running = !pthread_create(&wait.thread, NULL, show_wait, NULL);
}
void progress_end(void) {
  if (!wait.is_running) return;
  pthread_mutex_lock(&wait.lock);
  wait.is_over = true;
  pthread_cond_signal(&wait.ended);
  pthread_mutex_unlock(&wait.lock);
  pthread_join(wait.thread, NULL);
  wait.is_running = false;
}
