/* The small ones of the recorded programs in tests/program, and their calls. */
#pragma once

#include "hard.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PROGRAMS = 1000, MAX_BYTES = 40000, MAX_ARGUMENTS = 40 };

typedef struct Program {
  char model[300], io[300];
  bool differentiates; /* runs in grad mode */
} Program;
static Program programs[MAX_PROGRAMS];
static size_t program_count;

static inline int by_name(const void *a, const void *b) {
  return strcmp(((const Program *)a)->io, ((const Program *)b)->io);
}
static inline bool is_small(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && info.st_size < MAX_BYTES;
}

/* Whether the file, if it is a source, says "requires_grad". */
static inline bool asks_for_gradients(const char *path) {
  static char text[MAX_BYTES + 1];
  FILE *file = str_ends_with(str_from(path), ".py") ? fopen(path, "rb") : NULL;
  if (!file) return false;
  text[fread(text, 1, MAX_BYTES, file)] = 0;
  fclose(file);
  return strstr(text, "requires_grad") != NULL;
}

static inline int find_programs(void **state) {
  (void)state;
  DIR *folder = opendir("program");
  if (!folder) return -1;
  for (struct dirent *entry; (entry = readdir(folder)) && program_count < MAX_PROGRAMS;) {
    Str name = str_from(entry->d_name);
    if (!str_ends_with(name, ".io.pt") || name.length > 200) continue;
    Program *p = &programs[program_count];
    int stem = (int)name.length - 6;
    snprintf(p->io, sizeof p->io, "program/%s", entry->d_name);
    snprintf(p->model, sizeof p->model, "program/%.*s.py", stem, entry->d_name);
    if (access(p->model, R_OK)) snprintf(p->model, sizeof p->model, "program/%.*s.pt", stem, entry->d_name);
    p->differentiates = asks_for_gradients(p->model);
    program_count += is_small(p->model) && is_small(p->io);
  }
  closedir(folder);
  qsort(programs, program_count, sizeof *programs, by_name);
  return 0;
}

/* Every program that WICK_HARD_PROGRAMS asks for, evenly picked; `check` answers how often it went wrong. */
static inline void check_programs(int64_t (*check)(const Program *program, const wick_value *calls, int64_t number)) {
  int64_t wanted = wanted_programs(program_count), wrong = 0;
  for (int64_t k = share_first(); k < wanted && wrong < MAX_WRONG; k += share_step()) {
    const Program *p = &programs[(size_t)k * program_count / (size_t)wanted];
    wick_value *io = NULL;
    assert_int_equal(wick_load_value(NULL, p->io, NULL, &io, NULL), WICK_OK);
    wick_value *calls = wick_value_get_text(io, "calls");
    if (calls) wrong += check(p, calls, k);
    wick_value_release(calls);
    wick_value_release(io);
    wrong += leaks(p->model);
  }
  assert_int_equal(wrong, 0);
}

/* ---- a recorded call, with arguments of its own ---- */

typedef struct RecordedCall {
  wick_value *args, *kwargs, *method, *output; /* as recorded */
  wick_value *copied;                          /* args and kwargs, which the call may change; NULL: it can't be made */
  wick_value *values[MAX_ARGUMENTS], *keys[MAX_ARGUMENTS];
  const char *names[MAX_ARGUMENTS];
  size_t count, named; /* all, and those with names at the end */
} RecordedCall;

static inline void call_begin(const wick_value *recorded, RecordedCall *call) {
  *call = (RecordedCall){.args = wick_value_get_text(recorded, "args"),
                         .kwargs = wick_value_get_text(recorded, "kwargs"),
                         .method = wick_value_get_text(recorded, "method"),
                         .output = wick_value_get_text(recorded, "output")};
  size_t positional = call->args ? wick_value_length(call->args) : 0;
  call->named = call->kwargs ? wick_value_length(call->kwargs) : 0;
  call->count = positional + call->named;
  wick_value *both = NULL, *none = wick_value_none();
  const wick_value *parts[] = {call->args ? call->args : none, call->kwargs ? call->kwargs : none};
  if (call->count > MAX_ARGUMENTS || wick_value_tuple(parts, 2, &both, NULL) ||
      wick_value_copy(both, &call->copied, NULL))
    call->count = call->named = 0;
  wick_value_release(both);
  wick_value_release(none);
  if (!call->copied) return;
  wick_value *args = wick_value_item(call->copied, 0), *kwargs = wick_value_item(call->copied, 1);
  for (size_t i = 0; i < positional; i++) call->values[i] = wick_value_item(args, i);
  for (size_t i = 0; i < call->named; i++) {
    call->values[positional + i] = wick_value_item(kwargs, i);
    call->names[i] = wick_value_to_string(call->keys[i] = wick_value_key(kwargs, i), NULL);
  }
  wick_value_release(args);
  wick_value_release(kwargs);
}

static inline void call_make(const Program *p, wick_module *module, const RecordedCall *call, wick_value **result,
                             wick_error **error) {
  wick_run_options options = {.size = sizeof options, .grad = p->differentiates ? WICK_GRAD_ON : WICK_GRAD_OFF};
  wick_run(module, wick_value_to_string(call->method, NULL), (const wick_value *const *)call->values, call->count,
           call->names, call->named, &options, result, error);
}

static inline void call_end(RecordedCall *call) {
  for (size_t i = 0; i < MAX_ARGUMENTS; i++) wick_value_release(call->values[i]), wick_value_release(call->keys[i]);
  wick_value *all[] = {call->args, call->kwargs, call->method, call->output, call->copied};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_value_release(all[i]);
}
