/* The table of kinds of files. Rows are tried in order; those of zip archives only where one was opened. */
#include "serial/formats/file_kind.h"

#include <assert.h>

#include "serial/archive/archive.h"
#include "serial/formats/safetensors.h"

enum { START_BYTES = 1024 };

/* ---- what magic bytes can't say ---- */

static bool is_zip(FileStart *file) {
  bool is;
  file->status = archive_is_zip(file->source, &is);
  return is;
}
static bool is_safetensors(FileStart *file) {
  bool is;
  file->status = safetensors_is(file->source, &is);
  return is;
}
/* false: the read failed, or one did before. */
static bool read_at(FileStart *file, uint64_t at, void *out, size_t length) {
  if (!file->status) file->status = byte_source_read(file->source, at, out, length);
  return !file->status;
}

/* The next field of a protocol buffer: its number, wire type and, of a field with a length, where its bytes lie. */
typedef struct Field {
  uint64_t number, type, value, begin;
} Field;
static bool read_varint(const unsigned char *bytes, size_t length, size_t *at, uint64_t *out) {
  assert(*at <= length);
  *out = 0;
  for (int shift = 0; shift < 64 && *at < length; shift += 7) {
    unsigned char byte = bytes[(*at)++];
    *out |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}
static bool next_field(FileStart *file, uint64_t *at, Field *out) {
  unsigned char bytes[20];
  uint64_t size = file->source->size, tag;
  if (*at >= size) return false;
  size_t length = size - *at < sizeof bytes ? (size_t)(size - *at) : sizeof bytes, used = 0;
  if (!read_at(file, *at, bytes, length)) return false;
  if (!read_varint(bytes, length, &used, &tag)) return false;
  out->number = tag >> 3;
  out->type = tag & 7;
  if ((out->type != 0 && out->type != 2) || !out->number || !read_varint(bytes, length, &used, &out->value))
    return false;
  out->begin = *at + used;
  if (out->type == 2 && out->value > size - out->begin) return false;
  *at = out->begin + (out->type == 2 ? out->value : 0);
  return true;
}

/* ModelProto: 1 the version of the IR, 7 the graph, 8 the operator sets. */
static bool is_onnx(FileStart *file) {
  uint64_t at = 0;
  Field field;
  bool graph = false, version = false;
  for (int i = 0; i < 64 && !(graph && version) && next_field(file, &at, &field); i++) {
    if (field.number > 25) return false;
    version = version || (field.number == 1 && field.type == 0 && field.value >= 1 && field.value < 100);
    graph = graph || (field.number == 7 && field.type == 2 && field.value > 2);
  }
  return graph && version;
}
/* SavedModel: 1 its version, 2 graphs with an account of themselves first. */
static bool is_saved_model(FileStart *file) {
  uint64_t at = 0;
  Field field, inner;
  if (!next_field(file, &at, &field) || field.number != 1 || field.type != 0 || field.value != 1) return false;
  if (!next_field(file, &at, &field) || field.number != 2 || field.type != 2) return false;
  at = field.begin;
  return next_field(file, &at, &inner) && inner.number == 1 && inner.type == 2;
}
/* GraphDef: nodes, each with a name and an operator's name. */
static bool is_graph_def(FileStart *file) {
  uint64_t at = 0;
  Field node, name, op;
  if (!next_field(file, &at, &node) || node.number != 1 || node.type != 2) return false;
  at = node.begin;
  if (!next_field(file, &at, &name) || name.number != 1 || name.type != 2 || !name.value) return false;
  if (!next_field(file, &at, &op) || op.number != 2 || op.type != 2 || !op.value || op.value > 100) return false;
  char first;
  return read_at(file, op.begin, &first, 1) && first >= 'A' && first <= 'Z';
}

static bool is_pickle(FileStart *file) {
  char last;
  if (file->length < 3 || file->bytes[0] != 0x80 || file->bytes[1] < 1 || file->bytes[1] > 5) return false;
  return read_at(file, file->source->size - 1, &last, 1) && last == '.';
}

static bool is_space(unsigned char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}
static Str text_of(const unsigned char *start, size_t length) {
  if (length >= 3 && !memcmp(start, "\xef\xbb\xbf", 3)) start += 3, length -= 3;
  while (length && is_space(*start)) start++, length--;
  return (Str){(const char *)start, length};
}
static bool is_html(FileStart *file) {
  static const char *const beginnings[] = {"<!doctype", "<html", "<head", "<body", "<?xml"};
  Str text = text_of(file->bytes, file->length);
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    size_t n = strlen(beginnings[i]), k = 0;
    while (k < n && k < text.length && (text.data[k] | (beginnings[i][k] >= 'a' ? 0x20 : 0)) == beginnings[i][k]) k++;
    if (k == n) return true;
  }
  return false;
}
static bool is_text(FileStart *file) {
  for (size_t i = 0; i < file->length; i++)
    if (file->bytes[i] < 32 && !is_space(file->bytes[i])) return false;
  return file->length > 0;
}
static bool is_json(FileStart *file) {
  Str text = text_of(file->bytes, file->length);
  return is_text(file) && text.length && (text.data[0] == '{' || text.data[0] == '[');
}
static bool is_empty(FileStart *file) {
  return file->source->size == 0;
}

/* ---- the table ---- */

#define SCRIPT                                                                                                      \
  "in PyTorch, with the model's code, torch.jit.script(model).save(\"model.pt\") (or torch.jit.trace with example " \
  "inputs) writes what wick loads"
#define FROM_PYTORCH "if the model comes from PyTorch: " SCRIPT
#define WEIGHTS "`wick run --weights` puts its tensors into a TorchScript archive of the model; " SCRIPT
#define DOWNLOAD "the download went wrong: get the file itself"
const char file_weights_advice[] = WEIGHTS;

#define MAGIC(text) .magic = text, .magic_length = sizeof text - 1

static const FileKind kinds[] = {
    {"an empty file", DOWNLOAD, FILE_OTHER, .is = is_empty},
    /* zip archives */
    {"a TorchScript archive", NULL, FILE_PROGRAM, .record = "constants.pkl"},
    {"a TorchScript archive", NULL, FILE_PROGRAM, .record = "bytecode.pkl"},
    {"a TorchScript archive", NULL, FILE_PROGRAM, .record = "model.json"},
    {"a program of torch.export", NULL, FILE_PROGRAM, .record = "serialized_exported_program.json"},
    {"a program of torch.export", NULL, FILE_PROGRAM, .record = "archive_format"},
    {"a program of torch.export", NULL, FILE_PROGRAM, .record = "models/*"},
    {"a torch.package", "torch.package.PackageImporter reads it; " SCRIPT, FILE_OTHER,
     .record = ".data/extern_modules"},
    {"a torch.package", "torch.package.PackageImporter reads it; " SCRIPT, FILE_OTHER, .record = "extern_modules"},
    {"a file of torch.save", NULL, FILE_PICKLE, .record = "data.pkl"},
    {"a Keras model", FROM_PYTORCH, FILE_OTHER, .record = "model.weights.h5"},
    {"a Core ML package", FROM_PYTORCH, FILE_OTHER, .record = "*.mlmodel"},
    {"arrays of NumPy (.npz)", "they can be inputs of `wick run`", FILE_ARRAYS, .record = "*.npy"},
    {"a zip archive", NULL, FILE_PROGRAM, .is = is_zip},
    /* other files of tensors */
    {"a file of torch.save", NULL, FILE_PICKLE, MAGIC("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e")},
    {"an array of NumPy (.npy)", "it can be an input of `wick run`", FILE_ARRAYS, MAGIC("\x93NUMPY")},
    {"a safetensors file: tensors without a program", file_weights_advice, FILE_WEIGHTS, .is = is_safetensors},
    {"a tar archive, as torch.save wrote before 2018 or of something else",
     "load it with PyTorch and save it again; " SCRIPT, FILE_OTHER, MAGIC("ustar"), .offset = 257},
    {"a Python pickle", SCRIPT, FILE_OTHER, .is = is_pickle},
    /* other programs */
    {"a PyTorch archive for phones in the flatbuffer format (.ptl)",
     "model._save_for_lite_interpreter(\"model.ptl\") without _use_flatbuffer=True, or model.save(\"model.pt\"), "
     "writes "
     "what wick loads",
     FILE_OTHER, MAGIC("PTMF"), .offset = 4},
    {"an ExecuTorch program (.pte)", SCRIPT, FILE_OTHER, MAGIC("ET1"), .offset = 4},
    {"a TensorFlow Lite model", FROM_PYTORCH, FILE_OTHER, MAGIC("TFL3"), .offset = 4},
    {"an ONNX Runtime model (.ort)", FROM_PYTORCH, FILE_OTHER, MAGIC("ORTM"), .offset = 4},
    {"a GGUF model (llama.cpp)", FROM_PYTORCH, FILE_OTHER, MAGIC("GGUF")},
    {"a GGML model (llama.cpp)", FROM_PYTORCH, FILE_OTHER, MAGIC("lmgg")},
    {"a GGML model (llama.cpp)", FROM_PYTORCH, FILE_OTHER, MAGIC("tjgg")},
    {"an HDF5 file, as Keras writes", FROM_PYTORCH, FILE_OTHER, MAGIC("\x89HDF\r\n\x1a\n")},
    {"LLVM bitcode", NULL, FILE_OTHER, MAGIC("BC\xc0\xde")},
    {"a shared library or a program", "`--library` opens libraries of operators", FILE_OTHER,
     MAGIC("\x7f"
           "ELF")},
    /* what often takes a model's place */
    {"a pointer of Git LFS in the place of a file", "`git lfs pull` fetches the file", FILE_OTHER,
     MAGIC("version https://git-lfs")},
    {"a web page", DOWNLOAD, FILE_OTHER, .is = is_html},
    {"gzip-compressed data", "gunzip or tar unpack it", FILE_OTHER, MAGIC("\x1f\x8b")},
    {"xz-compressed data", "xz or tar unpack it", FILE_OTHER,
     MAGIC("\xfd"
           "7zXZ")},
    {"zstd-compressed data", "zstd or tar unpack it", FILE_OTHER, MAGIC("\x28\xb5\x2f\xfd")},
    {"bzip2-compressed data", "bunzip2 or tar unpack it", FILE_OTHER, MAGIC("BZh")},
    {"a 7-Zip archive", "7z unpacks it", FILE_OTHER, MAGIC("7z\xbc\xaf\x27\x1c")},
    {"a RAR archive", "unrar unpacks it", FILE_OTHER, MAGIC("Rar!\x1a")},
    {"a PNG image", NULL, FILE_OTHER, MAGIC("\x89PNG")},
    {"a JPEG image", NULL, FILE_OTHER, MAGIC("\xff\xd8\xff")},
    {"a RIFF file (WAV, WebP, AVI)", NULL, FILE_OTHER, MAGIC("RIFF")},
    {"a PDF document", NULL, FILE_OTHER, MAGIC("%PDF")},
    /* formats without magic, from what is strict to what is not */
    {"an ONNX model", FROM_PYTORCH, FILE_OTHER, .is = is_onnx},
    {"a SavedModel of TensorFlow", FROM_PYTORCH, FILE_OTHER, .is = is_saved_model},
    {"a graph of TensorFlow", FROM_PYTORCH, FILE_OTHER, .is = is_graph_def},
    {"a JSON text", NULL, FILE_OTHER, .is = is_json},
    {"a text", "programs end in .py", FILE_OTHER, .is = is_text},
};

static bool record_fits(const char *pattern, Str name) {
  size_t length = strlen(pattern);
  if (pattern[0] == '*') return str_ends_with(name, pattern + 1);
  if (pattern[length - 1] != '*') return str_is(name, pattern);
  return name.length >= length && !memcmp(name.data, pattern, length - 1);
}
static bool has_record(const Archive *archive, const char *pattern) {
  for (size_t i = 0; i < archive->records.length; i++) {
    Str name = archive->records.data[i].name;
    ptrdiff_t slash = str_find_char(name, '/');
    if (record_fits(pattern, name) || record_fits(pattern, str_slice(name, (size_t)(slash + 1), name.length)))
      return true;
  }
  return false;
}

static bool kind_fits(const FileKind *kind, FileStart *file, const Archive *archive) {
  if (kind->record) return archive && has_record(archive, kind->record);
  if (kind->is) return kind->is(file);
  return file->length >= (size_t)kind->offset + kind->magic_length &&
         !memcmp(file->bytes + kind->offset, kind->magic, kind->magic_length);
}

Status file_kind_find(ByteSource *source, const FileKind **out) {
  unsigned char start[START_BYTES];
  size_t length = source->size < sizeof start ? (size_t)source->size : sizeof start;
  FileStart file = {.source = source, .bytes = start, .length = length};
  Archive *archive = NULL;
  bool zip;
  *out = NULL;
  if (length) TRY(byte_source_read(source, 0, start, length));
  TRY(archive_is_zip(source, &zip));
  if (zip) {
    Status status = archive_open(source, false, 0, &archive);
    if (status && status->code != ERROR_DATA && status->code != ERROR_UNSUPPORTED) return status;
    status_free(status); /* whoever reads it says what is wrong */
  }
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds && !*out && !file.status; i++)
    if (kind_fits(&kinds[i], &file, archive)) *out = &kinds[i];
  archive_free(archive);
  if (file.status) *out = NULL;
  return file.status;
}
