/* wick.h as a caller sees it: values, borrowed memory, DLPack, operators, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wick/wick.h"

static void test_values(void **state) {
  (void)state;
  wick_value *items[] = {wick_value_int(3), wick_value_int(4)}, *list, *key = wick_value_string("k", 1), *dict, *found;
  assert_int_equal(wick_value_list((const wick_value *const *)items, 2, &list, NULL), WICK_OK);
  assert_int_equal(wick_value_kind(list), WICK_LIST);
  assert_int_equal(wick_value_length(list), 2);
  wick_value *item = wick_value_item(list, 1);
  assert_int_equal(wick_value_to_int(item), 4);
  assert_null(wick_value_item(list, 2));
  assert_int_equal(wick_value_dict((const wick_value *const[]){key}, (const wick_value *const[]){list}, 1, &dict, NULL),
                   WICK_OK);
  found = wick_value_get_text(dict, "k");
  assert_int_equal(wick_value_length(found), 2);
  assert_null(wick_value_get_text(dict, "other"));
  char *text;
  assert_int_equal(wick_value_type(list, &text, NULL), WICK_OK);
  assert_string_equal(text, "List[int]");
  wick_text_free(text);
  wick_value_release(found);
  wick_value_release(dict);
  wick_value_release(item);
  wick_value_release(list);
  wick_value_release(key);
  wick_value_release(items[0]);
  wick_value_release(items[1]);
  wick_value_release(NULL);
}

static void count_drop(void *user) {
  ++*(int *)user;
}

static void test_borrowed_memory(void **state) {
  (void)state;
  float data[6] = {1, 2, 3, 4, 5, 6};
  int64_t sizes[] = {2, 3}, wide[] = {2, 3};
  int drops = 0;
  wick_value *tensor, *none;
  wick_error *error;
  assert_int_equal(wick_tensor_borrow(data, WICK_FLOAT32, 2, sizes, NULL, count_drop, &drops, &tensor, NULL), WICK_OK);
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(tensor, &view, NULL), WICK_OK);
  assert_ptr_equal(view.data, data);
  assert_int_equal(view.strides[0], 3);
  assert_int_equal(drops, 0);
  wick_value_release(tensor);
  assert_int_equal(drops, 1);
  /* on failure the caller keeps the memory */
  wide[0] = INT64_MAX;
  assert_int_not_equal(wick_tensor_borrow(data, WICK_FLOAT32, 2, wide, NULL, count_drop, &drops, &none, &error),
                       WICK_OK);
  wick_error_free(error);
  assert_null(none);
  assert_int_equal(
      wick_tensor_borrow((char *)data + 1, WICK_FLOAT32, 2, sizes, NULL, count_drop, &drops, &none, &error),
      WICK_INVALID_ARGUMENT);
  wick_error_free(error);
  assert_int_equal(wick_tensor_borrow(NULL, 77, 2, sizes, NULL, NULL, NULL, &none, NULL), WICK_INVALID_ARGUMENT);
  assert_int_equal(drops, 1);
}

static void test_dlpack_both_ways(void **state) {
  (void)state;
  float data[4] = {1, 2, 3, 4};
  int64_t sizes[] = {2, 2}, strides[] = {1, 2};
  int drops = 0;
  wick_value *tensor, *back;
  struct DLManagedTensor *managed;
  assert_int_equal(wick_tensor_borrow(data, WICK_FLOAT32, 2, sizes, strides, count_drop, &drops, &tensor, NULL),
                   WICK_OK);
  assert_int_equal(wick_tensor_to_dlpack(tensor, &managed, NULL), WICK_OK);
  assert_int_equal(wick_tensor_from_dlpack(managed, &back, NULL), WICK_OK);
  wick_value_release(tensor);
  assert_int_equal(drops, 0);
  wick_tensor_view view = {.size = sizeof view};
  assert_int_equal(wick_tensor_view_of(back, &view, NULL), WICK_OK);
  assert_ptr_equal(view.data, data);
  assert_int_equal(view.strides[1], 2);
  wick_value_release(back);
  assert_int_equal(drops, 1);
}

/* The layout of a managed tensor, as the standard has it. */
typedef struct Managed {
  void *data;
  int32_t device, device_id, ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
  void *manager;
  void (*deleter)(struct Managed *self);
} Managed;
static int deleted;
static void count_deleted(Managed *self) {
  (void)self;
  deleted++;
}

/* Whatever a capsule says, nothing of it is computed with before it is known to fit; and it is given back once. */
static void test_dlpack_that_lies(void **state) {
  (void)state;
  static float data[8];
  int64_t good[] = {2, 2}, negative[] = {2, -1}, huge[] = {INT64_MAX, 2}, least[] = {INT64_MIN, INT64_MIN},
          far[] = {INT64_MAX, 1}, none[] = {0, 2};
  const Managed fine = {data, 1, 0, 2, 2, 32, 1, good, NULL, 0, NULL, count_deleted};
  Managed lies[16];
  size_t count = 0;
#define LIE(...)                 \
  do {                           \
    Managed *m = &lies[count++]; \
    *m = fine;                   \
    __VA_ARGS__;                 \
  } while (0)
  LIE(m->byte_offset = (uint64_t)1 << 63);
  LIE(m->byte_offset = UINT64_MAX - 3);
  LIE(m->byte_offset = (uint64_t)1 << 63, m->data = NULL);
  LIE(m->byte_offset = 4, m->data = NULL);
  LIE(m->byte_offset = -(uint64_t)(uintptr_t)data - 8); /* so that the elements would go around the end */
  LIE(m->byte_offset = 1);
  LIE(m->data = NULL);
  LIE(m->ndim = -1);
  LIE(m->ndim = 1000);
  LIE(m->shape = negative);
  LIE(m->shape = huge);
  LIE(m->shape = least);
  LIE(m->shape = NULL);
  LIE(m->strides = negative);
  LIE(m->strides = far);
  LIE(m->strides = least);
  assert_true(count <= sizeof lies / sizeof *lies);
  for (size_t i = 0; i < count; i++) {
    wick_value *value;
    wick_error *error = NULL;
    deleted = 0;
    if (!wick_tensor_from_dlpack((struct DLManagedTensor *)&lies[i], &value, &error))
      fail_msg("lie %zu is believed", i);
    assert_true(*wick_error_message(error) != 0);
    wick_error_free(error);
    assert_null(value);
    assert_int_equal(deleted, 1);
  }
  Managed empty = fine;
  wick_value *value;
  empty.shape = none;
  empty.data = NULL;
  assert_int_equal(wick_tensor_from_dlpack((struct DLManagedTensor *)&empty, &value, NULL), WICK_OK);
  wick_value_release(value);
}

/* A dimension of fewer than two elements has the stride 1, as PyTorch exports it. */
static void test_dlpack_strides(void **state) {
  (void)state;
  static float data[10];
  const int64_t sizes[] = {1, 3}, strides[] = {7, 2};
  wick_value *tensor;
  struct DLManagedTensor *managed;
  assert_int_equal(wick_tensor_borrow(data, WICK_FLOAT32, 2, sizes, strides, NULL, NULL, &tensor, NULL), WICK_OK);
  assert_int_equal(wick_tensor_to_dlpack(tensor, &managed, NULL), WICK_OK);
  Managed *given = (Managed *)managed;
  assert_int_equal(given->strides[0], 1);
  assert_int_equal(given->strides[1], 2);
  given->deleter(given);
  wick_value_release(tensor);
}

static wick_status twice(void *user, wick_call *call, wick_error **error) {
  ++*(int *)user;
  wick_value *n = wick_call_argument(call, 0);
  int64_t i = wick_value_to_int(n);
  wick_value_release(n);
  if (i < 0) {
    *error = wick_error_new(WICK_INVALID_ARGUMENT, "negative");
    return WICK_INVALID_ARGUMENT;
  }
  wick_value *result = wick_value_int(2 * i);
  wick_call_set_result(call, 0, result);
  wick_value_release(result);
  return WICK_OK;
}

static void test_operators_from_outside(void **state) {
  (void)state;
  int calls = 0;
  wick_error *error;
  assert_int_equal(wick_op_register("test_api::twice(int n) -> int", twice, &calls, NULL), WICK_OK);
  assert_int_equal(wick_op_register("test_api::twice(int n) -> float", twice, &calls, &error), WICK_INVALID_ARGUMENT);
  wick_error_free(error);
  assert_int_not_equal(wick_op_register("test_api::broken(int", twice, &calls, &error), WICK_OK);
  wick_error_free(error);
  assert_true(wick_op_exists("test_api::twice"));
  wick_value *n = wick_value_int(21), *bad = wick_value_int(-1), *result;
  assert_int_equal(
      wick_op_call(NULL, "test_api::twice", NULL, (const wick_value *const[]){n}, 1, NULL, 0, &result, NULL), WICK_OK);
  assert_int_equal(wick_value_to_int(result), 42);
  wick_value_release(result);
  assert_int_equal(
      wick_op_call(NULL, "test_api::twice", NULL, (const wick_value *const[]){bad}, 1, NULL, 0, &result, &error),
      WICK_INVALID_ARGUMENT);
  assert_non_null(strstr(wick_error_message(error), "negative"));
  wick_error_free(error);
  assert_null(result);
  assert_int_not_equal(wick_op_call(NULL, "test_api::twise", NULL, NULL, 0, NULL, 0, &result, &error), WICK_OK);
  assert_non_null(strstr(wick_error_message(error), "twice")); /* the similar name */
  wick_error_free(error);
  wick_value_release(n);
  wick_value_release(bad);
  assert_int_equal(calls, 2);
}

static void test_options_are_checked(void **state) {
  (void)state;
  struct {
    wick_runtime_options known;
    uint64_t later;
  } options = {.known = {.size = sizeof options}, .later = 1};
  wick_runtime *runtime;
  wick_error *error;
  assert_int_equal(wick_runtime_new(&options.known, &runtime, &error), WICK_INVALID_ARGUMENT);
  wick_error_free(error);
  options.later = 0;
  assert_int_equal(wick_runtime_new(&options.known, &runtime, NULL), WICK_OK);
  wick_runtime_release(runtime);
}

/* ---- a text with everything a call can meet ---- */

static const char program[] =
    "def add(x: int, y: int = 2) -> int:\n"
    "    return x + y\n"
    "def forever(x: int) -> int:\n"
    "    while True:\n"
    "        x += 1\n"
    "    return x\n"
    "def pick(xs: List[float], d: Dict[str, int]) -> Tuple[float, int]:\n"
    "    xs.append(1.0)\n"
    "    return xs[0], d['a']\n"
    "def fails(x: int) -> int:\n"
    "    raise ValueError('no ' + str(x))\n";

static wick_module *compile(void) {
  wick_module *module;
  wick_error *error;
  if (wick_compile(NULL, program, strlen(program), "program.py", &module, &error))
    fail_msg("%s", wick_error_message(error));
  return module;
}

static void test_calls(void **state) {
  (void)state;
  wick_module *module = compile();
  wick_value *three = wick_value_int(3), *half = wick_value_double(0.5), *result;
  const wick_value *arguments[] = {three, three};
  wick_error *error;
  assert_int_equal(wick_run(module, "add", arguments, 1, NULL, 0, NULL, &result, NULL), WICK_OK);
  assert_int_equal(wick_value_to_int(result), 5);
  wick_value_release(result);
  const char *names[] = {"y"};
  assert_int_equal(wick_run(module, "add", arguments, 2, names, 1, NULL, &result, NULL), WICK_OK);
  assert_int_equal(wick_value_to_int(result), 6);
  wick_value_release(result);
  /* wrong number, name, type */
  assert_int_equal(wick_run(module, "add", arguments, 0, NULL, 0, NULL, &result, &error), WICK_INVALID_ARGUMENT);
  assert_non_null(strstr(wick_error_message(error), "Argument x not provided."));
  wick_error_free(error);
  names[0] = "z";
  assert_int_equal(wick_run(module, "add", arguments, 2, names, 1, NULL, &result, &error), WICK_INVALID_ARGUMENT);
  wick_error_free(error);
  arguments[0] = half;
  assert_int_equal(wick_run(module, "add", arguments, 1, NULL, 0, NULL, &result, &error), WICK_INVALID_ARGUMENT);
  assert_non_null(strstr(wick_error_message(error), "Declaration"));
  wick_error_free(error);
  assert_int_equal(wick_run(module, "sub", arguments, 1, NULL, 0, NULL, &result, &error), WICK_NOT_FOUND);
  wick_error_free(error);
  wick_value_release(three);
  wick_value_release(half);
  wick_module_release(module);
}

/* Containers are copied with the schema's types, as Python's are. */
static void test_containers_are_converted(void **state) {
  (void)state;
  wick_module *module = compile();
  wick_value *one = wick_value_int(1), *key = wick_value_string("a", 1), *list, *dict, *result;
  wick_value_list((const wick_value *const[]){one}, 1, &list, NULL);
  wick_value_dict((const wick_value *const[]){key}, (const wick_value *const[]){one}, 1, &dict, NULL);
  assert_int_equal(wick_run(module, "pick", (const wick_value *const[]){list, dict}, 2, NULL, 0, NULL, &result, NULL),
                   WICK_OK);
  assert_int_equal(wick_value_length(list), 1);
  wick_value *first = wick_value_item(result, 0);
  assert_int_equal(wick_value_kind(first), WICK_DOUBLE);
  wick_value_release(first);
  wick_value_release(result);
  wick_value_release(list);
  wick_value_release(dict);
  wick_value_release(one);
  wick_value_release(key);
  wick_module_release(module);
}

#define REFUSED(call)                                           \
  do {                                                          \
    assert_int_equal((call), WICK_INVALID_ARGUMENT);            \
    assert_non_null(strstr(wick_error_message(error), "NULL")); \
    wick_error_free(error);                                     \
  } while (0)

/* What a maker gave for want of memory, or nobody filled in. */
/* ---- what embedders need of tensors and output ---- */

static void test_marks_and_data(void **state) {
  (void)state;
  wick_error *error = NULL;
  wick_value *tensor, *other, *view;
  const int64_t two[] = {2}, three[] = {3};
  int mine;
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, two, &tensor, &error), WICK_OK);
  assert_int_equal(wick_tensor_new(WICK_INT64, 1, three, &other, &error), WICK_OK);
  assert_null(wick_tensor_mark(tensor));
  wick_tensor_set_mark(tensor, &mine);
  assert_ptr_equal(wick_tensor_mark(tensor), &mine);
  assert_null(wick_tensor_mark(other));
  assert_null(wick_tensor_mark(NULL));
  wick_value *again = wick_value_retain(tensor);
  assert_int_equal(wick_tensor_set_data(tensor, other, &error), WICK_OK);
  wick_tensor_view seen = {.size = sizeof seen}, given = {.size = sizeof given};
  assert_int_equal(wick_tensor_view_of(again, &seen, &error), WICK_OK);
  assert_int_equal(wick_tensor_view_of(other, &given, &error), WICK_OK);
  assert_int_equal(seen.dtype, WICK_INT64);
  assert_int_equal(seen.sizes[0], 3);
  assert_ptr_equal(seen.data, given.data);
  assert_ptr_equal(wick_tensor_mark(again), &mine);
  wick_value *number = wick_value_int(1);
  assert_int_equal(wick_tensor_set_data(tensor, number, &error), WICK_INVALID_ARGUMENT);
  wick_error_free(error);
  /* back to its own memory, and away again: nothing is lost */
  assert_int_equal(wick_tensor_new(WICK_FLOAT32, 1, two, &view, &error), WICK_OK);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(wick_tensor_set_data(view, tensor, &error), WICK_OK);
    assert_int_equal(wick_tensor_set_data(tensor, view, &error), WICK_OK);
  }
  wick_value *const all[] = {tensor, other, view, number, again};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) wick_value_release(all[i]);
}

static void test_default_dtype(void **state) {
  (void)state;
  wick_error *error = NULL;
  static const char text[] = "def f(n: int):\n    return torch.tensor([n]) / 2\n";
  wick_module *module;
  wick_value *number = wick_value_int(3), *result;
  assert_int_equal(wick_compile(NULL, text, sizeof text - 1, NULL, &module, &error), WICK_OK);
  assert_int_equal(wick_default_dtype(), WICK_FLOAT32);
  assert_int_equal(wick_set_default_dtype(WICK_INT64, &error), WICK_INVALID_ARGUMENT);
  wick_error_free(error);
  for (int i = 0; i < 12; i++) {
    uint32_t wanted = i / 4 % 2 ? WICK_FLOAT64 : WICK_FLOAT32;
    wick_tensor_info info = {.size = sizeof info};
    assert_int_equal(wick_set_default_dtype(wanted, &error), WICK_OK);
    assert_int_equal(wick_run(module, "f", (const wick_value *const[]){number}, 1, NULL, 0, NULL, &result, &error),
                     WICK_OK);
    assert_int_equal(wick_tensor_info_of(result, &info, &error), WICK_OK);
    assert_int_equal(info.dtype, wanted);
    wick_value_release(result);
  }
  assert_int_equal(wick_set_default_dtype(WICK_FLOAT32, &error), WICK_OK);
  wick_value_release(number);
  wick_module_release(module);
}

static void keep_print(void *user, const char *written, size_t length) {
  snprintf(user, 64, "printed %.*s", (int)length, written);
}
static void keep_warning(void *user, const char *message) {
  snprintf((char *)user + 64, 64, "warned %s", message);
}
static void test_output(void **state) {
  (void)state;
  wick_error *error = NULL;
  static const char text[] = "def f(n: int):\n    print('n', n)\n    warnings.warn('careful')\n    return n\n";
  char seen[128] = "";
  wick_module *module;
  wick_value *number = wick_value_int(3), *result;
  assert_int_equal(wick_compile(NULL, text, sizeof text - 1, NULL, &module, &error), WICK_OK);
  wick_runtime_set_output(NULL, keep_print, keep_warning, seen);
  assert_int_equal(wick_run(module, "f", (const wick_value *const[]){number}, 1, NULL, 0, NULL, &result, &error),
                   WICK_OK);
  wick_runtime_set_output(NULL, NULL, NULL, NULL);
  assert_string_equal(seen, "printed n 3\n");
  assert_string_equal(seen + 64, "warned careful");
  wick_value_release(result);
  wick_value_release(number);
  wick_module_release(module);
}

static void test_null_is_refused(void **state) {
  (void)state;
  wick_module *module = compile(), *other;
  wick_value *one = wick_value_int(1), *result = one;
  wick_error *error = NULL;
  wick_tensor_view view = {.size = sizeof view};
  wick_future *future;
  char *text;
  const wick_value *const items[] = {one, NULL};
  REFUSED(wick_value_list(items, 2, &result, &error));
  assert_null(result);
  REFUSED(wick_value_tuple(items, 2, &result, &error));
  REFUSED(wick_value_dict(items, items, 2, &result, &error));
  REFUSED(wick_value_list(NULL, 1, &result, &error));
  REFUSED(wick_value_print(NULL, &text, &error));
  REFUSED(wick_value_copy(NULL, &result, &error));
  REFUSED(wick_tensor_view_of(NULL, &view, &error));
  REFUSED(wick_tensor_new(WICK_FLOAT32, 2, NULL, &result, &error));
  REFUSED(wick_run(NULL, "forever", NULL, 0, NULL, 0, NULL, &result, &error));
  REFUSED(wick_run(module, NULL, NULL, 0, NULL, 0, NULL, &result, &error));
  REFUSED(wick_run(module, "forever", NULL, 1, NULL, 0, NULL, &result, &error));
  REFUSED(wick_run(module, "forever", items, 1, NULL, 1, NULL, &result, &error));
  REFUSED(wick_run_async(NULL, "forever", NULL, 0, NULL, 0, NULL, &future, &error));
  REFUSED(wick_future_wait(NULL, 0, &result, &error));
  REFUSED(wick_op_call(NULL, NULL, NULL, NULL, 0, NULL, 0, &result, &error));
  REFUSED(wick_module_define(NULL, NULL, "", 0, NULL, &error));
  assert_int_not_equal(wick_load(NULL, NULL, NULL, &other, NULL), WICK_OK);
  assert_null(wick_value_get_text(one, NULL));
  assert_int_equal(wick_module_method_count(NULL), 0);
  assert_false(wick_future_done(NULL));
  wick_cancel_fire(NULL);
  wick_stats_get(NULL);
  wick_value_release(one);
  wick_module_release(module);
}

static void test_limits(void **state) {
  (void)state;
  wick_module *module = compile();
  wick_value *one = wick_value_int(1), *result;
  wick_error *error;
  const wick_value *arguments[] = {one};
  wick_run_options options = {.size = sizeof options, .max_steps = 1000};
  assert_int_equal(wick_run(module, "forever", arguments, 1, NULL, 0, &options, &result, &error), WICK_BUDGET);
  wick_error_free(error);
  options = (wick_run_options){.size = sizeof options, .deadline_ns = 20000000};
  assert_int_equal(wick_run(module, "forever", arguments, 1, NULL, 0, &options, &result, &error), WICK_DEADLINE);
  wick_error_free(error);
  options = (wick_run_options){.size = sizeof options, .cancel = wick_cancel_new()};
  wick_cancel_fire(options.cancel);
  assert_int_equal(wick_run(module, "forever", arguments, 1, NULL, 0, &options, &result, &error), WICK_CANCELLED);
  wick_error_free(error);
  wick_cancel_release(options.cancel);
  assert_int_equal(wick_run(module, "fails", arguments, 1, NULL, 0, NULL, &result, &error), WICK_RAISED);
  assert_non_null(strstr(wick_error_message(error), "no 1"));
  assert_non_null(strstr(wick_error_trace(error), "program.py"));
  wick_error_free(error);
  wick_value_release(one);
  wick_module_release(module);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_borrowed_memory),
      cmocka_unit_test(test_dlpack_both_ways),
      cmocka_unit_test(test_dlpack_that_lies),
      cmocka_unit_test(test_dlpack_strides),
      cmocka_unit_test(test_operators_from_outside),
      cmocka_unit_test(test_options_are_checked),
      cmocka_unit_test(test_calls),
      cmocka_unit_test(test_containers_are_converted),
      cmocka_unit_test(test_marks_and_data),
      cmocka_unit_test(test_default_dtype),
      cmocka_unit_test(test_output),
      cmocka_unit_test(test_null_is_refused),
      cmocka_unit_test(test_limits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
