/* Inputs on the command line: values, files, keywords. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/literal.h"
#include "cli/media.h"
#include "wick/tensor.h"

enum { MAX_NAMED = 1 << 10 };
/* Positional values, and those with names, which come after them. */
typedef struct Gathered {
  Items positional, named;
  char *names[MAX_NAMED];
} Gathered;

/* ---- files ---- */

static wick_status read_tensors(const char *path, wick_value **out, wick_error **error) {
  return wick_load_value(NULL, path, &VALUE_OPTIONS, out, error);
}
static wick_status read_sound(const char *path, wick_value **out, wick_error **error) {
  int64_t rate;
  return sound_read(path, out, &rate, error);
}
static const struct FileKind {
  const char *suffix;
  wick_status (*read)(const char *path, wick_value **out, wick_error **error);
} file_kinds[] = {
    {".npy", read_tensors},         {".npz", read_tensors}, {".pt", read_tensors}, {".pth", read_tensors},
    {".safetensors", read_tensors}, {".png", image_read},   {".jpg", image_read},  {".jpeg", image_read},
    {".ppm", image_read},           {".pgm", image_read},   {".wav", read_sound},  {".flac", read_sound},
    {".ogg", read_sound},           {".csv", table_read},   {".tsv", table_read},  {".json", json_read},
};
enum { KIND_COUNT = sizeof file_kinds / sizeof *file_kinds };
static const struct FileKind *kind_of(const char *path) {
  size_t length = strlen(path);
  for (size_t i = 0; i < KIND_COUNT; i++) {
    size_t suffix = strlen(file_kinds[i].suffix);
    if (length > suffix && !strcasecmp(path + length - suffix, file_kinds[i].suffix)) return &file_kinds[i];
  }
  return NULL;
}

bool input_file_read(const char *path, wick_value **out) {
  const struct FileKind *kind = kind_of(path);
  wick_error *error = NULL;
  if (complain_missing_file(path)) return false;
  if (!kind) {
    char known[300] = "";
    for (size_t i = 0, at = 0; i < KIND_COUNT; i++)
      at += (size_t)snprintf(known + at, sizeof known - at, " %s", file_kinds[i].suffix);
    complain(path, "no kind of file that can be an input (%s)", known + 1);
    return false;
  }
  if (!kind->read(path, out, &error)) return true;
  complain_error(path, error);
  return false;
}

wick_value *input_floats_read(FILE *from, size_t most) {
  size_t capacity = most < 4096 ? most : 4096, count = 0, got;
  float *numbers = malloc(capacity * sizeof *numbers + 1);
  while (numbers && count < most && (got = fread(numbers + count, sizeof *numbers, capacity - count, from)) > 0) {
    count += got;
    if (count < capacity || count == most) continue;
    capacity = capacity > most / 2 ? most : 2 * capacity;
    float *more = realloc(numbers, capacity * sizeof *numbers);
    if (!more) free(numbers);
    numbers = more;
  }
  int64_t size = (int64_t)count;
  wick_value *tensor = NULL;
  wick_error *error = NULL;
  if (!numbers || ferror(from)) {
    complain("-", "%s", numbers ? strerror(errno) : "out of memory");
  } else if (wick_tensor_new(WICK_FLOAT32, 1, &size, &tensor, &error) ||
             wick_tensor_copy_from(tensor, numbers, count * sizeof *numbers, &error)) {
    complain_error("-", error);
    wick_value_release(tensor);
    tensor = NULL;
  }
  free(numbers);
  return tensor;
}

/* ---- words ---- */

static bool add(Items *items, wick_value *value) {
  if (items_push(items, value)) return true;
  complain(NULL, "too many inputs");
  return false;
}
static bool add_named(Gathered *g, const char *name, size_t length, wick_value *value) {
  for (size_t i = 0; i < g->named.count; i++)
    if (strlen(g->names[i]) == length && !memcmp(g->names[i], name, length)) {
      complain(NULL, "the input %s stands there twice", g->names[i]);
      wick_value_release(value);
      return false;
    }
  if (g->named.count == MAX_NAMED) {
    complain(NULL, "too many inputs");
    wick_value_release(value);
    return false;
  }
  char *copy = strndup(name, length);
  size_t at = g->named.count;
  if (!copy) wick_value_release(value);
  if (!copy || !add(&g->named, value)) return free(copy), false;
  g->names[at] = copy;
  return true;
}

/* What was meant by a word that is no input, as it could have been typed. */
static void complain_of_word(const char *word, const char *problem) {
  bool is_text = !*word || ((isalpha((unsigned char)*word) || *word == '_') && !strchr(word, '(')), is_open = false;
  for (const char *at = word; *at && !is_open; at++) is_open = *at == '"' || *at == '\'' || *at == '\n';
  if (!*word)
    complain(NULL, "'' is no input; an empty text is '\"\"', an empty list []");
  else if (is_text && !is_open)
    complain(NULL, "'%s' is no input: %s; a text stands between quotes of its own: '\"%s\"' (`wick help inputs`)", word,
             problem, word);
  else
    complain(NULL, "'%s' is no input: %s (`wick help inputs` tells what can be)", word, problem);
}
/* A file, or what a literal means. */
static bool read_word(const char *word, wick_value **out) {
  Reader reader;
  *out = NULL;
  if (!strcmp(word, "-")) return (*out = input_floats_read(stdin, SIZE_MAX / sizeof(float) / 4)) != NULL;
  if (kind_of(word) && !strchr(word, '(')) return input_file_read(word, out);
  if ((*out = literal_read(&reader, word))) return true;
  if (!access(word, F_OK)) return input_file_read(word, out);
  complain_of_word(word, reader.problem);
  return false;
}
/* The length of the name in `name=value`; 0: it is none. */
static size_t keyword_length(const char *word) {
  size_t length = 0;
  while (isalnum((unsigned char)word[length]) || word[length] == '_') length++;
  return length && !isdigit((unsigned char)*word) && word[length] == '=' && word[length + 1] != '=' ? length : 0;
}
/* **inputs.npz: each of its entries by name. */
static bool add_entries(Gathered *g, const char *path) {
  wick_value *dict;
  if (!input_file_read(path, &dict)) return false;
  bool fine = wick_value_kind(dict) == WICK_DICT;
  if (!fine) complain(path, "holds no values by name");
  for (size_t i = 0; fine && i < wick_value_length(dict); i++) {
    wick_value *key = wick_value_key(dict, i);
    size_t length;
    const char *name = wick_value_to_string(key, &length);
    fine = wick_value_kind(key) == WICK_STRING;
    if (fine)
      fine = add_named(g, name, length, wick_value_item(dict, i));
    else
      complain(path, "holds values by something else than names");
    wick_value_release(key);
  }
  wick_value_release(dict);
  return fine;
}
/* A tuple from a file of tensors is all arguments. */
static bool add_positional(Gathered *g, const char *word, wick_value *value) {
  if (wick_value_kind(value) != WICK_TUPLE || !kind_of(word)) return add(&g->positional, value);
  bool fine = true;
  for (size_t i = 0; fine && i < wick_value_length(value); i++) fine = add(&g->positional, wick_value_item(value, i));
  wick_value_release(value);
  return fine;
}
static bool add_word(Gathered *g, const char *word) {
  wick_value *value;
  size_t length = keyword_length(word);
  if (!strncmp(word, "**", 2)) return add_entries(g, word + 2);
  if (!read_word(length ? word + length + 1 : word, &value)) return false;
  return length ? add_named(g, word, length, value) : add_positional(g, word, value);
}

bool inputs_read(Inputs *inputs, int count, char **words) {
  *inputs = (Inputs){0};
  Gathered *g = calloc(1, sizeof *g);
  bool fine = g != NULL;
  if (!fine) complain(NULL, "out of memory");
  for (int i = 0; fine && i < count; i++) fine = add_word(g, words[i]);
  size_t named = g ? g->named.count : 0;
  inputs->names = fine ? calloc(named + 1, sizeof *inputs->names) : NULL;
  if (fine && !inputs->names) complain(NULL, "out of memory");
  fine = fine && inputs->names;
  for (size_t i = 0; fine && i < named; i++) fine = add(&g->positional, wick_value_retain(g->named.values[i]));
  if (fine) {
    assert(g->positional.count >= named);
    for (size_t i = 0; i < named; i++) inputs->names[i] = g->names[i];
    inputs->values = g->positional.values;
    inputs->count = g->positional.count;
    inputs->named_count = named;
  } else if (g) {
    for (size_t i = 0; i < named; i++) free(g->names[i]);
    items_dispose(&g->positional);
    free(inputs->names);
    *inputs = (Inputs){0};
  }
  if (g) items_dispose(&g->named);
  free(g);
  return fine;
}

void inputs_dispose(Inputs *inputs) {
  for (size_t i = 0; i < inputs->count; i++) wick_value_release(inputs->values[i]);
  for (size_t i = 0; i < inputs->named_count; i++) free((char *)inputs->names[i]);
  free(inputs->values);
  free(inputs->names);
  *inputs = (Inputs){0};
}
