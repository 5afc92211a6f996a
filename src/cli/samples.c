/* Inputs that a program of torch.export keeps in its file: those that it was exported with. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "wick/archive.h"
#include "wick/tensor.h"

#define FOLDER "data/sample_inputs/"
#define SUFFIX ".pt"
#define OLDER_RECORD "serialized_example_inputs.pt"

/* The program's name in a record's; its length, 0: it holds no samples. */
static size_t program_of(const char *record, const char **out) {
  size_t length = strlen(record), before = strlen(FOLDER), after = strlen(SUFFIX);
  *out = "model";
  if (!strcmp(record, OLDER_RECORD)) return strlen(*out);
  if (length <= before + after || strncmp(record, FOLDER, before) || strcmp(record + length - after, SUFFIX)) return 0;
  *out = record + before;
  return length - before - after;
}
/* Whether that method runs the program: the name with underscores for what can't stand in one (docs/pt2.md). */
static bool is_method_of(const char *method, const char *program, size_t length) {
  if (*method == '_' && strlen(method) == length + 1) method++;
  if (strlen(method) != length) return false;
  for (size_t i = 0; i < length; i++)
    if (method[i] != (isalnum((unsigned char)program[i]) ? program[i] : '_')) return false;
  return true;
}
/* The record of that method's samples, NULL: there is none. Without a method it is of what runs then: the program
 * called model, or else the first. */
static const char *find_record(const wick_archive *archive, const char *method) {
  const char *program, *first = NULL;
  size_t programs = 0;
  bool is_forward = !method || !strcmp(method, "forward");
  for (size_t i = 0; i < wick_archive_count(archive); i++) {
    const char *record = wick_archive_name(archive, i);
    size_t length = program_of(record, &program);
    if (!length) continue;
    if (!programs++) first = record;
    if (is_method_of(is_forward ? "model" : method, program, length)) return record;
  }
  return !method || (is_forward && programs == 1) ? first : NULL;
}

static wick_status read_record(wick_archive *archive, const char *record, wick_value **out, wick_error **error) {
  char *bytes;
  size_t length;
  wick_status status = wick_archive_read(archive, record, &bytes, &length, error);
  if (status) return status;
  status = wick_load_value_memory(NULL, bytes, length, &VALUE_OPTIONS, out, error);
  wick_text_free(bytes);
  return status;
}

/* (positional, named) as inputs; false: it is something else, or there is no memory. */
static bool take_apart(const wick_value *samples, Inputs *inputs) {
  if (wick_value_kind(samples) != WICK_TUPLE || wick_value_length(samples) != 2) return false;
  wick_value *positional = wick_value_item(samples, 0), *named = wick_value_item(samples, 1);
  bool fine = positional && named && wick_value_kind(positional) == WICK_TUPLE && wick_value_kind(named) == WICK_DICT;
  size_t first = fine ? wick_value_length(positional) : 0, second = fine ? wick_value_length(named) : 0;
  inputs->values = fine ? calloc(first + second + 1, sizeof *inputs->values) : NULL;
  inputs->names = fine ? calloc(second + 1, sizeof *inputs->names) : NULL;
  fine = inputs->values && inputs->names;
  for (size_t i = 0; fine && i < first; i++)
    fine = (inputs->values[inputs->count++] = wick_value_item(positional, i)) != NULL;
  for (size_t i = 0; fine && i < second; i++) {
    wick_value *key = wick_value_key(named, i);
    const char *name = key && wick_value_kind(key) == WICK_STRING ? wick_value_to_string(key, NULL) : NULL;
    fine = name && (inputs->names[i] = strdup(name)) != NULL;
    if (fine) inputs->named_count++;
    fine = fine && (inputs->values[inputs->count++] = wick_value_item(named, i)) != NULL;
    wick_value_release(key);
  }
  wick_value_release(positional);
  wick_value_release(named);
  return fine;
}

static bool samples_read(Inputs *inputs, const char *path, const char *method) {
  wick_archive *archive = NULL;
  wick_error *error = NULL;
  wick_value *samples = NULL;
  *inputs = (Inputs){0};
  if (is_source_file(path) || wick_archive_open(path, &ARCHIVE_OPTIONS, &archive, &error)) {
    if (error)
      complain_error(path, error);
    else
      complain(path, "`samples` is for programs of torch.export (.pt2)");
    return false;
  }
  const char *record = find_record(archive, method);
  bool fine = record && !read_record(archive, record, &samples, &error) && take_apart(samples, inputs);
  if (error)
    complain_error(path, error);
  else if (!record)
    complain(path, "the file holds no sample inputs%s%s", method ? " of " : "", method ? method : "");
  else if (!fine)
    complain(path, "%s holds no arguments", record);
  if (!fine) inputs_dispose(inputs);
  wick_value_release(samples);
  wick_archive_release(archive);
  return fine;
}

bool inputs_read_for(Inputs *inputs, const char *path, const char *method, int count, char **words) {
  bool are_samples = false;
  for (int i = 0; i < count; i++) are_samples = are_samples || !strcmp(words[i], "samples");
  if (!are_samples) return inputs_read(inputs, count, words);
  if (count == 1) return samples_read(inputs, path, method);
  complain(path, "`samples` stands for all inputs");
  return false;
}

void samples_suggest(const char *path, const char *method) {
  wick_archive *archive;
  if (is_source_file(path) || wick_archive_open(path, &ARCHIVE_OPTIONS, &archive, NULL)) return;
  if (find_record(archive, method)) complain(path, "the file holds sample inputs, which the word `samples` stands for");
  wick_archive_release(archive);
}

/* ---- what they are ---- */

typedef struct Walk {
  SampleVisit *visit;
  void *user;
} Walk;
/* Positional ones are "0.2.key", named ones "1.mask.0". */
static int visit_tensor(void *user, const char *name, const wick_value *tensor) {
  const Walk *walk = user;
  bool fits = (name[0] == '0' || name[0] == '1') && name[1] == '.';
  walk->visit(walk->user, fits ? name + 2 : name, tensor);
  return 0;
}
void samples_each(const char *path, SampleVisit *visit, void *user) {
  wick_archive *archive;
  Walk walk = {visit, user};
  if (is_source_file(path) || wick_archive_open(path, &ARCHIVE_OPTIONS, &archive, NULL)) return;
  for (size_t i = 0; i < wick_archive_count(archive); i++) {
    const char *record = wick_archive_name(archive, i), *program;
    wick_value *samples = NULL;
    if (!program_of(record, &program) || read_record(archive, record, &samples, NULL)) continue;
    visit(user, record, NULL);
    wick_value_each_tensor(samples, visit_tensor, &walk, NULL);
    wick_value_release(samples);
  }
  wick_archive_release(archive);
}
