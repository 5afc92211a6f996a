/* What lies in files: records, kinds, contents, the operators of programs. */
#include "wick/archive.h"

#include <assert.h>

#include "api/handles.h"
#include "base/output_file.h"
#include "ir/operator_use.h"
#include "serial/archive/archive.h"
#include "serial/archive/import.h"
#include "serial/archive/inflate.h"
#include "serial/archive/used_operators.h"
#include "serial/formats/file_kind.h"

struct wick_archive {
  ByteSource *source;
  Archive *archive;
  char **names; /* of its records, terminated; one block after the pointers */
};

/* Of the options, what concerns looking into a file. */
static Status open_file(const char *path, const wick_load_options *options, uint64_t *out_max_bytes, ByteSource **out) {
  wick_load_options o;
  *out = NULL;
  TRY(api_copy_options("wick_load_options", options, sizeof o, &o));
  if (o.mode > WICK_LOAD_MAP) return status_new(ERROR_INVALID_ARGUMENT, "wick_load_options: mode %u", o.mode);
  if (out_max_bytes) *out_max_bytes = o.max_bytes;
  return byte_source_open(path, o.mode == WICK_LOAD_MAP, out);
}

/* ---- records ---- */

static Status list_names(wick_archive *archive) {
  size_t count = archive->archive->records.length, bytes = count * sizeof *archive->names;
  const ArchiveRecord *records = archive->archive->records.data;
  for (size_t i = 0; i < count; i++) bytes += records[i].name.length + 1; /* less than the directory, which is there */
  archive->names = mem_calloc(1, bytes + 1);
  if (!archive->names) return status_out_of_memory();
  char *text = (char *)(archive->names + count);
  for (size_t i = 0; i < count; i++) {
    archive->names[i] = text;
    memcpy(text, records[i].name.data, records[i].name.length);
    text += records[i].name.length + 1;
  }
  return OK;
}

static Status archive_handle_open(const char *path, const wick_load_options *options, wick_archive *to) {
  uint64_t max_bytes;
  TRY(open_file(path, options, &max_bytes, &to->source));
  TRY(archive_open_program(to->source, max_bytes, &to->archive));
  return list_names(to);
}

wick_status wick_archive_open(const char *path, const wick_load_options *options, wick_archive **out,
                              wick_error **error) {
  API_OUT(out);
  API_NEED(path);
  wick_archive *archive = mem_calloc(1, sizeof *archive);
  if (!archive) return api_status(status_out_of_memory(), error);
  Status status = archive_handle_open(path, options, archive);
  if (status)
    wick_archive_release(archive);
  else
    *out = archive;
  return api_status(status, error);
}

void wick_archive_release(wick_archive *archive) {
  if (!archive) return;
  mem_free(archive->names);
  archive_free(archive->archive);
  byte_source_release(archive->source);
  mem_free(archive);
}

uint64_t wick_archive_bytes(const wick_archive *archive) {
  return archive ? archive->source->size : 0;
}
size_t wick_archive_count(const wick_archive *archive) {
  return archive ? archive->archive->records.length : 0;
}
const char *wick_archive_name(const wick_archive *archive, size_t index) {
  return index < wick_archive_count(archive) ? archive->names[index] : NULL;
}

wick_status wick_archive_read(wick_archive *archive, const char *name, char **out_data, size_t *out_length,
                              wick_error **error) {
  API_OUT(out_data);
  API_OUT(out_length);
  API_NEED(archive);
  API_NEED(name);
  const ArchiveRecord *record = archive_find(archive->archive, str_from(name));
  if (!record) return api_status(status_new(ERROR_NOT_FOUND, "the archive has no record '%s'", name), error);
  return api_status(archive_read(archive->archive, record, out_data, out_length), error);
}

static Status inflate_all(const void *data, size_t length, void *out, size_t room, size_t *out_length) {
  ByteSource *source;
  InflateEnd end = INFLATE_BAD;
  TRY(byte_source_from_memory(data, length, &source));
  Status status = inflate_record(source, 0, length, out, room, out_length, &end);
  byte_source_release(source);
  TRY(status);
  return end == INFLATE_WHOLE ? OK
         : end == INFLATE_FULL
             ? status_new(ERROR_DATA, "the data inflates to more than the %zu bytes that there is room for", room)
         : end == INFLATE_CUT ? status_new(ERROR_DATA, "the compressed data is cut short")
                              : status_new(ERROR_DATA, "the compressed data is damaged");
}
wick_status wick_inflate(const void *data, size_t length, void *out, size_t room, size_t *out_length,
                         wick_error **error) {
  API_OUT(out_length);
  API_NEED(data);
  API_NEED_BYTES(out, room);
  return api_status(inflate_all(data, length, out, room, out_length), error);
}
uint32_t wick_checksum(const void *data, size_t length) {
  return data ? checksum(data, length) : 0;
}

/* ---- what a file is ---- */

/* ORDER file use */
_Static_assert((int)WICK_FILE_PROGRAM == FILE_PROGRAM + 1 && (int)WICK_FILE_PICKLE == FILE_PICKLE + 1 &&
                   (int)WICK_FILE_WEIGHTS == FILE_WEIGHTS + 1 && (int)WICK_FILE_ARRAYS == FILE_ARRAYS + 1 &&
                   (int)WICK_FILE_OTHER == FILE_OTHER + 1,
               "kinds of files are numbered alike");

static void tell_kind(const FileKind *kind, wick_file_kind *out) {
  const char *advice = kind && kind->use == FILE_PICKLE ? file_weights_advice : kind ? kind->advice : NULL;
  wick_file_kind told = {.size = out->size,
                         .use = kind ? (uint32_t)kind->use + 1 : WICK_FILE_UNKNOWN,
                         .name = kind ? kind->name : "",
                         .advice = advice ? advice : ""};
  memcpy(out, &told, out->size < sizeof told ? out->size : sizeof told);
}

wick_status wick_file_kind_of(const char *path, const wick_load_options *options, wick_file_kind *out,
                              wick_error **error) {
  ByteSource *source;
  const FileKind *kind = NULL;
  API_NEED(path);
  API_NEED(out);
  API_TRY(api_check_size("wick_file_kind", out->size));
  API_TRY(open_file(path, options, NULL, &source));
  Status status = file_kind_find(source, &kind);
  if (!status) tell_kind(kind, out);
  byte_source_release(source);
  return api_status(status, error);
}

static Status read_contents(ByteSource *source, wick_value **out) {
  const FileKind *kind;
  IValue value;
  TRY(file_kind_find(source, &kind));
  if (!kind) return status_new(ERROR_DATA, "no file of tensors");
  TRY(file_inspect(source, kind, &value));
  return value_box(value, out);
}

wick_status wick_file_contents(const char *path, const wick_load_options *options, wick_value **out,
                               wick_error **error) {
  ByteSource *source;
  API_OUT(out);
  API_NEED(path);
  API_TRY(open_file(path, options, NULL, &source));
  Status status = read_contents(source, out);
  byte_source_release(source);
  return api_status(status, error);
}

wick_status wick_value_describe(const wick_value *value, char **out_text, wick_error **error) {
  StrBuf text = {0};
  API_OUT(out_text);
  API_NEED(value);
  file_describe_value(value->value, &text);
  return api_status(strbuf_take(&text, out_text), error);
}

/* ---- writing ---- */

wick_status wick_file_write(const char *path, const void *data, size_t length, wick_error **error) {
  API_NEED(path);
  API_NEED(data);
  return api_status(output_file_save(path, (Str){data, length}), error);
}

/* ---- what calls back: once `ended`, the rest is passed over ---- */

enum { MAX_NAME = 4096 }; /* longer ones are cut */
static const char *terminated(Str name, char to[MAX_NAME]) {
  size_t length = name.length < MAX_NAME ? name.length : MAX_NAME - 1;
  if (length) memcpy(to, name.data, length);
  to[length] = 0;
  return to;
}

typedef struct TensorWalk {
  wick_tensor_visit *visit;
  void *user;
  bool ended;
  Status status;
} TensorWalk;

static void visit_tensor(void *argument, Str name, const Tensor *tensor) {
  TensorWalk *walk = argument;
  char text[MAX_NAME];
  wick_value *value;
  if (walk->ended) return;
  walk->status = value_box(ivalue_retain(ivalue_tensor((Tensor *)(uintptr_t)tensor)), &value);
  walk->ended = walk->status || walk->visit(walk->user, terminated(name, text), value);
  if (!walk->status) wick_value_release(value);
}

wick_status wick_value_each_tensor(const wick_value *value, wick_tensor_visit *visit, void *user, wick_error **error) {
  TensorWalk walk = {.visit = visit, .user = user};
  API_NEED(value);
  API_NEED(visit);
  Status status = file_each_tensor(value->value, visit_tensor, &walk);
  if (!status) return api_status(walk.status, error);
  status_free(walk.status);
  return api_status(status, error);
}

typedef struct OperatorWalk {
  wick_operator_visit *visit;
  void *user;
  bool ended;
} OperatorWalk;

static void visit_operator(void *argument, Str name, size_t calls, bool is_known) {
  OperatorWalk *walk = argument;
  char text[MAX_NAME];
  if (!walk->ended) walk->ended = walk->visit(walk->user, terminated(name, text), calls, is_known);
}
static void visit_known(void *argument, Str name, size_t calls) {
  visit_operator(argument, name, calls, true);
}

static Status walk_archive(const char *path, const char *allowed, const UsedOperatorVisits *visits) {
  Exec exec;
  ByteSource *source;
  api_exec_init(&exec, NULL);
  TRY(byte_source_open(path, true, &source));
  Status status = used_operators_of_archive(source, &exec, allowed, visits);
  byte_source_release(source);
  return status;
}

wick_status wick_archive_each_operator(const char *path, const char *allowed, wick_operator_visit *visit, void *user,
                                       wick_error **error) {
  OperatorWalk walk = {.visit = visit, .user = user};
  API_NEED(path);
  API_NEED(visit);
  return api_status(walk_archive(path, allowed, &(UsedOperatorVisits){visit_operator, NULL, &walk}), error);
}

wick_status wick_module_each_operator(const wick_module *module, wick_operator_visit *visit, void *user,
                                      wick_error **error) {
  OperatorWalk walk = {.visit = visit, .user = user};
  API_NEED(module);
  API_NEED(visit);
  return api_status(unit_each_operator(module->unit, visit_known, &walk), error);
}

typedef struct OverloadWalk {
  wick_overload_visit *visit;
  void *user;
  bool ended;
} OverloadWalk;

static void visit_overload(void *argument, const Operator *overload, size_t nodes) {
  OverloadWalk *walk = argument;
  if (!walk->ended) walk->ended = walk->visit(walk->user, (const wick_overload *)overload, NULL, nodes);
}
static void visit_unknown(void *argument, Str name, size_t calls, bool is_known) {
  OverloadWalk *walk = argument;
  char text[MAX_NAME];
  assert(!is_known);
  (void)is_known;
  if (!walk->ended) walk->ended = walk->visit(walk->user, NULL, terminated(name, text), calls);
}

wick_status wick_archive_each_overload(const char *path, const char *allowed, wick_overload_visit *visit, void *user,
                                       wick_error **error) {
  OverloadWalk walk = {.visit = visit, .user = user};
  API_NEED(path);
  API_NEED(visit);
  return api_status(walk_archive(path, allowed, &(UsedOperatorVisits){visit_unknown, visit_overload, &walk}), error);
}

wick_status wick_module_each_overload(const wick_module *module, wick_overload_visit *visit, void *user,
                                      wick_error **error) {
  OverloadWalk walk = {.visit = visit, .user = user};
  API_NEED(module);
  API_NEED(visit);
  unit_each_overload(module->unit, visit_overload, &walk);
  return WICK_OK;
}
