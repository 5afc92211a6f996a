/* How many threads this process may use: its affinity, and the processor quotas of the control groups it is in. */
#include "base/parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int affinity_count(void) {
  for (int processors = 1024; processors <= 1 << 18; processors *= 4) {
    cpu_set_t *set = CPU_ALLOC((size_t)processors);
    if (!set) break;
    size_t bytes = CPU_ALLOC_SIZE((size_t)processors);
    int count = sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int)online : 1;
}

static bool read_line(const char *folder, const char *file, char *line, int size) {
  char path[1200];
  if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) return false;
  FILE *stream = fopen(path, "re");
  if (!stream) return false;
  bool ok = fgets(line, size, stream) != NULL;
  fclose(stream);
  return ok;
}

static int limit_by(int threads, long long quota, long long period) {
  if (quota <= 0 || period <= 0) return threads;
  long long whole = (quota + period - 1) / period;
  return whole < threads ? (int)whole : threads;
}

static bool read_number(const char *folder, const char *file, long long *out) {
  char line[128];
  return read_line(folder, file, line, sizeof line) && sscanf(line, "%lld", out) == 1;
}

/* One form of the kernel's control groups: what a folder of the "cpu" controller says. */
typedef int LimitByFolder(int threads, const char *folder);

static int limit_by_unified(int threads, const char *folder) {
  char line[128];
  long long quota, period;
  bool is_limited = read_line(folder, "cpu.max", line, sizeof line) && sscanf(line, "%lld %lld", &quota, &period) == 2;
  return is_limited ? limit_by(threads, quota, period) : threads;
}
static int limit_by_legacy(int threads, const char *folder) {
  long long quota, period;
  bool is_limited =
      read_number(folder, "cpu.cfs_quota_us", &quota) && quota > 0 && read_number(folder, "cpu.cfs_period_us", &period);
  return is_limited ? limit_by(threads, quota, period) : threads;
}

/* A group's parents limit it too. */
static int limit_by_group(int threads, const char *mount, const char *group, LimitByFolder *limit_by_folder) {
  char folder[1024];
  if (!strcmp(group, "/")) group = "";
  if (snprintf(folder, sizeof folder, "%s%s", mount, group) >= (int)sizeof folder) return threads;
  size_t root = strlen(mount);
  for (;;) {
    threads = limit_by_folder(threads, folder);
    char *slash = strlen(folder) > root ? strrchr(folder + root, '/') : NULL;
    if (!slash) return threads;
    *slash = '\0';
  }
}

/* Of "cpu,cpuacct". */
static bool has_cpu(const char *controllers) {
  while (*controllers) {
    size_t length = strcspn(controllers, ",");
    if (length == 3 && !memcmp(controllers, "cpu", 3)) return true;
    controllers += length + (controllers[length] == ',');
  }
  return false;
}

static int limit_by_legacy_group(int threads, const char *controllers, const char *group) {
  char mount[256];
  bool fits = snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", controllers) < (int)sizeof mount;
  return limit_by_group(threads, fits && !access(mount, F_OK) ? mount : "/sys/fs/cgroup/cpu", group, limit_by_legacy);
}

/* Opening a file of /sys costs microseconds, and all that wick does first waits for this: only those that can say
 * something are. */
static int count_threads(void) {
  int threads = affinity_count();
  FILE *stream = fopen("/proc/self/cgroup", "re");
  char line[1024];
  while (stream && fgets(line, sizeof line, stream)) { /* "number:controllers:/path" */
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':');
    char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = '\0';
    controllers++;
    if (!*controllers)
      threads = limit_by_group(threads, "/sys/fs/cgroup", group, limit_by_unified);
    else if (has_cpu(controllers))
      threads = limit_by_legacy_group(threads, controllers, group);
  }
  if (stream) fclose(stream);
  return threads > 0 ? threads : 1;
}

int parallel_default_threads(void) {
  static _Atomic int known;
  int threads = atomic_load_explicit(&known, memory_order_relaxed);
  if (!threads) atomic_store_explicit(&known, threads = count_threads(), memory_order_relaxed);
  return threads;
}
