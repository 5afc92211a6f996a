/* --use NAME=FILE: what free names of a source stand for. A program is the module itself, whose state lasts from call
 * to call; a source is a namespace of functions, `NAME.f`; any other input is the value that it holds. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "wick/archive.h"

typedef struct Binding {
  char *name;
  wick_module *module; /* or: */
  wick_value *value;   /* of an archive the module as an object; NULL: a source */
} Binding;
struct Bindings {
  Binding items[MAX_TEXTS];
  size_t count;
};

static bool has_suffix(const char *word, const char *suffix) {
  size_t n = strlen(word), m = strlen(suffix);
  return n > m && !strcmp(word + n - m, suffix);
}
/* A file named as a program's is, that holds one and no values. */
static bool is_program(const char *path) {
  static const char *const suffixes[] = {".pt", ".pth", ".ptl", ".pt2"};
  wick_file_kind kind = {.size = sizeof kind};
  size_t i = 0, count = sizeof suffixes / sizeof *suffixes;
  while (i < count && !has_suffix(path, suffixes[i])) i++;
  if (i == count) return false;
  return wick_file_kind_of(path, &ARCHIVE_OPTIONS, &kind, NULL) || kind.use == WICK_FILE_PROGRAM;
}
static bool open_binding(Binding *binding, const char *path, const ModelOptions *options) {
  if (!is_source_file(path) && !is_program(path)) return input_file_read(path, &binding->value);
  ModelOptions plain = *options;
  wick_error *error = NULL;
  plain.uses = NULL;
  binding->module = model_open(path, &plain, &error);
  if (error) complain_error(path, error);
  if (!binding->module || is_source_file(path)) return binding->module != NULL;
  binding->value = wick_module_object(binding->module);
  return binding->value != NULL && mode_set(path, binding->module, MODE_AS_SAVED);
}

Bindings *bindings_open(const ModelOptions *options) {
  Bindings *bindings = calloc(1, sizeof *bindings);
  if (!bindings) complain(NULL, "out of memory");
  for (size_t i = 0; bindings && i < options->uses->count; i++) {
    const char *word = options->uses->items[i];
    size_t length = 0;
    while (isalnum((unsigned char)word[length]) || word[length] == '_') length++;
    Binding *binding = &bindings->items[bindings->count++];
    bool fine = length && word[length] == '=' && word[length + 1] && !isdigit((unsigned char)*word);
    if (!fine)
      complain(NULL, "--use takes NAME=FILE, not '%s'", word);
    else if (!(binding->name = strndup(word, length)))
      complain(NULL, "out of memory");
    if (binding->name && open_binding(binding, word + length + 1, options)) continue;
    bindings_free(bindings);
    return NULL;
  }
  return bindings;
}
void bindings_free(Bindings *bindings) {
  for (size_t i = 0; bindings && i < bindings->count; i++) {
    free(bindings->items[i].name);
    wick_value_release(bindings->items[i].value);
    wick_module_release(bindings->items[i].module);
  }
  free(bindings);
}

static bool has_function(const wick_module *module, const char *name) {
  for (size_t i = 0; i < wick_module_method_count(module); i++)
    if (!strcmp(wick_module_method_name(module, i), name)) return true;
  return false;
}
wick_status bindings_resolve(void *user, const char *name, wick_name *out) {
  const Bindings *bindings = user;
  for (size_t i = 0; i < bindings->count; i++) {
    const Binding *binding = &bindings->items[i];
    size_t length = strlen(binding->name);
    bool is_it = !strcmp(name, binding->name);
    if (is_it && binding->value) {
      out->kind = WICK_NAME_VALUE;
      out->value = binding->value;
    } else if (is_it) {
      out->kind = WICK_NAME_NAMESPACE;
    } else if (!binding->value && !strncmp(name, binding->name, length) && name[length] == '.' &&
               has_function(binding->module, name + length + 1)) {
      out->kind = WICK_NAME_FUNCTION;
      out->module = binding->module;
      out->member = name + length + 1;
    } else {
      continue;
    }
    break;
  }
  return WICK_OK;
}
