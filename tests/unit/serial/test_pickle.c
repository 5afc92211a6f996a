/* Pickles as data: values, sharing, and what must be refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "serial/pickle/pickle.h"

static Status read_text(const char *data, size_t length, IValue *out) {
  static const PickleHost host;
  return pickle_read(data, length, &host, out, NULL);
}
#define READ(literal, out) read_text(literal, sizeof(literal) - 1, out)

static void expect_printed(const char *data, size_t length, const char *want) {
  IValue value;
  StrBuf text = {0};
  assert_null(read_text(data, length, &value));
  assert_null(ivalue_print(value, &text));
  assert_string_equal(text.data, want);
  strbuf_dispose(&text);
  ivalue_release(value);
}
#define PRINTED(literal, want) expect_printed(literal, sizeof(literal) - 1, want)

static void expect_error(const char *data, size_t length, const char *part) {
  IValue value;
  Status status = read_text(data, length, &value);
  assert_non_null(status);
  if (!strstr(status->message, part)) fail_msg("'%s' does not say '%s'", status->message, part);
  status_free(status);
}
#define REFUSED(literal, part) expect_error(literal, sizeof(literal) - 1, part)

static void test_values(void **state) {
  (void)state;
  PRINTED("\x80\x02K\x05.", "5");
  PRINTED("J\xff\xff\xff\xff.", "-1");
  PRINTED("\x8a\x02\x00\x80.", "-32768");
  PRINTED("G?\xf8\0\0\0\0\0\0.", "1.5");
  PRINTED("N.", "None");
  PRINTED("\x88.", "True");
  PRINTED("(K\x01K\x02t.", "(1, 2)");
  PRINTED(
      "](K\x01\x89"
      "e.",
      "[1, False]");
  PRINTED("I7\n.", "7");
}

static void test_typed_list(void **state) {
  (void)state;
  IValue value;
  assert_null(
      READ("ctorch.jit._pickle\nbuild_intlist\n](K\x01K\x02"
           "e\x85R.",
           &value));
  assert_int_equal(value.tag, TAG_LIST);
  assert_int_equal(value.list->kind, LIST_INTS);
  assert_int_equal(value.list->ints[1], 2);
  ivalue_release(value);
  REFUSED(
      "ctorch.jit._pickle\nbuild_intlist\n](K\x01N"
      "e\x85R.",
      "typed list");
}

static void test_shared(void **state) {
  (void)state;
  IValue value;
  assert_null(READ("]q\0h\0\x86.", &value));
  assert_ptr_equal(value.tuple->values[0].list, value.tuple->values[1].list);
  ivalue_release(value);
}

/* A list that holds itself would never be freed. */
static void test_cycles(void **state) {
  (void)state;
  REFUSED("]q\0h\0a.", "holds itself");
  REFUSED("]2a.", "holds itself");
  REFUSED(
      "]q\0h\0\x85"
      "a.",
      "holds itself");
  REFUSED("}q\0X\1\0\0\0xh\0s.", "holds itself");
  REFUSED("]q\0h\0aNq\0.", "holds itself");
  REFUSED("]q\0h\0ah", "ends early"); /* refused for another reason: the list must go all the same */
}

static void test_names(void **state) {
  (void)state;
  REFUSED("cos\nsystem\n(X\2\0\0\0lstR.", "os.system");
  REFUSED("cbuiltins\neval\n.", "builtins.eval");
  REFUSED("c__torch__\nNet\n.", "__torch__.Net");
  REFUSED("ctorch\nFloatStorage\n.", "no value");
  PRINTED("cbuiltins\ncomplex\nG?\xf0\0\0\0\0\0\0G\0\0\0\0\0\0\0\0\x86R.", "1.+0.j");
}

static void test_damage(void **state) {
  (void)state;
  REFUSED("", "ends early");
  REFUSED("K", "ends early");
  REFUSED(".", "stack");
  REFUSED("h\x05.", "memo");
  REFUSED("Nr\xff\xff\xff\x7f.", "memo index");
  REFUSED("t.", "mark");
  REFUSED("(a.", "stack");
  REFUSED("Na.", "no list");
  REFUSED("(K\1u.", "no dict");
  REFUSED("}(K\1u.", "has no value");
  REFUSED(
      "X\xff\xff\xff\x7f"
      "abc.",
      "ends early");
  REFUSED("NNR.", "can't be called");
  REFUSED("N)\x81.", "called");
  REFUSED("NNb.", "state");
  REFUSED("NQ.", "storage");
  REFUSED("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x01.", "64 bits");
  REFUSED("i", "opcode");
}

/* Depth costs no native stack, neither in reading nor in releasing. */
static void test_depth(void **state) {
  (void)state;
  enum { DEPTH = 300000 };
  char *data = malloc(DEPTH + 2);
  IValue value;
  data[0] = ')';
  memset(data + 1, '\x85', DEPTH);
  data[DEPTH + 1] = '.';
  assert_null(read_text(data, DEPTH + 2, &value));
  ivalue_release(value);
  free(data);
}

/* A long list that is copied again and again must not make more than the pickle's length allows. */
static void test_copies_are_bounded(void **state) {
  (void)state;
  enum { ITEMS = 100000, COPIES = 100000 };
  StrBuf text = {0};
  strbuf_puts(&text, "ctorch.jit._pickle\nbuild_intlist\n");
  strbuf_append(&text, "q\0](", 4);
  for (int i = 0; i < ITEMS; i++) strbuf_append(&text, "K\1", 2);
  strbuf_append(&text, "eq\1", 3);
  for (int i = 0; i < COPIES; i++) strbuf_append(&text, "h\0h\1\x85R0", 7);
  strbuf_char(&text, '.');
  expect_error(text.data, text.length, "grow beyond");
  strbuf_dispose(&text);
}

static void test_restore_type(void **state) {
  (void)state;
  IValue value;
  assert_null(READ("](K\1K\2eK\5\x86.", &value));
  const Type *list = type_list_of(TYPE_INT);
  IValue items = ivalue_retain(value.tuple->values[0]);
  assert_null(ivalue_restore_type(&items, list, "x"));
  assert_int_equal(items.list->kind, LIST_INTS);
  assert_int_equal(items.list->ints[1], 2);
  Status status = ivalue_restore_type(&value, list, "x");
  assert_non_null(status);
  status_free(status);
  ivalue_release(items);
  ivalue_release(value);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),       cmocka_unit_test(test_typed_list),
      cmocka_unit_test(test_shared),       cmocka_unit_test(test_cycles),
      cmocka_unit_test(test_names),        cmocka_unit_test(test_damage),
      cmocka_unit_test(test_depth),        cmocka_unit_test(test_copies_are_bounded),
      cmocka_unit_test(test_restore_type),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
