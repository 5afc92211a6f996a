/* What files are called that are no TorchScript archives, and that looking at any of them ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serial/formats/file_kind.h"
#include "wick/wick.h"
#include "../../zip_writer.h"

static void expect_message(const void *data, size_t length, const char *text) {
  wick_module *module;
  wick_error *error = NULL;
  if (!wick_load_memory(NULL, data, length, NULL, &module, &error)) fail_msg("'%s' was loaded", text);
  if (!strstr(wick_error_message(error), text)) fail_msg("'%s' expected in '%s'", text, wick_error_message(error));
  wick_error_free(error);
}

#define BYTES(text) text, sizeof text - 1
static const struct {
  const char *data;
  size_t length;
  const char *name;
} starts[] = {
    {BYTES(""), "an empty file"},
    {BYTES("GGUF\3\0\0\0\0\0\0\0"), "a GGUF model"},
    {BYTES("\x89HDF\r\n\x1a\n\0\0\0\0"), "an HDF5 file, as Keras writes"},
    {BYTES("\x1c\0\0\0TFL3\0\0\0\0"), "a TensorFlow Lite model"},
    {BYTES("\x1c\0\0\0PTMF\0\0\0\0"), "for phones in the flatbuffer format"},
    {BYTES("\x1c\0\0\0"
           "ET12\0\0\0\0"),
     "an ExecuTorch program"},
    {BYTES("\x1c\0\0\0ORTM\0\0\0\0"), "an ONNX Runtime model"},
    {BYTES("\x08\x07\x12\x07pytorch\x1a\x03"
           "1.3\x3a\x06\x0a\x04\x0a\x00\x12\x00\x42\x02\x10\x0d"),
     "an ONNX model"},
    {BYTES("\x08\x01\x12\x06\x0a\x02\x12\x00\x12\x00"), "a SavedModel of TensorFlow"},
    {BYTES("\x0a\x10\x0a\x01x\x12\x0bPlaceholder"), "a graph of TensorFlow"},
    {BYTES("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"), "a pointer of Git LFS"},
    {BYTES("\n <!DOCTYPE html>\n<html></html>"), "a web page"},
    {BYTES("<HTML><body>404"), "a web page"},
    {BYTES("{\"error\": \"not found\"}"), "a JSON text"},
    {BYTES("Not Found\n"), "a text"},
    {BYTES("\x1f\x8b\x08\0\0\0\0\0"), "gzip-compressed data"},
    {BYTES("\x89PNG\r\n\x1a\n"), "a PNG image"},
    {BYTES("\x7f"
           "ELF\2\1\1"),
     "a shared library"},
    {BYTES("\x80\x02}q\0."), "a Python pickle"},
    {BYTES("\x93NUMPY\1\0"), "an array of NumPy"},
    {BYTES("\x02\0\0\0\0\0\0\0{}"), "a safetensors file"},
};

static void test_starts(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
    expect_message(starts[i].data, starts[i].length, starts[i].name);
  expect_message("\xff\xfe\0\1\2\3", 6, "not an archive");
}

static void test_tar(void **state) {
  (void)state;
  char tar[1024] = "sys_info";
  memcpy(tar + 257, "ustar", 5);
  expect_message(tar, sizeof tar, "a tar archive");
}

static Bytes zip_of(const char *record) {
  Packed zip = {0};
  Bytes content = {0};
  put(&content, "{}", 2);
  pack_record(&zip, record, strlen(record), &content);
  free(content.data);
  pack_finish(&zip);
  return zip.file;
}
static void test_archives(void **state) {
  (void)state;
  static const char *const records[][2] = {
      {"m/serialized_exported_program.json", "no schema_version"},
      {"m/models/model.json", "no schema_version"},
      {"m/.data/extern_modules", "a torch.package"},
      {"model.weights.h5", "a Keras model"},
      {"arr_0.npy", "arrays of NumPy (.npz)"},
      {"m/readme.txt", "this is a zip archive that lacks"},
  };
  for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
    Bytes file = zip_of(records[i][0]);
    expect_message(file.data, file.length, records[i][1]);
    free(file.data);
  }
  Bytes cut = zip_of("m/data.pkl");
  expect_message(cut.data, cut.length - 10, "cut short");
  free(cut.data);
}

static void expect_file(const char *path, const char *text) {
  wick_module *module;
  wick_error *error = NULL;
  assert_int_equal(wick_load(NULL, path, NULL, &module, &error), WICK_DATA);
  if (!strstr(wick_error_message(error), text)) fail_msg("'%s' expected in '%s'", text, wick_error_message(error));
  wick_error_free(error);
}
/* What is not of the annotated type: saved, it could not be loaded. */
static void test_bytecode_of_another_type(void **state) {
  (void)state;
  expect_file("files/wrong_return.ptl", "a function gives Dict[str, Tensor] and says that it gives Dict[str, number]");
}
static void test_pickles(void **state) {
  (void)state;
  expect_file("files/state_dict.pt",
              "a file of torch.save, not a TorchScript archive; it holds a state dict of 7 tensors");
  expect_file("files/legacy.pth", "it holds a state dict of 7 tensors");
  expect_file("files/checkpoint.pt", "it holds a dict (of a checkpoint?) with 'epoch', 'model', 'optimizer'");
  expect_file("files/module.pt", "it holds a module of class __main__.Net, whose code is not in the file");
  expect_file("files/legacy_module.pth", "it holds a module of class __main__.Net");
  expect_file("files/package.pt", "a torch.package");
  expect_file("files/state_dict.pt", "torch.jit.script(model).save(\"model.pt\")");
}

static void count_tensor(void *argument, Str name, const Tensor *tensor) {
  (void)name, (void)tensor;
  *(size_t *)argument += 1;
}
/* What is found in the bytes; errors are fine. */
static size_t inspect(const void *data, size_t length) {
  ByteSource *source;
  const FileKind *kind = NULL;
  IValue value;
  size_t count = 0;
  assert_null(byte_source_from_memory(data, length, &source));
  Status status = file_kind_find(source, &kind);
  if (!status && kind && !(status = file_inspect(source, kind, &value))) {
    StrBuf text = {0};
    file_describe_value(value, &text);
    strbuf_dispose(&text);
    status_free(file_each_tensor(value, count_tensor, &count));
    ivalue_release(value);
  }
  status_free(status);
  byte_source_release(source);
  return count;
}

static const struct {
  const char *path;
  size_t tensors;
} files[] = {{"files/state_dict.pt", 7},       {"files/legacy.pth", 7},        {"files/checkpoint.pt", 11},
             {"files/module.pt", 7},           {"files/legacy_module.pth", 7}, {"program/legacy_kinds.io.pt", 41},
             {"files/missing_operator.pt", 2}, {"files/package.pt", 0},        {"archive/gpu.pt", 3}};

static void test_contents_and_mutations(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    FILE *file = fopen(files[i].path, "rb");
    assert_non_null(file);
    unsigned char *data = malloc(1 << 16), *copy = malloc(1 << 16);
    size_t length = fread(data, 1, 1 << 16, file);
    fclose(file);
    if (inspect(data, length) != files[i].tensors) fail_msg("%s: %zu tensors", files[i].path, inspect(data, length));
    for (int k = 0; k < 1000; k++) {
      memcpy(copy, data, length);
      for (int flips = k % 3; flips >= 0; flips--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        copy[(seed >> 33) % length] = (unsigned char)(seed >> 25);
      }
      (void)inspect(copy, k % 10 ? length : (size_t)(seed >> 33) % length);
    }
    free(copy);
    free(data);
  }
}

typedef struct Failing {
  const char *data;
  int reads; /* left; then they fail */
} Failing;
static int read_failing(void *user, uint64_t offset, void *to, size_t length) {
  Failing *f = user;
  if (f->reads-- <= 0) return -1;
  memcpy(to, f->data + offset, length);
  return 0;
}

/* A read that fails is an error and no "no": none of the kinds that come later is taken instead. */
static void test_reads_that_fail(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
    const FileKind *whole = NULL, *kind;
    int failed = 0;
    for (int reads = 100; reads >= 0; reads = reads == 100 ? 12 : reads - 1) {
      Failing failing = {starts[i].data, reads};
      ByteSource *source;
      assert_null(byte_source_from_callbacks(read_failing, NULL, &failing, starts[i].length, &source));
      Status status = file_kind_find(source, &kind);
      if (reads == 100) whole = kind;
      if (status ? kind != NULL : kind != whole) fail_msg("%s after %d reads: %s", starts[i].name, reads, kind->name);
      failed += status != OK;
      status_free(status);
      byte_source_release(source);
    }
    if (!failed && starts[i].length) fail_msg("%s needs no read", starts[i].name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads_that_fail),
      cmocka_unit_test(test_starts),
      cmocka_unit_test(test_tar),
      cmocka_unit_test(test_archives),
      cmocka_unit_test(test_pickles),
      cmocka_unit_test(test_bytecode_of_another_type),
      cmocka_unit_test(test_contents_and_mutations),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
