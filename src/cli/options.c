/* Options, messages, progress, opening models. */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

void complain(const char *file, const char *format, ...) {
  va_list arguments;
  progress_clear();
  fprintf(stderr, file ? "wick: %s: " : "wick: ", file);
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
}

void complain_error(const char *file, wick_error *error) {
  const char *message = wick_error_message(error);
  size_t length = file ? strlen(file) : 0;
  bool names_it = length && !strncmp(message, file, length) && message[length] == ':';
  complain(names_it ? NULL : file, "%s", message);
  const char *trace = wick_error_trace(error);
  if (*trace) fprintf(stderr, "%s%s", trace, trace[strlen(trace) - 1] == '\n' ? "" : "\n");
  wick_error_free(error);
}

static void show_help(const Command *command, const Option *options) {
  printf("usage: wick %s %s\n\n%s\n\n", command->name, command->usage, command->summary);
  for (const Option *o = options; o->name; o++) printf("  %s %s\n", o->name, o->help);
}

/* "0,2-3": of wick's threads and of this one. */
static bool set_cpus(const char *text) {
  enum { MOST = 1024, WORD_BITS = 8 * sizeof(unsigned long) };
  uint32_t numbers[MOST], count = 0;
  unsigned long set[MOST / WORD_BITS] = {0}; /* musl's cpu_set_t is too small */
  for (const char *at = text;; at++) {
    char *end;
    long first = strtol(at, &end, 10), last = first;
    bool fine = end != at && *at >= '0' && *at <= '9';
    if (fine && *end == '-') {
      at = end + 1;
      last = strtol(at, &end, 10);
      fine = end != at && *at >= '0' && *at <= '9';
    }
    if (!fine || (*end && *end != ',') || first > last || last >= MOST) {
      complain(NULL, "--cpu takes processors such as 0,2-3, not '%s'", text);
      return false;
    }
    for (long i = first; i <= last; i++) {
      if (!(set[i / WORD_BITS] >> i % WORD_BITS & 1)) numbers[count++] = (uint32_t)i;
      set[i / WORD_BITS] |= 1ul << i % WORD_BITS;
    }
    at = end;
    if (!*at) break;
  }
  wick_runtime_options options = {.size = sizeof options, .thread_cpus = numbers, .thread_cpu_count = count};
  wick_runtime *runtime;
  wick_error *error;
  if (wick_runtime_new(&options, &runtime, &error)) {
    complain_error("--cpu", error);
    return false;
  }
  wick_runtime_release(runtime); /* the process's threads stay so */
  if (!sched_setaffinity(0, sizeof set, (const cpu_set_t *)set)) return true;
  complain(NULL, "--cpu %s: %s", text, strerror(errno));
  return false;
}

static bool set_option(const Option *option, const char *text) {
  char *end = NULL;
  wick_error *error;
  errno = 0;
  switch (option->kind) {
    case OPTION_FLAG:
      *(bool *)option->to = true;
      return true;
    case OPTION_TEXT:
      *(const char **)option->to = text;
      return true;
    case OPTION_INT:
      *(long *)option->to = strtol(text, &end, 10);
      break;
    case OPTION_REAL:
      *(double *)option->to = strtod(text, &end);
      break;
    case OPTION_LIBRARY:
      if (!wick_load_library(text, &error)) return true;
      complain_error(text, error);
      return false;
    case OPTION_NO_LIBRARIES:
      wick_set_automatic_libraries(0);
      return true;
    case OPTION_CPUS:
      return set_cpus(text);
    case OPTION_ENGINE:
      if (!wick_set_quantized_engine(NULL, text, &error)) return true;
      complain_error("--engine", error);
      return false;
  }
  bool is_negative_count = option->kind == OPTION_INT && *(long *)option->to < 0; /* all are */
  if (end && end != text && !*end && !errno && !is_negative_count) return true;
  complain(NULL, "%s takes a number, not '%s'", option->name, text);
  return false;
}

bool options_parse(const Command *command, const Option *options, int *count, char **words, int least, int *out_exit) {
  int kept = 0;
  bool only_words = false;
  *out_exit = EXIT_USAGE;
  for (int i = 0; i < *count; i++) {
    char *word = words[i];
    if (only_words || word[0] != '-' || !word[1] || (word[1] >= '0' && word[1] <= '9') ||
        word[1] == '.') { /* -1 is an input */
      words[kept++] = word;
      continue;
    }
    if (!strcmp(word, "--")) {
      only_words = true;
      continue;
    }
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
      show_help(command, options);
      *out_exit = EXIT_DONE;
      return false;
    }
    size_t length = strcspn(word, "=");
    const Option *option = options;
    while (option->name && (strlen(option->name) != length || strncmp(option->name, word, length) != 0)) option++;
    if (!option->name) {
      complain(NULL, "%s does not take %s; `wick %s --help` lists its options", command->name, word, command->name);
      return false;
    }
    const char *value = word[length] ? word + length + 1 : NULL;
    bool is_flag = option->kind == OPTION_FLAG || option->kind == OPTION_NO_LIBRARIES;
    if (is_flag ? value != NULL : !value && ++i >= *count) {
      complain(NULL, "%s %s", option->name, is_flag ? "takes no value" : "needs a value");
      return false;
    }
    if (!set_option(option, value ? value : words[i])) return false;
  }
  *count = kept;
  if (kept >= least) return true;
  fprintf(stderr, "usage: wick %s %s\n", command->name, command->usage);
  return false;
}

/* ---- models ---- */

bool is_source_file(const char *path) {
  size_t length = strlen(path);
  return length > 3 && !strcmp(path + length - 3, ".py");
}

char *file_read(const char *path, size_t *out_length) {
  FILE *file = fopen(path, "rb");
  struct stat info;
  char *text = NULL;
  if (!file || fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode)) {
    complain(path, "cannot open: %s", file ? "not a regular file" : strerror(errno));
  } else if (!(text = malloc((size_t)info.st_size + 1))) {
    complain(path, "out of memory");
  } else {
    *out_length = fread(text, 1, (size_t)info.st_size, file);
    text[*out_length] = 0;
  }
  if (file) fclose(file);
  return text;
}

/* Programs made for a machine with other devices run here, but not without a word. */
static void tell_replaced_devices(const char *path, const wick_module *module) {
  char *devices = NULL;
  if (!wick_module_replaced_devices(module, &devices, NULL) && *devices)
    complain(path, "made for %s; here it runs on cpu (--device-map says otherwise)", devices);
  wick_text_free(devices);
}
static wick_module *open_model(const char *path, const ModelOptions *options, wick_error **error) {
  wick_module *module = NULL;
  *error = NULL;
  if (!is_source_file(path)) {
    wick_load_options load = {.size = sizeof load,
                              .mode = options->read ? WICK_LOAD_READ : WICK_LOAD_MAP,
                              .device_map = options->device_map ? options->device_map : DEFAULT_DEVICE_MAP,
                              .deadline_ns = options->deadline_ns};
    bool as_written = options->keep_devices && !options->device_map;
    if (as_written) load.device_map = NULL;
    if (wick_load(options->runtime, path, &load, &module, error) && as_written) {
      wick_error_free(*error);
      load.device_map = DEFAULT_DEVICE_MAP;
      wick_load(options->runtime, path, &load, &module, error);
    }
    return module;
  }
  size_t length;
  char *text = file_read(path, &length);
  if (!text) return NULL;
  wick_compile_options compile = {.size = sizeof compile,
                                  .file_name = path,
                                  .deadline_ns = options->deadline_ns,
                                  .device_map = options->device_map};
  wick_compile_with(options->runtime, text, length, &compile, &module, error);
  free(text);
  return module;
}
wick_module *model_open(const char *path, const ModelOptions *options, wick_error **error) {
  wick_module *module = open_model(path, options, error);
  if (module && !options->device_map) tell_replaced_devices(path, module);
  return module;
}

wick_status graph_text(const wick_graph *graph, bool with_source, char **out, wick_error **error) {
  return with_source ? wick_graph_print_places(graph, out, error) : wick_graph_print(graph, out, error);
}

const char *model_default_method(const wick_module *module) {
  for (size_t i = 0; i < wick_module_method_count(module); i++)
    if (!strcmp(wick_module_method_name(module, i), "forward")) return "forward";
  const char *first = wick_module_method_name(module, 0);
  return *wick_module_class_name(module) || !first ? "forward" : first;
}

/* ---- progress ---- */

static bool progress_shown;
void progress_show(const char *what, size_t done, size_t total) {
  static double last;
  if (!isatty(STDERR_FILENO)) return;
  double now = clock_ms();
  if (progress_shown && done < total && now - last < 100) return;
  last = now;
  progress_shown = true;
  fprintf(stderr, "\r%s %zu of %zu\033[K", what, done, total);
  fflush(stderr);
}
void progress_clear(void) {
  if (progress_shown) fputs("\r\033[K", stderr);
  progress_shown = false;
}
uint64_t clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
double clock_ms(void) {
  return (double)clock_ns() / 1e6;
}
