/* What files of tensors hold, for messages and tables. Pickles are read as data; what is of a class that data has not
 * becomes a dict of what was pickled, so that the tensors of modules, optimizers and checkpoints can be listed. */
#include <stdio.h>

#include "base/stack.h"
#include "serial/archive/archive.h"
#include "serial/archive/storages.h"
#include "serial/formats/file_kind.h"
#include "serial/formats/safetensors.h"
#include "serial/pickle/pickle.h"
#include "serial/serial.h"

enum { MAX_DEPTH = 200, MAX_STEPS = 1 << 20, SHOWN_KEYS = 6, SHOWN_TEXT = 60 };

/* ---- reading ---- */

static Status inspect_archive(ByteSource *source, IValue *out) {
  Archive *archive;
  StorageTable table;
  DeviceMap anywhere = {.text = "*=cpu"};
  char *data = NULL;
  size_t length;
  TRY(archive_open(source, true, 0, &archive));
  storage_table_init(&table, archive, "data/", &anywhere);
  PickleHost host = {
      .context = &table, .device_map = &anywhere, .load_storage = storage_table_load, .keeps_foreign = true};
  const ArchiveRecord *record = archive_find(archive, STR("data.pkl"));
  Status status =
      record ? archive_read(archive, record, &data, &length) : status_new(ERROR_DATA, "the archive has no data.pkl");
  if (!status) status = pickle_read(data, length, &host, out, NULL);
  mem_free(data);
  storage_table_dispose(&table);
  archive_free(archive);
  return status;
}

Status file_inspect(ByteSource *source, const FileKind *kind, IValue *out) {
  LoadOptions options = {.device_map = "*=cpu", .keeps_foreign = true};
  *out = IVALUE_NONE;
  if (kind->use == FILE_OTHER) return status_new(ERROR_DATA, "no file of tensors");
  bool is_zip, is_safetensors;
  TRY(archive_is_zip(source, &is_zip));
  if (is_zip && kind->use != FILE_ARRAYS) return inspect_archive(source, out);
  if (kind->use == FILE_PICKLE) return value_import(source, &options, out);
  TRY(safetensors_is(source, &is_safetensors));
  return is_safetensors ? safetensors_read(source, out) : npy_load(source, out);
}

/* ---- looking at values ---- */

/* The value of a key, borrowed from the dict. */
static Status find_key(const Dict *dict, const char *name, IValue *out, bool *out_found) {
  IValue key;
  *out_found = false;
  TRY(ivalue_from_str(str_from(name), &key));
  Status status = dict_get(dict, key, out, out_found);
  if (*out_found) ivalue_release(*out); /* the dict holds it */
  ivalue_release(key);
  return status;
}
/* Of what stands for an object; its length is 0 for anything else. *state is borrowed. */
static Status foreign_class(IValue value, IValue *state, Str *out) {
  IValue name;
  bool found, has_state;
  *state = IVALUE_NONE;
  *out = STR("");
  if (value.tag != TAG_DICT) return OK;
  TRY(find_key(value.dict, PICKLE_FOREIGN_CLASS, &name, &found));
  if (!found) return OK;
  TRY(find_key(value.dict, PICKLE_FOREIGN_STATE, state, &has_state));
  if (!has_state) *state = IVALUE_NONE;
  if (name.tag == TAG_STRING) *out = ivalue_str(name);
  return OK;
}

static void describe_dict(const Dict *dict, StrBuf *out) {
  size_t tensors = 0, others = 0, shown = 0;
  for (size_t i = 0; i < dict->used; i++) {
    if (!dict->entries[i].live) continue;
    *(dict->entries[i].value.tag == TAG_TENSOR && dict->entries[i].key.tag == TAG_STRING ? &tensors : &others) += 1;
  }
  if (tensors && !others) {
    strbuf_printf(out, "a state dict of %zu tensors", tensors);
    return;
  }
  strbuf_puts(out, others ? "a dict (of a checkpoint?)" : "an empty dict");
  for (size_t i = 0; i < dict->used && shown < SHOWN_KEYS; i++) {
    if (!dict->entries[i].live || dict->entries[i].key.tag != TAG_STRING) continue;
    Str key = ivalue_str(dict->entries[i].key);
    strbuf_printf(out, "%s'" STR_FMT "'", shown++ ? ", " : " with ",
                  STR_ARG(str_slice(key, 0, key.length < SHOWN_TEXT ? key.length : SHOWN_TEXT)));
  }
  if (shown && tensors + others > shown) strbuf_puts(out, " and more");
}

void file_describe_value(IValue value, StrBuf *out) {
  IValue state, modules;
  Str class_name;
  bool is_module = false;
  Status status = foreign_class(value, &state, &class_name);
  if (!status && state.tag == TAG_DICT) status = find_key(state.dict, "_modules", &modules, &is_module);
  if (status) { /* short of memory, as the text is then */
    status_free(status);
    out->failed = true;
    return;
  }
  if (class_name.length) {
    strbuf_printf(out, "a %s of class " STR_FMT ", whose code is not in the file", is_module ? "module" : "value",
                  STR_ARG(str_slice(class_name, 0, class_name.length < 200 ? class_name.length : 200)));
    return;
  }
  switch (value.tag) {
    case TAG_DICT:
      describe_dict(value.dict, out);
      return;
    case TAG_TENSOR:
      strbuf_puts(out, "a tensor");
      return;
    case TAG_LIST:
      strbuf_printf(out, "a list of %zu", value.list->length);
      return;
    case TAG_TUPLE:
      strbuf_printf(out, "a tuple of %u", value.tuple->length);
      return;
    default:
      strbuf_puts(out, "no tensors");
  }
}

/* ---- tensors by name ---- */

typedef struct Walk {
  TensorVisit *visit;
  void *argument;
  StrBuf name;
  size_t steps;
} Walk;

static Status walk(Walk *w, IValue value, int depth);

/* Attributes of Python's modules and objects that hold what belongs to the object itself. */
static bool is_passage(Str key) {
  static const char *const passages[] = {PICKLE_FOREIGN_STATE, PICKLE_FOREIGN_ARGUMENTS, "_parameters", "_buffers",
                                         "_modules"};
  for (size_t i = 0; i < sizeof passages / sizeof *passages; i++)
    if (str_is(key, passages[i])) return true;
  return false;
}
static Status walk_named(Walk *w, Str name, IValue value, int depth) {
  size_t before = w->name.length;
  if (!is_passage(name)) {
    if (before) strbuf_char(&w->name, '.');
    strbuf_str(&w->name, name);
  }
  Status status = w->name.failed ? status_new(ERROR_DATA, "a tensor's name is too long") : walk(w, value, depth);
  w->name.length = before;
  return status;
}
static Status walk_numbered(Walk *w, const IValue *values, size_t count, int depth) {
  for (size_t i = 0; i < count; i++) {
    char number[24];
    snprintf(number, sizeof number, "%zu", i);
    TRY(walk_named(w, str_from(number), values[i], depth));
  }
  return OK;
}
static Status walk_dict(Walk *w, const Dict *dict, int depth) {
  for (size_t i = 0; i < dict->used; i++) {
    IValue key = dict->entries[i].key;
    char number[24] = "?";
    if (!dict->entries[i].live) continue;
    if (key.tag == TAG_INT) snprintf(number, sizeof number, "%lld", (long long)key.i);
    TRY(walk_named(w, key.tag == TAG_STRING ? ivalue_str(key) : str_from(number), dict->entries[i].value, depth));
  }
  return OK;
}
static Status walk(Walk *w, IValue value, int depth) {
  if (++w->steps > MAX_STEPS || depth > MAX_DEPTH || STACK_IS_LOW())
    return status_new(ERROR_DATA, "the file's values are too many or nested too deeply to list");
  switch (value.tag) {
    case TAG_TENSOR:
      if (tensor_is_defined(value.tensor)) w->visit(w->argument, strbuf_view(&w->name), value.tensor);
      return OK;
    case TAG_DICT:
      return walk_dict(w, value.dict, depth + 1);
    case TAG_LIST:
      return value.list->kind == LIST_VALUES ? walk_numbered(w, value.list->values, value.list->length, depth + 1) : OK;
    case TAG_TUPLE:
      return walk_numbered(w, value.tuple->values, value.tuple->length, depth + 1);
    default:
      return OK;
  }
}

Status file_each_tensor(IValue value, TensorVisit *visit, void *argument) {
  Walk w = {.visit = visit, .argument = argument, .name = {.max_length = 4000}};
  Status status = walk(&w, value, 0);
  strbuf_dispose(&w.name);
  return status;
}

/* ---- refusing ---- */

static Status refuse(ByteSource *source, const FileKind *kind, const char *wanted) {
  StrBuf text = {.max_length = 2000};
  strbuf_printf(&text, "this is %s, not %s", kind->name, wanted);
  const char *advice = kind->advice;
  if (kind->use == FILE_PICKLE) {
    IValue value;
    Status status = file_inspect(source, kind, &value);
    if (!status) {
      strbuf_puts(&text, "; it holds ");
      file_describe_value(value, &text);
      ivalue_release(value);
    } else {
      strbuf_printf(&text, " (and what it holds can't be read: %s)", status->message);
    }
    status_free(status);
    advice = file_weights_advice;
  }
  bool has_tensors = kind->use == FILE_PICKLE || kind->use == FILE_WEIGHTS;
  if (advice) strbuf_printf(&text, ". What to do: %s%s", has_tensors ? "`wick info` lists its tensors; " : "", advice);
  Status refusal = status_new(ERROR_DATA, STR_FMT, STR_ARG(strbuf_view(&text)));
  strbuf_dispose(&text);
  return refusal;
}

Status file_refuse(ByteSource *source, const char *wanted) {
  const FileKind *kind;
  TRY(file_kind_find(source, &kind));
  if (!kind) return status_new(ERROR_DATA, "not %s, and of no kind that wick knows by its first bytes", wanted);
  if (kind->use == FILE_PROGRAM && kind->record && strcmp(kind->name, wanted) != 0)
    return status_new(ERROR_DATA, "this is %s, not %s", kind->name, wanted);
  if (kind->use == FILE_PROGRAM)
    return status_new(ERROR_DATA, "this is %s that lacks what makes %s", kind->name, wanted);
  return refuse(source, kind, wanted);
}

Status file_explain(ByteSource *source, Status reason) {
  const FileKind *kind;
  if (reason->code != ERROR_DATA) return reason;
  Status status = file_kind_find(source, &kind);
  if (!status && (!kind || kind->use == FILE_PROGRAM)) return reason; /* damaged, as the reason says, or unknown */
  status_free(reason);
  return status ? status : refuse(source, kind, "a TorchScript archive");
}
