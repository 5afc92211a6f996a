/* Opening models: archives and sources. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"

bool is_source_file(const char *path) {
  size_t length = strlen(path);
  return length > 3 && !strcmp(path + length - 3, ".py");
}

static void print_aside(void *user, const char *text, size_t length) {
  (void)user;
  fwrite(text, 1, length, stderr);
}
bool model_print_aside(ModelOptions *options) {
  wick_runtime_options aside = {.size = sizeof aside, .print = print_aside};
  wick_error *error;
  if (!wick_runtime_new(&aside, &options->runtime, &error)) return true;
  complain_error(NULL, error);
  return false;
}

char *file_read(const char *path, size_t *out_length) {
  if (complain_missing_file(path)) return NULL;
  struct stat info;
  char *text = NULL;
  FILE *file = fopen(path, "rb");
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
static wick_module *open_archive(const char *path, const ModelOptions *options, wick_error **error) {
  wick_module *module = NULL;
  if (complain_missing_file(path)) return NULL;
  wick_load_options load = {.size = sizeof load,
                            .mode = options->read ? WICK_LOAD_READ : WICK_LOAD_MAP,
                            .device_map = options->device_map ? options->device_map : DEFAULT_DEVICE_MAP,
                            .deadline_ns = options->deadline_ns,
                            .torch_version = options->torch_version};
  bool as_written = options->keep_devices && !options->device_map;
  if (as_written) load.device_map = NULL;
  if (wick_load(options->runtime, path, &load, &module, error) && as_written) {
    wick_error_free(*error);
    load.device_map = DEFAULT_DEVICE_MAP;
    wick_load(options->runtime, path, &load, &module, error);
  }
  return module;
}
static wick_module *open_source(const char *path, const ModelOptions *options, wick_error **error) {
  size_t length;
  wick_module *module = NULL;
  Bindings *bindings = options->uses ? bindings_open(options) : NULL;
  char *text = options->uses && !bindings ? NULL : file_read(path, &length);
  wick_compile_options compile = {.size = sizeof compile,
                                  .file_name = path,
                                  .deadline_ns = options->deadline_ns,
                                  .device_map = options->device_map,
                                  .torch_version = options->torch_version,
                                  .resolve = bindings ? bindings_resolve : NULL,
                                  .user = bindings};
  if (text && wick_compile_with(options->runtime, text, length, &compile, &module, error) && strstr(text, "nn.Module)"))
    complain(path,
             "a .py holds functions and classes of TorchScript; a module of Python becomes an archive there: "
             "torch.jit.script(module).save(\"module.pt\")");
  free(text);
  bindings_free(bindings);
  return module;
}
wick_module *model_open(const char *path, const ModelOptions *options, wick_error **error) {
  *error = NULL;
  progress_begin("loading");
  wick_module *module = is_source_file(path) ? open_source(path, options, error) : open_archive(path, options, error);
  progress_end();
  if (module && options->device && wick_module_to_device(module, options->device, error)) {
    wick_module_release(module);
    return NULL;
  }
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

static const char *method_name(const void *module, size_t index) {
  return wick_module_method_name(module, index);
}
bool model_has_method(const char *path, const wick_module *module, const char *method) {
  char *schema = NULL;
  wick_error *error = NULL;
  bool has = !wick_module_schema(module, method, &schema, &error);
  wick_text_free(schema);
  if (has) return true;
  const char *meant = suggest(method, method_name, module);
  if (meant)
    complain(path, "%s. Did you mean '%s'?", wick_error_message(error), meant);
  else
    complain(path, "%s", wick_error_message(error));
  wick_error_free(error);
  return false;
}
