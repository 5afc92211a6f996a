/* The environment's text is searched at each question of an enabled log; while it is empty, which is nearly always, a
 * question costs one atomic load. */
#include "report/jit_log.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fork.h"

enum { MAX_LIMITS = 64 };

typedef struct OptLimit {
  Str file;
  int64_t limit;
  _Atomic int64_t done;
} OptLimit;

typedef enum LogState { UNREAD, IDLE, ACTIVE } LogState;

static _Atomic int64_t refuse_countdown;

static struct {
  pthread_mutex_t lock;
  _Atomic int state; /* ACTIVE: levels or limits are set, or a refusal is to come */
  const char *levels;
  OptLimit limits[MAX_LIMITS];
  uint32_t limit_count;
  _Atomic int verbosity; /* 0: unread, else one more than the value */
  void (*sink)(void *user, const char *text, size_t length);
  void *user;
} log_settings = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The next part of a list with colons; false at its end. */
static bool next_part(Str *rest, Str *out) {
  if (!rest->length) return false;
  ptrdiff_t colon = str_find_char(*rest, ':');
  size_t end = colon < 0 ? rest->length : (size_t)colon;
  *out = str_slice(*rest, 0, end);
  *rest = str_slice(*rest, colon < 0 ? end : end + 1, rest->length);
  return true;
}

static bool is_file(Str written, const char *file) {
  if (str_ends_with(written, ".cpp")) written.length -= 4;
  return str_is(written, file);
}

static void read_limits(const char *text) {
  log_settings.limit_count = 0;
  Str rest = str_from(text), part;
  while (log_settings.limit_count < MAX_LIMITS && next_part(&rest, &part)) {
    ptrdiff_t equals = str_find_char(part, '=');
    OptLimit *limit = &log_settings.limits[log_settings.limit_count];
    if (equals < 0 || !str_to_int64(str_slice(part, (size_t)equals + 1, part.length), 10, &limit->limit)) continue;
    limit->file = str_slice(part, 0, (size_t)equals);
    atomic_init(&limit->done, 0);
    log_settings.limit_count++;
  }
}

static void configure_locked(const char *levels, const char *limits) {
  assert(lock_is_held());
  if (!levels) levels = getenv("PYTORCH_JIT_LOG_LEVEL");
  if (!limits) limits = getenv("PYTORCH_JIT_OPT_LIMIT");
  log_settings.levels = levels ? levels : "";
  read_limits(limits ? limits : "");
  bool active = *log_settings.levels || log_settings.limit_count || atomic_load(&refuse_countdown) > 0;
  atomic_store_explicit(&log_settings.state, active ? ACTIVE : IDLE, memory_order_release);
}

static bool log_is_active(void) {
  int state = atomic_load_explicit(&log_settings.state, memory_order_acquire);
  if (__builtin_expect(state == UNREAD, 0)) {
    lock_take(&log_settings.lock);
    if (atomic_load(&log_settings.state) == UNREAD) configure_locked(NULL, NULL);
    lock_drop(&log_settings.lock);
    state = atomic_load(&log_settings.state);
  }
  return state == ACTIVE;
}

void jit_log_configure(const char *log_levels, const char *opt_limits) {
  lock_take(&log_settings.lock);
  configure_locked(log_levels, opt_limits);
  lock_drop(&log_settings.lock);
}

void jit_opt_refuse(int64_t n) {
  atomic_store(&refuse_countdown, n);
  jit_log_configure(NULL, NULL);
}

int64_t jit_opt_refuse_left(void) {
  return atomic_load(&refuse_countdown);
}

void jit_log_set_sink(void (*sink)(void *user, const char *text, size_t length), void *user) {
  lock_take(&log_settings.lock);
  log_settings.sink = sink;
  log_settings.user = user;
  lock_drop(&log_settings.lock);
}

bool jit_log_enabled(const char *file, JitLogLevel level) {
  if (!log_is_active()) return false;
  Str rest = str_from(log_settings.levels), part;
  while (next_part(&rest, &part)) {
    int marks = 0;
    while (part.length && part.data[0] == '>') part = str_slice(part, 1, part.length), marks++;
    if (is_file(part, file)) return (int)level <= marks;
  }
  return false;
}

void jit_log_write(const char *file, int line, JitLogLevel level, Str text) {
  static const char *const names[] = {"DUMP", "UPDATE", "DEBUG"};
  StrBuf out = {0};
  size_t begin = 0;
  while (begin < text.length) {
    ptrdiff_t found = str_find_char(str_slice(text, begin, text.length), '\n');
    size_t end = found < 0 ? text.length : begin + (size_t)found;
    strbuf_printf(&out, "[%s %s.cpp:%03d] ", names[level], file, line);
    strbuf_escape(&out, str_slice(text, begin, end), "\t");
    strbuf_char(&out, '\n');
    begin = end + 1;
  }
  lock_take(&log_settings.lock);
  if (log_settings.sink)
    log_settings.sink(log_settings.user, strbuf_view(&out).data, out.length);
  else
    fwrite(strbuf_view(&out).data, 1, out.length, stderr);
  lock_drop(&log_settings.lock);
  strbuf_dispose(&out);
}

void jit_log_printf(const char *file, int line, JitLogLevel level, const char *format, ...) {
  char *text = NULL;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) return; /* no memory: a message is lost */
  jit_log_write(file, line, level, (Str){text, (size_t)length});
  free(text);
}

static bool is_refused(void) {
  return atomic_load(&refuse_countdown) > 0 && atomic_fetch_sub(&refuse_countdown, 1) == 1;
}

/* Within the limit that has the name, if there is one. */
static bool is_within(const char *name, const char *file) {
  for (uint32_t i = 0; i < log_settings.limit_count; i++) {
    OptLimit *limit = &log_settings.limits[i];
    if (!is_file(limit->file, name)) continue;
    int64_t done = atomic_fetch_add(&limit->done, 1);
    if (done >= limit->limit) return false;
    JIT_LOG_UPDATE(file, "rewrite %lld of %lld", (long long)done + 1, (long long)limit->limit);
    return true;
  }
  return true;
}

bool jit_opt_limit(const char *file) {
  return !log_is_active() || (!is_refused() && is_within(file, file));
}

bool jit_opt_limit_rule(const char *file, const char *rule) {
  return !log_is_active() || (!is_refused() && is_within(rule, file) && is_within(file, file));
}

int jit_type_verbosity(void) {
  int known = atomic_load_explicit(&log_settings.verbosity, memory_order_relaxed);
  if (known) return known - 1;
  const char *text = getenv("PYTORCH_JIT_TYPE_VERBOSITY");
  int64_t value;
  if (!text || !str_to_int64(str_from(text), 10, &value) || value < 0 || value > TYPE_VERBOSITY_SYMBOLIC)
    value = TYPE_VERBOSITY_FULL;
  atomic_store_explicit(&log_settings.verbosity, (int)value + 1, memory_order_relaxed);
  return (int)value;
}
