/* wick info: what is in an archive. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

typedef struct Totals {
  const wick_module *module;
  size_t parameters, buffers;
  long long elements, bytes;
  bool all;
} Totals;

/* Gives the number of elements. */
static long long print_shape(uint32_t dtype, int ndim, const int64_t *sizes) {
  long long elements = 1;
  printf("%s[", wick_dtype_name(dtype));
  for (int i = 0; i < ndim; i++) {
    printf("%s%lld", i ? ", " : "", (long long)sizes[i]);
    elements *= sizes[i];
  }
  puts("]");
  return elements;
}

/* Those of the module (NULL) or a submodule, in the order they run. */
static void print_hooks(const wick_module *module, const char *submodule) {
  for (uint32_t kind = WICK_FORWARD_PRE_HOOK; kind <= WICK_FORWARD_HOOK; kind++)
    for (size_t i = 0; i < wick_module_hook_count(module, submodule, kind); i++) {
      char *schema = NULL;
      if (!wick_module_hook_schema(module, submodule, kind, i, &schema, NULL))
        printf("%s%s  %s\n", submodule ? "  " : "", kind == WICK_FORWARD_HOOK ? "hook    " : "pre-hook", schema);
      wick_text_free(schema);
    }
}

static int visit(void *user, const char *name, uint32_t kind, const char *type, const wick_value *value) {
  Totals *totals = user;
  wick_tensor_view v = {.size = sizeof v};
  bool is_tensor = wick_value_kind(value) == WICK_TENSOR && !wick_tensor_view_of(value, &v, NULL);
  if (is_tensor && kind != WICK_ATTRIBUTE) {
    *(kind == WICK_PARAMETER ? &totals->parameters : &totals->buffers) += 1;
    printf("  %-9s %-40s ", kind == WICK_PARAMETER ? "parameter" : "buffer", name);
    long long elements = print_shape(v.dtype, v.ndim, v.sizes);
    totals->elements += elements;
    totals->bytes += elements * (long long)wick_dtype_bytes(v.dtype);
  } else if (wick_value_kind(value) == WICK_OBJECT) {
    printf("  module    %-40s %s\n", name, type);
    print_hooks(totals->module, name);
  } else if (totals->all) {
    char *text = NULL;
    wick_value_print(value, &text, NULL);
    printf("  attribute %-40s %s = %.60s\n", name, type, text ? text : "?");
    wick_text_free(text);
  }
  return 0;
}

static bool starts_with(const char *text, const char *start) {
  return !strncmp(text, start, strlen(start));
}

/* Version, records and extra files, from the directory; nothing where there is none. */
static void print_archive(const char *path) {
  wick_archive *archive = NULL;
  char *text = NULL;
  size_t length, files = 0, data = 0;
  if (wick_archive_open(path, &ARCHIVE_OPTIONS, &archive, NULL)) return;
  if (wick_archive_read(archive, "version", &text, &length, NULL))
    wick_archive_read(archive, ".data/version", &text, &length, NULL);
  while (text && length && text[length - 1] <= ' ') length--;
  for (size_t i = 0; i < wick_archive_count(archive); i++) {
    const char *name = wick_archive_name(archive, i);
    files += starts_with(name, "code/") && is_source_file(name);
    data += starts_with(name, "data/") || starts_with(name, "constants/");
  }
  printf("archive   version %.*s, %zu source files, %zu tensor records, %llu bytes\n", text ? (int)length : 1,
         text ? text : "?", files, data, (unsigned long long)wick_archive_bytes(archive));
  for (size_t i = 0; i < wick_archive_count(archive); i++)
    if (starts_with(wick_archive_name(archive, i), "extra/")) printf("extra     %s\n", wick_archive_name(archive, i));
  wick_text_free(text);
  wick_archive_release(archive);
}

static int print_module(const char *path, const wick_module *module, bool all) {
  wick_error *error;
  Totals totals = {.module = module, .all = all};
  if (!is_source_file(path)) print_archive(path);
  for (size_t i = 0; wick_library_path(i); i++) printf("library   %s\n", wick_library_path(i));
  if (*wick_module_class_name(module)) printf("class     %s\n", wick_module_class_name(module));
  if (*mode_name(module)) printf("mode      %s\n", mode_name(module));
  for (size_t i = 0; i < wick_module_method_count(module); i++) {
    char *schema = NULL;
    wick_module_schema(module, wick_module_method_name(module, i), &schema, NULL);
    printf("%s  %s\n", *wick_module_class_name(module) ? "method  " : "function",
           schema ? schema : wick_module_method_name(module, i));
    wick_text_free(schema);
  }
  print_hooks(module, NULL);
  if (wick_module_each(module, visit, &totals, &error)) {
    complain_error(path, error);
    return EXIT_FAILED;
  }
  if (*wick_module_class_name(module))
    printf("total     %zu parameters and %zu buffers, %lld elements, %lld bytes\n", totals.parameters, totals.buffers,
           totals.elements, totals.bytes);
  return EXIT_DONE;
}

/* ---- files without a program that runs ---- */

static int print_tensor(void *argument, const char *name, const wick_value *tensor) {
  Totals *totals = argument;
  wick_tensor_spec spec;
  if (wick_tensor_spec_of(tensor, &spec, NULL)) return 0;
  printf("  tensor    %-40s ", name);
  long long elements = print_shape(spec.dtype, spec.ndim, spec.sizes);
  totals->buffers++;
  totals->elements += elements;
  totals->bytes += elements * (long long)wick_dtype_bytes(spec.dtype);
  return 0;
}
static void print_contents(const char *path, const wick_file_kind *kind, const wick_value *value,
                           const wick_error *why_no_program) {
  Totals totals = {0};
  char *text = NULL;
  wick_error *error = NULL;
  if (kind->use == WICK_FILE_PROGRAM) {
    print_archive(path);
    printf("does not load: %s\n", wick_error_message(why_no_program));
  } else {
    wick_value_describe(value, &text, NULL);
    printf("file      %s: %s\n", kind->name, text ? text : "");
    wick_text_free(text);
  }
  bool is_whole = !wick_value_each_tensor(value, print_tensor, &totals, &error);
  printf("total     %zu tensors, %lld elements, %lld bytes\n", totals.buffers, totals.elements, totals.bytes);
  if (!is_whole) complain(path, "%s", wick_error_message(error));
  if (kind->use != WICK_FILE_PROGRAM) printf("next      %s\n", kind->advice);
  wick_error_free(error);
}
/* Why it is no program, and what tensors it has; false: nothing was found to print. */
static bool info_of_file(const char *path, bool read, const wick_error *error) {
  wick_load_options options = {.size = sizeof options, .mode = read ? WICK_LOAD_READ : WICK_LOAD_MAP};
  wick_file_kind kind = {.size = sizeof kind};
  wick_value *value = NULL;
  if (wick_file_kind_of(path, &options, &kind, NULL) || wick_file_contents(path, &options, &value, NULL)) return false;
  print_contents(path, &kind, value, error);
  wick_value_release(value);
  return true;
}

static int run(const Command *command, int count, char **words) {
  bool all = false;
  ModelOptions model = {0};
  const Option options[] = {
      {"--all", OPTION_FLAG, &all, NULL, "plain attributes with their values too"},
      {.kind = OPTION_MODEL, .to = &model},
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, 1, &result)) return result;
  wick_error *error;
  wick_module *module = model_open(words[0], &model, &error);
  if (!module && error && !is_source_file(words[0]) && info_of_file(words[0], model.read, error)) {
    wick_error_free(error);
    return EXIT_DONE;
  }
  if (!module) {
    if (error) complain_error(words[0], error);
    return EXIT_USAGE;
  }
  result = print_module(words[0], module, all);
  wick_module_release(module);
  return result;
}

const Command command_info = {"info", "MODEL", "Shows what is in a file: modules, parameters, methods.", run};
