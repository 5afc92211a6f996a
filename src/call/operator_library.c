#include "call/operator_library.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/vec.h"
#include "base/work_limit.h"
#include "call/operator.h"

#ifndef WICK_LIBRARIES_FROM_PROGRAM
#define WICK_LIBRARIES_FROM_PROGRAM "../lib/wick"
#endif

enum { MAX_MISSING = 64 };
static const char *const not_installed = "it is not installed";

/* What became of a namespace that was asked for: the libraries that are there, and the first names that are not. */
typedef struct Tried {
  Str name;
  const char *why_not; /* "": it is open */
} Tried;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while a library is opened */
static Map tried;                                        /* name -> Tried */
typedef struct OpenLibrary {
  void *handle;
  char *path;
} OpenLibrary;
static VEC(OpenLibrary) opened; /* whose wick_library_init has succeeded */
static _Atomic bool is_off;
static _Thread_local bool is_opening; /* this thread holds the lock: a library's init asks for names, too */

/* ---- where libraries are ---- */

static bool is_library_name(Str name) {
  for (size_t i = 0; i < name.length; i++) {
    char c = name.data[i];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (i && c >= '0' && c <= '9'))) return false;
  }
  return name.length && name.length < 128;
}

static bool is_file_in(const char *folder, size_t length, const char *below, Str name, char *out) {
  int written = snprintf(out, LIBRARY_PATH_MAX, "%.*s%s%s/" STR_FMT ".so", (int)length, folder, *below ? "/" : "",
                         below, STR_ARG(name));
  return written > 0 && written < LIBRARY_PATH_MAX && access(out, R_OK) == 0;
}

/* The folder of the program or shared library that wick is part of; false: not known. */
static bool own_folder(char out[LIBRARY_PATH_MAX]) {
  Dl_info own, program;
  char path[PATH_MAX];
  if (!dladdr((void *)&is_off, &own) || !own.dli_fname) return false;
  bool in_program = dladdr((void *)getauxval(AT_PHDR), &program) && program.dli_fbase == own.dli_fbase;
  if (!realpath(in_program ? "/proc/self/exe" : own.dli_fname, path)) return false;
  char *slash = strrchr(path, '/');
  if (!slash || slash - path >= LIBRARY_PATH_MAX) return false;
  *slash = 0;
  memcpy(out, path, (size_t)(slash - path) + 1);
  return true;
}

bool operator_library_find(Str name, char out_path[LIBRARY_PATH_MAX]) {
  if (!is_library_name(name)) return false;
  const char *folders = secure_getenv("WICK_LIBRARY_PATH");
  while (folders && *folders) {
    size_t length = strcspn(folders, ":");
    if (length && is_file_in(folders, length, "", name, out_path)) return true;
    folders += length + (folders[length] == ':');
  }
  /* installed beside libwick.so, for the command, and in a build folder */
  static const char *const below[] = {"wick", WICK_LIBRARIES_FROM_PROGRAM, "libraries"};
  char folder[LIBRARY_PATH_MAX];
  if (!own_folder(folder)) return false;
  for (size_t i = 0; i < sizeof below / sizeof *below; i++)
    if (is_file_in(folder, strlen(folder), below[i], name, out_path)) return true;
  return false;
}

/* ---- opening ---- */

/* A library finds wick's functions among those of all: where a program opened libwick.so for itself alone, as Python
 * does, they come in now. */
static void show_own_functions(void) {
  Dl_info own;
  if (dladdr((void *)&is_off, &own) && own.dli_fname) {
    void *self = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    if (self) dlclose(self);
  }
}

static bool is_open(void *library) {
  for (size_t i = 0; i < opened.length; i++)
    if (opened.data[i].handle == library) return true;
  return false;
}

static Status initialize(void *library, const char *path) {
  typedef int32_t Init(Status * error); /* a wick_error is an Error */
  Init *init = NULL;
  *(void **)&init = dlsym(library, "wick_library_init");
  if (!init) return status_new(ERROR_INVALID_ARGUMENT, "%s has no wick_library_init", path);
  char *kept = vec_reserve(&opened, opened.length + 1) ? mem_strdup(path) : NULL;
  if (!kept) return status_out_of_memory();
  Status error = OK;
  int32_t code = init(&error);
  if (code) {
    mem_free(kept);
    return error ? error : status_new(ERROR_RUNTIME, "%s: wick_library_init failed with %d", path, code);
  }
  status_free(error);
  opened.data[opened.length++] = (OpenLibrary){library, kept}; /* stays open: its kernels are in the registry */
  return OK;
}

/* The lock is held. */
static Status open_file(const char *path) {
  assert(lock_is_held());
  show_own_functions();
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return status_new(ERROR_IO, "%s", why ? why : "the library can't be opened");
  }
  if (is_open(library)) {
    dlclose(library);
    return OK;
  }
  /* What a failed init has registered stays, and so does the library. */
  return initialize(library, path);
}

/* Libraries are the process's: a call that asks for one pays with neither memory nor time. */
static Status open_within_lock(const char *path) {
  HEAP_SCOPE(NULL);
  if (is_opening) return open_file(path);
  WorkLimit *limit = work_limit_enter(NULL);
  MemBudget *budget = mem_budget_enter(NULL);
  lock_take(&lock);
  is_opening = true;
  Status status = open_file(path);
  is_opening = false;
  lock_drop(&lock);
  mem_budget_enter(budget);
  work_limit_enter(limit);
  return status;
}

Status operator_library_open(const char *name_or_path) {
  char path[LIBRARY_PATH_MAX];
  if (strchr(name_or_path, '/')) return open_within_lock(name_or_path);
  Str name = str_from(name_or_path);
  if (operator_library_find(name, path)) return open_within_lock(path);
  if (is_library_name(name))
    return status_new(ERROR_NOT_FOUND, "there is no library %s in the folders of wick's libraries", name_or_path);
  return open_within_lock(name_or_path);
}

/* ---- by itself ---- */

static const char *keep_reason(Status status) {
  char *text = status->code == ERROR_OUT_OF_MEMORY ? NULL : mem_strdup(status->message);
  status_free(status);
  return text;
}

/* Takes over why_not, NULL: for want of memory, which may be there next time. The lock is held. */
static void remember(Str name, const char *why_not) {
  assert(lock_is_held());
  Tried *new = why_not ? mem_calloc(1, sizeof *new + name.length) : NULL;
  if (!new) return;
  char *text = (char *)(new + 1);
  memcpy(text, name.data, name.length);
  *new = (Tried){{text, name.length}, why_not};
  if (!map_put(&tried, new->name, new)) mem_free(new);
}

/* Whether it is open. The lock is held. */
static bool try_library(Str name) {
  assert(lock_is_held());
  static size_t missing;
  char path[LIBRARY_PATH_MAX];
  const Tried *known = map_get(&tried, name);
  if (known) return !*known->why_not;
  if (!operator_library_find(name, path)) {
    if (missing < MAX_MISSING) missing++, remember(name, not_installed);
    return false;
  }
  Status status = open_file(path);
  remember(name, status ? keep_reason(status) : "");
  return !status;
}

bool operator_library_open_for(Str name) {
  HEAP_SCOPE(NULL);
  if (is_off || is_opening || !is_library_name(name) || str_is(name, "aten") || str_is(name, "prim")) return false;
  WorkLimit *limit = work_limit_enter(NULL);
  MemBudget *budget = mem_budget_enter(NULL);
  lock_take(&lock);
  is_opening = true;
  bool is_there = try_library(name);
  is_opening = false;
  lock_drop(&lock);
  mem_budget_enter(budget);
  work_limit_enter(limit);
  return is_there;
}

void operator_library_set_automatic(bool on) {
  is_off = !on;
}

const char *operator_library_path(size_t index) {
  lock_take(&lock);
  const char *path = index < opened.length ? opened.data[index].path : NULL;
  lock_drop(&lock);
  return path;
}

static Str space_of(Str qualified_name) {
  ptrdiff_t colon = str_find_char(qualified_name, ':');
  return str_slice(qualified_name, 0, colon < 0 ? qualified_name.length : (size_t)colon);
}

const char *operator_library_explain(Str qualified_name) {
  char path[LIBRARY_PATH_MAX];
  Str name = space_of(qualified_name);
  if (!is_library_name(name) || operator_space_is_known(name)) return "";
  if (is_off && operator_library_find(name, path)) return "libraries are not opened by themselves";
  lock_take(&lock);
  const Tried *known = map_get(&tried, name);
  const char *why_not = known ? known->why_not : not_installed;
  lock_drop(&lock);
  return why_not;
}

void operator_library_print_reason(Str qualified_name, StrBuf *out) {
  const char *why_not = operator_library_explain(qualified_name);
  if (*why_not) strbuf_printf(out, " (library " STR_FMT ": %s)", STR_ARG(space_of(qualified_name)), why_not);
}
