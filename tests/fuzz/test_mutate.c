/* Mutates small archives and loads what comes out: whatever it is, it must end in a module or an error. Half of the
 * mutations change the file's bytes, half the content of one record, packed again with right checksums, so that pickles
 * and code are reached too. What loads is also called, within budgets. Seeded: WICK_MUTATIONS and WICK_SEED change the
 * number and the seed. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "serial/archive/archive.h"
#include "wick/wick.h"
#include "../zip_writer.h"

enum { DEFAULT_MUTATIONS = 20000, MAX_FILE = 32 << 10 };

static uint64_t random_state;
static uint64_t random_next(void) { /* splitmix64 */
  uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
static size_t random_below(size_t n) {
  return n ? (size_t)(random_next() % n) : 0;
}

/* Flips, changes, removes, inserts, doubles or cuts. */
static void mutate(Bytes *b) {
  static const unsigned char telling[] = {0,   1,   0x7f, 0x80, 0xff, '(',  '.', ']', '}', 'R',
                                          'b', 'h', 'q',  ')',  0x81, '\n', ' ', 'X', 'K', 'Q'};
  for (size_t changes = 1 + random_below(4); changes--;) {
    size_t at = random_below(b->length), n = 1 + random_below(8);
    if (!b->length) return;
    switch (random_below(7)) {
      case 0:
        b->data[at] ^= (unsigned char)(1u << random_below(8));
        break;
      case 1:
        b->data[at] = (unsigned char)random_next();
        break;
      case 2:
        b->data[at] = telling[random_below(sizeof telling)];
        break;
      case 3: /* remove */
        if (n > b->length - at) n = b->length - at;
        memmove(b->data + at, b->data + at + n, b->length - at - n);
        b->length -= n;
        break;
      case 4: { /* insert a copy of another piece */
        size_t from = random_below(b->length);
        unsigned char piece[8];
        if (n > b->length - from) n = b->length - from;
        memcpy(piece, b->data + from, n);
        put(b, piece, n);
        memmove(b->data + at + n, b->data + at, b->length - n - at);
        memcpy(b->data + at, piece, n);
        break;
      }
      case 5: /* copy a piece over another */
        if (n > b->length - at) n = b->length - at;
        memmove(b->data + at, b->data + random_below(b->length - n + 1), n);
        break;
      default:
        if (random_below(4) == 0) b->length = at;
    }
  }
}

/* The archive again, with one record mutated (not one of debug_pkl more often than its share). */
static Bytes mutate_record(const Bytes *original) {
  ByteSource *source;
  Archive *archive;
  Packed zip = {0};
  assert_null(byte_source_from_memory(original->data, original->length, &source));
  assert_null(archive_open(source, false, 0, &archive));
  size_t chosen = random_below(archive->records.length);
  for (size_t i = 0; i < archive->records.length; i++) {
    const ArchiveRecord *record = &archive->records.data[i];
    char *text;
    Bytes content = {0};
    assert_null(archive_read(archive, record, &text, &content.length));
    content.data = (unsigned char *)text;
    Bytes copy = {0};
    put(&copy, content.data, content.length);
    if (i == chosen) mutate(&copy);
    pack_record(&zip, record->name.data, record->name.length, &copy);
    free(copy.data);
    mem_free(text);
  }
  archive_free(archive);
  byte_source_release(source);
  pack_finish(&zip);
  return zip.file;
}

static size_t loaded, called;
static void load_value(const Bytes *file) {
  wick_value *value;
  wick_error *error;
  char *text;
  wick_load_options options = {.size = sizeof options, .max_bytes = 16 << 20};
  if (wick_load_value_memory(NULL, file->data, file->length, &options, &value, &error)) {
    assert_true(wick_error_message(error)[0] != 0);
    wick_error_free(error);
    return;
  }
  loaded++;
  if (!wick_value_print(value, &text, NULL)) wick_text_free(text);
  wick_value_release(value);
}

static void load_module(const Bytes *file) {
  wick_module *module;
  wick_error *error;
  wick_load_options options = {.size = sizeof options, .max_bytes = 16 << 20};
  if (wick_load_memory(NULL, file->data, file->length, &options, &module, &error)) {
    assert_true(wick_error_message(error)[0] != 0);
    assert_int_not_equal(wick_error_status(error), WICK_INTERNAL);
    wick_error_free(error);
    return;
  }
  loaded++;
  wick_run_options limits = {
      .size = sizeof limits, .threads = 1, .deadline_ns = 200000000, .max_steps = 2000, .max_bytes = 16 << 20};
  int64_t sizes[] = {2, 3}, narrow[] = {2};
  static float data[6];
  wick_value *arguments[2] = {NULL, NULL};
  wick_tensor_borrow(data, WICK_FLOAT32, 2, sizes, NULL, NULL, NULL, &arguments[0], NULL);
  wick_tensor_borrow(data, WICK_FLOAT32, 1, narrow, NULL, NULL, NULL, &arguments[1], NULL);
  for (size_t i = 0; i < 2 * wick_module_method_count(module); i++) {
    wick_value *result;
    const wick_value *const *argument = (const wick_value *const *)&arguments[i % 2];
    if (wick_run(module, wick_module_method_name(module, i / 2), argument, 1, NULL, 0, &limits, &result, &error)) {
      wick_error_free(error);
    } else {
      called++;
      wick_value_release(result);
    }
  }
  wick_value_release(arguments[0]);
  wick_value_release(arguments[1]);
  wick_module_release(module);
}

/* Mutates the files that end in `suffix` (but not in `but`), `count` times in all. */
static void run_mutations(const char *pattern, const char *but, long count, void (*load)(const Bytes *file)) {
  glob_t files;
  Bytes seeds[64] = {{0}};
  size_t seed_count = 0;
  loaded = called = 0;
  assert_int_equal(glob(pattern, 0, NULL, &files), 0);
  for (size_t i = 0; i < files.gl_pathc && seed_count < 64; i++) {
    FILE *file = but && strstr(files.gl_pathv[i], but) ? NULL : fopen(files.gl_pathv[i], "rb");
    if (!file) continue;
    unsigned char *buffer = malloc(MAX_FILE);
    size_t length = fread(buffer, 1, MAX_FILE, file);
    fclose(file);
    if (length < MAX_FILE) put(&seeds[seed_count++], buffer, length);
    free(buffer);
  }
  globfree(&files);
  assert_true(seed_count > 0);
  for (size_t i = 0; i < seed_count; i++) load(&seeds[i]);
  assert_int_equal(loaded, seed_count);
  for (long i = 0; i < count; i++) {
    const Bytes *seed = &seeds[(size_t)i % seed_count];
    Bytes mutated = {0};
    bool is_zip = seed->length > 2 && !memcmp(seed->data, "PK", 2);
    if (random_below(2) && is_zip) {
      mutated = mutate_record(seed);
    } else {
      put(&mutated, seed->data, seed->length);
      mutate(&mutated);
    }
    load(&mutated);
    free(mutated.data);
  }
  for (size_t i = 0; i < seed_count; i++) free(seeds[i].data);
  print_message("%ld mutations of %zu files: %zu still loaded, %zu calls returned\n", count, seed_count,
                loaded - seed_count, called);
}

static long mutation_count(void) {
  const char *count = getenv("WICK_MUTATIONS"), *seed = getenv("WICK_SEED");
  random_state = seed ? (uint64_t)atoll(seed) : 20220914;
  return count ? atol(count) : DEFAULT_MUTATIONS;
}
static void test_modules(void **state) {
  (void)state;
  run_mutations("program/*.pt", ".io.pt", mutation_count(), load_module);
}
static void test_values(void **state) {
  (void)state;
  run_mutations("program/*.io.pt", NULL, mutation_count() / 4, load_value);
}

/* Those that load without a map of devices. */
static void test_other_archives(void **state) {
  (void)state;
  run_mutations("archive/[!gn]*.pt", ".io.pt", mutation_count() / 4, load_module);
}
/* What loads and can be saved loads again. */
static char saved_path[] = "/tmp/wick_mutate_XXXXXX";
static void save_and_load(const Bytes *file) {
  wick_module *module, *again;
  wick_error *error;
  wick_load_options options = {.size = sizeof options, .max_bytes = 16 << 20};
  load_module(file);
  if (wick_load_memory(NULL, file->data, file->length, &options, &module, NULL)) return;
  if (!wick_module_save(NULL, module, saved_path, NULL, NULL)) {
    if (wick_load(NULL, saved_path, NULL, &again, &error))
      fail_msg("what was saved does not load: %s", wick_error_message(error));
    wick_module_release(again);
  }
  wick_module_release(module);
}
static void test_mobile(void **state) {
  (void)state;
  int file = mkstemp(saved_path);
  assert_true(file >= 0);
  close(file);
  run_mutations("mobile/*.pt", ".io.pt", mutation_count() / 4, save_and_load);
  unlink(saved_path);
}
/* Files of torch.save before zip. */
static void test_streams(void **state) {
  (void)state;
  run_mutations("program/legacy_*.io.pt", NULL, mutation_count() / 4, load_value);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modules), cmocka_unit_test(test_values),
                                     cmocka_unit_test(test_other_archives), cmocka_unit_test(test_mobile),
                                     cmocka_unit_test(test_streams)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
