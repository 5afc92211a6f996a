/* Bytecode as no program writes it, made from an archive of it: what only operators may touch stays out of reach, and
 * what is taken can be saved. */
#include "checks.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../fuzz/pickle_tree.h"
#include "../../zip_writer.h"
#include "serial/archive/archive.h"
#include "wick/wick.h"

/* What becomes of the bytecode's tree. */
typedef struct Edit {
  void (*edit)(Arena *arena, PickleTree *method); /* (name, code, schema) */
  Arena *arena;
  Bytes *content;
} Edit;

static void edit_content(void *argument) {
  Edit *e = argument;
  StrBuf out = {0};
  PickleTree *root = pickle_tree_read(e->arena, e->content->data, e->content->length);
  assert_non_null(root);
  e->edit(e->arena, root->items.data[1]);
  pickle_tree_write(root, &out);
  e->content->length = 0;
  put(e->content, out.data, out.length);
  strbuf_dispose(&out);
}

/* The archive with its bytecode edited. */
static Bytes edited(const char *path, void (*edit)(Arena *arena, PickleTree *method)) {
  ByteSource *source;
  Archive *archive;
  Packed zip = {0};
  check(byte_source_open(path, false, &source));
  check(archive_open(source, true, 0, &archive));
  for (size_t i = 0; i < archive->records.length; i++) {
    const ArchiveRecord *record = &archive->records.data[i];
    char *text, name[100];
    size_t length;
    Bytes content = {0};
    check(archive_read(archive, record, &text, &length));
    put(&content, text, length);
    mem_free(text);
    if (str_is(record->name, "bytecode.pkl")) {
      Arena arena;
      arena_init(&arena, NULL);
      check(arena_protect(&arena, edit_content, &(Edit){edit, &arena, &content}));
      arena_dispose(&arena);
    }
    int name_length = snprintf(name, sizeof name, "m/" STR_FMT, STR_ARG(record->name));
    pack_record(&zip, name, (size_t)name_length, &content);
    free(content.data);
  }
  archive_free(archive);
  byte_source_release(source);
  pack_finish(&zip);
  return zip.file;
}

static void check_refused(const char *path, void (*edit)(Arena *arena, PickleTree *method), const char *message) {
  wick_module *module;
  wick_error *error = NULL;
  Bytes file = edited(path, edit);
  assert_int_not_equal(wick_load_memory(NULL, file.data, file.length, NULL, &module, &error), WICK_OK);
  if (!strstr(wick_error_message(error), message)) print_error("%s\n", wick_error_message(error));
  assert_non_null(strstr(wick_error_message(error), message));
  wick_error_free(error);
  free(file.data);
}

static void check_runs(const char *path) {
  wick_module *module;
  wick_value *argument, *result;
  static float data[14];
  assert_int_equal(wick_load(NULL, path, NULL, &module, NULL), WICK_OK);
  assert_int_equal(wick_tensor_borrow(data, WICK_FLOAT32, 2, SIZES(2, 7), NULL, NULL, NULL, &argument, NULL), WICK_OK);
  assert_int_equal(wick_run(module, "forward", (const wick_value *const[]){argument}, 1, NULL, 0, NULL, &result, NULL),
                   WICK_OK);
  wick_value_release(result);
  wick_value_release(argument);
  wick_module_release(module);
}

static PickleTree *instruction(Arena *arena, const char *name, int64_t x, int64_t n) {
  PickleTree *row = pickle_tree_new(arena, PICKLE_TUPLE);
  pickle_tree_add(arena, row, pickle_tree_text(arena, str_from(name)));
  pickle_tree_add(arena, row, pickle_tree_int(arena, x));
  pickle_tree_add(arena, row, pickle_tree_int(arena, n));
  return row;
}

/* ---- objects that hold a value of C: constants 0 and 1 ---- */

static const char with_native_objects[] = "mobile/bytecode_optimized_mlp_relu.pt";
static int64_t slot;

/* After the arguments are stored: what stands in the slot of one object. */
static void get_slot(Arena *arena, PickleTree *method) {
  PickleTree *instructions = pickle_tree_row(method->items.data[1], "instructions");
  instructions->items.length = 1;
  pickle_tree_add(arena, instructions, instruction(arena, "LOADC", 0, 0));
  pickle_tree_add(arena, instructions, instruction(arena, "GET_ATTR", slot, 0));
  pickle_tree_add(arena, instructions, instruction(arena, "RET", 0, 0));
}
/* A tensor becomes what the slot of one object holds. */
static void set_slot(Arena *arena, PickleTree *method) {
  PickleTree *instructions = pickle_tree_row(method->items.data[1], "instructions");
  instructions->items.length = 1;
  pickle_tree_add(arena, instructions, instruction(arena, "LOADC", 0, 0));
  pickle_tree_add(arena, instructions, instruction(arena, "LOAD", 2, 0));
  pickle_tree_add(arena, instructions, instruction(arena, "SET_ATTR", slot, 0));
  pickle_tree_add(arena, instructions, instruction(arena, "LOAD", 2, 0));
  pickle_tree_add(arena, instructions, instruction(arena, "RET", 0, 0));
}

static void test_values_of_native_objects(void **state) {
  (void)state;
  for (slot = 0; slot < 4; slot++) {
    char message[40];
    snprintf(message, sizeof message, "has no attribute %d", (int)slot);
    check_refused(with_native_objects, get_slot, message);
    check_refused(with_native_objects, set_slot, message);
  }
  check_runs(with_native_objects); /* nothing of the process's classes has changed */
}

/* ---- schemas ---- */

static const char *argument_name;
static void rename_argument(Arena *arena, PickleTree *method) {
  PickleTree *arguments = pickle_tree_row(method->items.data[2], "arguments");
  PickleTree *pair = arguments->items.data[1]->items.data[0];
  assert_true(str_is(pair->items.data[0]->text, "name"));
  pair->items.data[1] = pickle_tree_text(arena, str_from(argument_name));
}

static void test_arguments_that_no_program_names(void **state) {
  (void)state;
  static const char *const names[] = {"", "a b", "1", "def", "x:"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    argument_name = names[i];
    check_refused(with_native_objects, rename_argument, "has an argument whose name is no identifier");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_values_of_native_objects),
                                     cmocka_unit_test(test_arguments_that_no_program_names)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
