/* Zip directories: what is read, and everything that must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "serial/archive/archive.h"
#include "../../zip_writer.h"

static void add(Packed *zip, const char *name, const char *content) {
  Bytes bytes = {0};
  put(&bytes, content, strlen(content));
  pack_record(zip, name, strlen(name), &bytes);
  free(bytes.data);
}

/* Opens the bytes; NULL with *message (static) when refused. */
static Archive *open_bytes(const Bytes *file, bool one_folder, const char **message) {
  static char text[500];
  ByteSource *source;
  Archive *archive = NULL;
  assert_null(byte_source_from_memory(file->data, file->length, &source));
  Status status = archive_open(source, one_folder, 0, &archive);
  byte_source_release(source);
  if (status) {
    assert_true(status->code == ERROR_DATA || status->code == ERROR_UNSUPPORTED);
    snprintf(text, sizeof text, "%s", status->message);
    if (message) *message = text;
    status_free(status);
    return NULL;
  }
  return archive;
}
static void expect_refusal(const Bytes *file, const char *part) {
  const char *message = "";
  Archive *archive = open_bytes(file, true, &message);
  archive_free(archive);
  assert_null(archive);
  if (!strstr(message, part)) fail_msg("'%s' does not say '%s'", message, part);
}

static Bytes two_records(void) {
  Packed zip = {0};
  add(&zip, "m/version", "3\n");
  add(&zip, "m/data.pkl", "some content that is not short");
  pack_finish(&zip);
  return zip.file;
}

static void test_reads_records(void **state) {
  (void)state;
  Bytes file = two_records();
  Archive *archive = open_bytes(&file, true, NULL);
  assert_non_null(archive);
  assert_int_equal(archive->records.length, 2);
  assert_true(str_is(archive->folder, "m"));
  const ArchiveRecord *record = archive_find(archive, STR("data.pkl"));
  char *text;
  size_t length;
  assert_non_null(record);
  assert_null(archive_find(archive, STR("m/data.pkl")));
  assert_null(archive_read(archive, record, &text, &length));
  assert_string_equal(text, "some content that is not short");
  mem_free(text);
  Storage *storage;
  assert_null(archive_storage(archive, record, 4, &storage));
  assert_memory_equal(storage->data, "some", 4);
  storage_release(storage);
  Status status = archive_storage(archive, record, 1000, &storage);
  assert_non_null(status);
  status_free(status);
  archive_free(archive);
  free(file.data);
}

static void test_cut_anywhere(void **state) {
  (void)state;
  Bytes file = two_records();
  for (size_t length = 0; length < file.length; length++) {
    Bytes cut = {malloc(length + 1), length, length};
    memcpy(cut.data, file.data, length);
    assert_null(open_bytes(&cut, true, NULL));
    free(cut.data);
  }
  free(file.data);
}

static void test_checksum(void **state) {
  (void)state;
  Bytes file = two_records();
  unsigned char *at = memmem(file.data, file.length, "some content", 12);
  at[0] ^= 1;
  Archive *archive = open_bytes(&file, true, NULL);
  char *text;
  size_t length;
  Status status = archive_read(archive, archive_find(archive, STR("data.pkl")), &text, &length);
  assert_non_null(status);
  assert_non_null(strstr(status->message, "checksum"));
  status_free(status);
  archive_free(archive);
  free(file.data);
}

static void test_duplicates(void **state) {
  (void)state;
  Packed zip = {0};
  add(&zip, "m/a", "1");
  add(&zip, "m/a", "2");
  pack_finish(&zip);
  expect_refusal(&zip.file, "twice");
  free(zip.file.data);
}

static void test_folders(void **state) {
  (void)state;
  Packed zip = {0};
  add(&zip, "m/a", "1");
  add(&zip, "n/b", "2");
  pack_finish(&zip);
  expect_refusal(&zip.file, "outside the archive's folder");
  free(zip.file.data);
  Packed flat = {0};
  add(&flat, "a.npy", "1");
  pack_finish(&flat);
  expect_refusal(&flat.file, "stands in no folder");
  Archive *archive = open_bytes(&flat.file, false, NULL);
  assert_non_null(archive_find(archive, STR("a.npy")));
  archive_free(archive);
  free(flat.file.data);
}

/* Where the directory entry of a record begins. */
static unsigned char *entry_of(const Bytes *file, const char *name) {
  unsigned char *last = NULL, *at = file->data;
  while ((at = memmem(at, file->length - (size_t)(at - file->data), name, strlen(name)))) last = at++;
  return last - 46;
}

static void test_overlap(void **state) {
  (void)state;
  Bytes file = two_records();
  unsigned char *first = entry_of(&file, "m/version");
  first[20] = first[24] = 60; /* both sizes reach into the next record */
  expect_refusal(&file, "overlaps");
  free(file.data);
}

static void test_sizes_that_lie(void **state) {
  (void)state;
  Bytes file = two_records();
  unsigned char *entry = entry_of(&file, "m/data.pkl");
  entry[24] += 1;
  expect_refusal(&file, "two different sizes");
  entry[10] = 8; /* deflated, 2 GiB out of 30 bytes */
  entry[24] = 30;
  entry[27] = 0x7f;
  expect_refusal(&file, "can't inflate");
  entry[27] = 0;
  Archive *archive = open_bytes(&file, true, NULL);
  char *text;
  size_t length;
  Status status = archive_read(archive, archive_find(archive, STR("data.pkl")), &text, &length);
  assert_non_null(status);
  status_free(status);
  archive_free(archive);
  entry[10] = 99;
  expect_refusal(&file, "compressed in a way");
  entry[10] = 0;
  entry[8] = 1;
  expect_refusal(&file, "encrypted");
  free(file.data);
}

static void test_deflated(void **state) {
  (void)state;
  static unsigned char packed[] = {
      0xed, 0xc1, 0x31, 0x01, 0x00, 0x00, 0x00, 0xc2, 0xa0, 0xda, 0x8b,
      0x6f, 0x0a, 0x3f, 0xa0, 0x00, 0x00, 0x00, 0x00, 0x80, 0xb7, 0x01}; /* 5,000 times x, as zlib deflates them */
  char content[5000];
  memset(content, 'x', sizeof content);
  Bytes stored = {packed, sizeof packed, 0};
  Packed zip = {0};
  pack_record(&zip, "m/a", 3, &stored);
  uint32_t crc = checksum(content, sizeof content);
  pack_finish(&zip);
  unsigned char *entry = entry_of(&zip.file, "m/a");
  entry[10] = 8;
  for (int i = 0; i < 4; i++)
    entry[16 + i] = (unsigned char)(crc >> (8 * i)), entry[24 + i] = (unsigned char)(sizeof content >> (8 * i));
  Archive *archive = open_bytes(&zip.file, true, NULL);
  char *text;
  size_t length;
  assert_null(archive_read(archive, archive_find(archive, STR("a")), &text, &length));
  assert_int_equal(length, sizeof content);
  assert_memory_equal(text, content, length);
  mem_free(text);
  entry[24] -= 1; /* inflates to more than it says */
  archive_free(archive);
  archive = open_bytes(&zip.file, true, NULL);
  Status status = archive_read(archive, archive_find(archive, STR("a")), &text, &length);
  assert_non_null(strstr(status->message, "more than it says"));
  status_free(status);
  archive_free(archive);
  free(zip.file.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reads_records),  cmocka_unit_test(test_cut_anywhere), cmocka_unit_test(test_checksum),
      cmocka_unit_test(test_duplicates),     cmocka_unit_test(test_folders),      cmocka_unit_test(test_overlap),
      cmocka_unit_test(test_sizes_that_lie), cmocka_unit_test(test_deflated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
