/* wick info: what is in an archive. */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "call/operator_library.h"
#include "cli/cli.h"
#include "serial/archive/archive.h"
#include "serial/formats/file_kind.h"

typedef struct Totals {
  const wick_module *module;
  size_t parameters, buffers;
  long long elements, bytes;
  bool all;
} Totals;

static void print_shape(const wick_tensor_view *v) {
  printf("%s[", wick_dtype_name(v->dtype));
  for (int i = 0; i < v->ndim; i++) printf("%s%lld", i ? ", " : "", (long long)v->sizes[i]);
  puts("]");
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
    static const uint8_t bytes[16] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4, 2};
    long long elements = 1;
    for (int i = 0; i < v.ndim; i++) elements *= v.sizes[i];
    totals->elements += elements;
    totals->bytes += elements * bytes[v.dtype & 15];
    *(kind == WICK_PARAMETER ? &totals->parameters : &totals->buffers) += 1;
    printf("  %-9s %-40s ", kind == WICK_PARAMETER ? "parameter" : "buffer", name);
    print_shape(&v);
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

/* Version, records and extra files, from the directory. */
static void print_archive(const char *path) {
  ByteSource *source = NULL;
  Archive *archive = NULL;
  Status status = byte_source_open(path, true, &source);
  if (!status) status = archive_open(source, true, 0, &archive);
  if (!status) {
    const ArchiveRecord *version = archive_find(archive, STR("version"));
    char *text = NULL;
    size_t length, files = 0, data = 0;
    if (!version) version = archive_find(archive, STR(".data/version"));
    if (version) status = archive_read(archive, version, &text, &length);
    while (text && length && text[length - 1] <= ' ') length--;
    for (size_t i = 0; i < archive->records.length; i++) {
      Str name = archive->records.data[i].name;
      files += str_starts_with(name, "code/") && str_ends_with(name, ".py");
      data += str_starts_with(name, "data/") || str_starts_with(name, "constants/");
    }
    printf("archive   version %.*s, %zu source files, %zu tensor records, %llu bytes\n", text ? (int)length : 1,
           text ? text : "?", files, data, (unsigned long long)source->size);
    for (size_t i = 0; i < archive->records.length; i++)
      if (str_starts_with(archive->records.data[i].name, "extra/"))
        printf("extra     " STR_FMT "\n", STR_ARG(archive->records.data[i].name));
    mem_free(text);
  }
  archive_free(archive);
  byte_source_release(source);
  status_free(status);
}

static void print_library(void *unused, const char *path) {
  (void)unused;
  printf("library   %s\n", path);
}

static int print_module(const char *path, const wick_module *module, bool all) {
  wick_error *error;
  Totals totals = {.module = module, .all = all};
  if (!is_source_file(path)) print_archive(path);
  operator_library_each(print_library, NULL);
  if (*wick_module_class_name(module)) printf("class     %s\n", wick_module_class_name(module));
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

static void print_tensor(void *argument, Str name, const Tensor *tensor) {
  Totals *totals = argument;
  printf("  tensor    %-40.*s %s[", (int)name.length, name.data, dtype_name((DType)tensor->dtype));
  for (int i = 0; i < tensor->ndim; i++) printf("%s%lld", i ? ", " : "", (long long)tensor->sizes[i]);
  puts("]");
  totals->buffers++;
  totals->elements += tensor->numel;
  totals->bytes += tensor->numel * (long long)dtype_size((DType)tensor->dtype);
}
static void print_contents(const char *path, const FileKind *kind, IValue value, const wick_error *error) {
  StrBuf text = {0};
  Totals totals = {0};
  if (kind->use == FILE_PROGRAM) {
    print_archive(path);
    printf("does not load: %s\n", wick_error_message(error));
  } else {
    file_describe_value(value, &text);
    printf("file      %s: " STR_FMT "\n", kind->name, STR_ARG(strbuf_view(&text)));
  }
  Status status = file_each_tensor(value, print_tensor, &totals);
  printf("total     %zu tensors, %lld elements, %lld bytes\n", totals.buffers, totals.elements, totals.bytes);
  if (status) complain(path, "%s", status->message);
  if (kind->use != FILE_PROGRAM)
    printf("next      %s\n", kind->use == FILE_PICKLE ? file_weights_advice : kind->advice);
  status_free(status);
  strbuf_dispose(&text);
}
/* Why it is no program, and what tensors it has; false: nothing was found to print. */
static bool info_of_file(const char *path, bool read, const wick_error *error) {
  ByteSource *source = NULL;
  const FileKind *kind = NULL;
  IValue value;
  Status status = byte_source_open(path, !read, &source);
  if (!status) status = file_kind_find(source, &kind);
  bool done = !status && kind && kind->use != FILE_OTHER;
  if (done) status = file_inspect(source, kind, &value);
  done = done && !status;
  if (done) {
    print_contents(path, kind, value, error);
    ivalue_release(value);
  }
  status_free(status);
  byte_source_release(source);
  return done;
}

static int run(const Command *command, int count, char **words) {
  bool all = false;
  ModelOptions model = {0};
  const Option options[] = {
      {"--all", OPTION_FLAG, &all, "  plain attributes with their values too"},
      MODEL_OPTIONS(model),
      {0},
  };
  int result;
  if (!options_parse(command, options, &count, words, 1, &result)) return result;
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

const Command command_info = {"info", "MODEL", "what is in the archive", run};
