/* What ZipWriter writes is read back by the reader of archives; aligned, with zip64 fields where they are needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "serial/archive/archive.h"
#include "serial/archive/zip_writer.h"

static char path[] = "/tmp/wick_zip_writer_XXXXXX";

static int make_path(void **state) {
  (void)state;
  int file = mkstemp(path);
  if (file < 0) return 1;
  close(file);
  return 0;
}
static int remove_path(void **state) {
  (void)state;
  return unlink(path);
}

static Archive *open_path(void) {
  ByteSource *source;
  Archive *archive;
  assert_null(byte_source_open(path, false, &source));
  Status status = archive_open(source, true, 0, &archive);
  if (status) fail_msg("%s", status->message);
  byte_source_release(source);
  return archive;
}
static void expect_record(Archive *archive, const char *name, const char *data, size_t size) {
  const ArchiveRecord *record = archive_find(archive, str_from(name));
  char *text;
  size_t length;
  assert_non_null(record);
  Status status = archive_read(archive, record, &text, &length);
  if (status) fail_msg("%s: %s", name, status->message);
  assert_int_equal(length, size);
  assert_memory_equal(text, data, size);
  mem_free(text);
}

/* A long text, and data that must be aligned. */
static void write_and_read(uint32_t limit, uint16_t count_limit) {
  ZipWriter writer;
  char text[3000];
  for (size_t i = 0; i < sizeof text; i++) text[i] = "wick "[i % 5];
  assert_null(zip_writer_open(&writer, path, "archive"));
  writer.limit = limit;
  writer.count_limit = count_limit;
  assert_null(zip_writer_add(&writer, STR("data/0"), text, 777));
  assert_null(zip_writer_add_text(&writer, STR("code/a.py"), text, sizeof text));
  assert_null(zip_writer_add_text(&writer, STR("tiny"), "x", 1));
  assert_null(zip_writer_add(&writer, STR("data/1"), text, 99));
  assert_null(zip_writer_add(&writer, STR("none"), NULL, 0));
  assert_null(zip_writer_finish(&writer));
  zip_writer_dispose(&writer);

  Archive *archive = open_path();
  assert_int_equal(archive->records.length, 5);
  for (size_t i = 0; i < 5; i++) assert_int_equal(archive->records.data[i].data % 64, 0);
#ifdef WICK_HAVE_ZLIB
  assert_true(archive_find(archive, STR("code/a.py"))->stored < 100);
#endif
  expect_record(archive, "data/0", text, 777);
  expect_record(archive, "code/a.py", text, sizeof text);
  expect_record(archive, "tiny", "x", 1);
  expect_record(archive, "data/1", text, 99);
  expect_record(archive, "none", "", 0);
  archive_free(archive);
}

static void test_ordinary(void **state) {
  (void)state;
  write_and_read(UINT32_MAX, UINT16_MAX);
}
/* Each field goes to zip64 by itself: sizes of some records, offsets of some, all, the count alone. */
static void test_zip64_fields(void **state) {
  (void)state;
  static const uint32_t limits[] = {0, 1, 60, 99, 100, 700, 777, 778, 1024, 3000, 3001};
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) write_and_read(limits[i], UINT16_MAX);
  write_and_read(UINT32_MAX, 5);
}

static void test_many_records(void **state) {
  (void)state;
  enum { COUNT = 70000 };
  ZipWriter writer;
  assert_null(zip_writer_open(&writer, path, "m"));
  for (int i = 0; i < COUNT; i++) {
    char name[20];
    snprintf(name, sizeof name, "%d", i);
    assert_null(zip_writer_add(&writer, str_from(name), &i, sizeof i));
  }
  assert_null(zip_writer_finish(&writer));
  zip_writer_dispose(&writer);
  Archive *archive = open_path();
  assert_int_equal(archive->records.length, COUNT);
  int last = COUNT - 1;
  expect_record(archive, "69999", (const char *)&last, sizeof last);
  archive_free(archive);
}

static void test_unfinished_leaves_the_old_file(void **state) {
  (void)state;
  write_and_read(UINT32_MAX, UINT16_MAX);
  ZipWriter writer;
  assert_null(zip_writer_open(&writer, path, "m"));
  assert_null(zip_writer_add(&writer, STR("other"), "x", 1));
  zip_writer_dispose(&writer);
  Archive *archive = open_path();
  assert_int_equal(archive->records.length, 5);
  archive_free(archive);
}

static void test_names_that_are_too_long(void **state) {
  (void)state;
  ZipWriter writer;
  char *name = calloc(1, 70000);
  memset(name, 'n', 65000);
  assert_null(zip_writer_open(&writer, path, "m"));
  assert_null(zip_writer_add(&writer, str_from(name), "x", 1));
  memset(name, 'n', 69000);
  Status status = zip_writer_add(&writer, str_from(name), "x", 1);
  assert_non_null(status);
  status_free(status);
  zip_writer_dispose(&writer);
  free(name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ordinary),
      cmocka_unit_test(test_zip64_fields),
      cmocka_unit_test(test_many_records),
      cmocka_unit_test(test_unfinished_leaves_the_old_file),
      cmocka_unit_test(test_names_that_are_too_long),
  };
  return cmocka_run_group_tests(tests, make_path, remove_path);
}
