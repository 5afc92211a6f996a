#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ivalue/future.h"
#include "ivalue/ivalue.h"

#define OKAY(expression) assert_null(expression)

static IValue text(const char *s) {
  IValue v;
  OKAY(ivalue_from_str(str_from(s), &v));
  return v;
}

static bool holds(const Dict *d, IValue key, IValue *out) {
  bool found;
  OKAY(dict_get(d, key, out, &found));
  return found;
}
static bool removes(Dict *d, IValue key) {
  bool found;
  OKAY(dict_remove(d, key, NULL, &found));
  return found;
}
static bool equals(IValue a, IValue b) {
  bool equal;
  OKAY(ivalue_equal(a, b, &equal, NULL));
  return equal;
}

static IValue ints(size_t count, const int64_t *values) {
  List *l;
  OKAY(list_from_ints(values, count, &l));
  return ivalue_list(l);
}

static IValue list_of(const Type *element, size_t count, const IValue *values) {
  List *l;
  OKAY(list_new(element, 0, &l));
  for (size_t i = 0; i < count; i++) OKAY(list_append(l, values[i]));
  return ivalue_list(l);
}

static IValue tuple_of(uint32_t count, const IValue *values) {
  Tuple *t;
  OKAY(tuple_new(count, NULL, &t));
  for (uint32_t i = 0; i < count; i++) t->values[i] = values[i];
  return ivalue_tuple(t);
}

static void assert_prints(IValue v, const char *printed, const char *repr) {
  StrBuf out = {0};
  OKAY(ivalue_print(v, &out));
  assert_string_equal(out.data, printed);
  strbuf_clear(&out);
  OKAY(ivalue_print_repr(v, &out));
  assert_string_equal(out.data, repr);
  strbuf_dispose(&out);
  ivalue_release(v);
}

static void prints_as_torchscript(void **state) {
  (void)state;
  IValue complex;
  OKAY(ivalue_from_complex(1 - 2.5i, &complex));
  assert_prints(complex, "1.-2.5j", "1.-2.5j");
  assert_prints(ivalue_float(0.1), "0.10000000000000001", "0.10000000000000001");
  assert_prints(ivalue_float(-0.0), "0.", "-0.");
  assert_prints(ivalue_float(1e10), "10000000000.", "10000000000");
  assert_prints(ivalue_float(1e22), "1e+22", "1e+22");
  assert_prints(text("b'c\n"), "b'c\n", "\"b\\'c\\n\"");
  IValue list = list_of(TYPE(FLOAT), 2, (IValue[]){ivalue_float(1), ivalue_float(2.5)});
  assert_prints(tuple_of(2, (IValue[]){list, text("a")}), "([1., 2.5], a)", "([1., 2.5], \"a\")");
  assert_prints(tuple_of(1, (IValue[]){ivalue_bool(true)}), "(True,)", "(True,)");
  assert_prints(ints(0, NULL), "[]", "annotate(List[int], [])");
  Dict *d;
  OKAY(dict_new(TYPE(STRING), TYPE(INT), &d));
  OKAY(dict_set(d, text("k"), ivalue_int(1)));
  OKAY(dict_set(d, text("l"), ivalue_int(2)));
  OKAY(dict_set(d, text("m"), ivalue_int(3)));
  IValue k = text("k");
  assert_true(removes(d, k));
  ivalue_release(k);
  assert_prints(ivalue_dict(d), "{l: 2, m: 3}", "{\"l\": 2, \"m\": 3}");
}

static void lists(void **state) {
  (void)state;
  IValue v = ints(3, (int64_t[]){1, 2, 3});
  List *l = v.list;
  assert_int_equal(l->kind, LIST_INTS);
  OKAY(list_insert(l, 0, ivalue_int(0)));
  OKAY(list_append(l, ivalue_int(4)));
  assert_int_equal(list_remove(l, 1).i, 1);
  size_t index;
  OKAY(list_index(l, -1, &index));
  assert_int_equal(index, 3);
  Status status = list_index(l, 4, &index);
  assert_string_equal(status->exception, "IndexError");
  status_free(status);
  List *slice;
  OKAY(list_slice(l, 0, 2, 10, &slice));
  assert_int_equal(slice->length, 2);
  assert_int_equal(slice->ints[1], 3);
  ivalue_release(ivalue_list(slice));
  list_truncate(l, 1);
  assert_int_equal(l->length, 1);
  ivalue_release(v);
  IValue words = list_of(TYPE(STRING), 2, (IValue[]){text("a"), text("b")});
  list_set(words.list, 0, text("c"));
  assert_true(str_is(ivalue_str(words.list->values[0]), "c"));
  ivalue_release(words);
}

static void dicts_keep_order(void **state) {
  (void)state;
  Dict *d;
  OKAY(dict_new(TYPE(INT), TYPE(INT), &d));
  for (int i = 0; i < 1000; i++) OKAY(dict_set(d, ivalue_int(i * 7), ivalue_int(i)));
  for (int i = 0; i < 1000; i += 2) assert_true(removes(d, ivalue_int(i * 7)));
  for (int i = 0; i < 10000; i++) { /* dead entries are reclaimed */
    OKAY(dict_set(d, ivalue_int(-1), ivalue_int(0)));
    assert_true(removes(d, ivalue_int(-1)));
  }
  assert_int_equal(d->live, 500);
  assert_true(d->capacity < 5000);
  int expected = 1;
  for (DictEntry *e = dict_next(d, NULL); e; e = dict_next(d, e), expected += 2) assert_int_equal(e->value.i, expected);
  IValue found;
  assert_true(holds(d, ivalue_int(7), &found) && found.i == 1);
  assert_false(holds(d, ivalue_int(14), &found));
  ivalue_release(ivalue_dict(d));

  OKAY(dict_new(TYPE(ANY), TYPE(INT), &d));
  OKAY(dict_set(d, ivalue_float(1), ivalue_int(5)));
  assert_true(holds(d, ivalue_int(1), NULL));
  Status status = dict_set(d, ints(0, NULL), ivalue_int(0));
  assert_string_equal(status->message, "unhashable type: 'list'");
  status_free(status);
  ivalue_release(ivalue_dict(d));
}

static void equality(void **state) {
  (void)state;
  IValue a = tuple_of(2, (IValue[]){ints(2, (int64_t[]){1, 2}), text("x")}),
         b = tuple_of(2, (IValue[]){ints(2, (int64_t[]){1, 2}), text("x")});
  assert_true(equals(a, b));
  assert_false(ivalue_is(a, b));
  list_set(b.tuple->values[0].list, 1, ivalue_int(3));
  assert_false(equals(a, b));
  assert_true(equals(ivalue_int(1), ivalue_float(1)));
  ivalue_release(a);
  ivalue_release(b);
}

/* Chains of a million containers, trees of 2^60 leaves and cycles. */
static void hostile_structure(void **state) {
  (void)state;
  IValue chain = IVALUE_NONE, list_chain = list_of(TYPE(ANY), 0, NULL), dag = tuple_of(1, (IValue[]){ivalue_int(1)}),
         other = tuple_of(1, (IValue[]){ivalue_int(1)});
  for (int i = 0; i < 1000000; i++) chain = tuple_of(1, &chain);
  for (int i = 0; i < 100000; i++) list_chain = list_of(TYPE(ANY), 1, &list_chain);
  for (int i = 0; i < 60; i++) {
    dag = tuple_of(2, (IValue[]){dag, ivalue_retain(dag)});
    other = tuple_of(2, (IValue[]){other, ivalue_retain(other)});
  }
  assert_true(equals(dag, other));
  uint64_t hash, other_hash;
  OKAY(ivalue_hash(dag, &hash));
  OKAY(ivalue_hash(other, &other_hash));
  assert_true(hash == other_hash);
  assert_int_equal(ivalue_type(dag, type_store_process())->kind, TYPE_TUPLE);
  assert_true(ivalue_is_instance(dag, ivalue_type(other, type_store_process())));
  IValue copy;
  OKAY(ivalue_deep_copy(dag, &copy));
  assert_ptr_equal(copy.tuple->values[0].tuple, copy.tuple->values[1].tuple);
  ivalue_release(copy);
  OKAY(ivalue_deep_copy(list_chain, &copy));
  ivalue_release(copy);
  ivalue_mark_shared(dag);
  ivalue_mark_shared(list_chain);
  StrBuf out = {.max_length = 100000};
  OKAY(ivalue_print(dag, &out));
  assert_true(out.truncated);
  strbuf_dispose(&out);
  OKAY(ivalue_print(chain, &out));
  strbuf_dispose(&out);
  ivalue_release(chain);
  ivalue_release(list_chain);
  ivalue_release(dag);
  ivalue_release(other);

  IValue cycle = list_of(TYPE(ANY), 0, NULL);
  OKAY(list_append(cycle.list, ivalue_retain(cycle)));
  assert_true(equals(cycle, cycle));
  OKAY(ivalue_print(cycle, &out));
  strbuf_dispose(&out);
  list_truncate(cycle.list, 0);
  ivalue_release(cycle);
}

static void deep_copy_is_apart(void **state) {
  (void)state;
  IValue inner = ints(1, (int64_t[]){1}),
         v = list_of(type_list_of(TYPE_INT), 2, (IValue[]){inner, ivalue_retain(inner)}), copy;
  OKAY(ivalue_deep_copy(v, &copy));
  assert_ptr_not_equal(copy.list->values[0].list, inner.list);
  assert_ptr_equal(copy.list->values[0].list, copy.list->values[1].list);
  list_set(inner.list, 0, ivalue_int(9));
  assert_int_equal(copy.list->values[0].list->ints[0], 1);
  ivalue_release(copy);
  ivalue_release(v);
}

static IValue pair(IValue first, IValue second) {
  return tuple_of(2, (IValue[]){first, second});
}

/* A key's hash is that of what is in it: a copy's key is whole before it is put in. */
static void deep_copy_of_keys(void **state) {
  (void)state;
  Dict *dict;
  OKAY(dict_new(TYPE(ANY), TYPE(ANY), &dict));
  for (int64_t i = 0; i < 40; i++)
    OKAY(
        dict_set(dict, pair(ivalue_int(i), pair(text("key"), ivalue_int(-i))), pair(ivalue_int(2 * i), text("value"))));
  IValue v = ivalue_dict(dict), copy, found;
  OKAY(ivalue_deep_copy(v, &copy));
  ivalue_release(v);
  assert_int_equal(dict_length(copy.dict), 40);
  for (int64_t i = 0; i < 40; i++) {
    IValue key = pair(ivalue_int(i), pair(text("key"), ivalue_int(-i)));
    assert_true(holds(copy.dict, key, &found));
    assert_int_equal(found.tuple->values[0].i, 2 * i);
    ivalue_release(found);
    ivalue_release(key);
  }
  ivalue_release(copy);
}

static int calls;
static void count_call(void *argument, Future *f) {
  (void)argument;
  assert_true(future_is_done(f));
  calls++;
}

static void futures(void **state) {
  (void)state;
  Future *f;
  OKAY(future_new(TYPE(STRING), &f));
  OKAY(future_then(f, count_call, NULL));
  future_complete(f, text("done"));
  future_complete(f, text("again"));
  OKAY(future_then(f, count_call, NULL));
  assert_int_equal(calls, 2);
  future_wait(f);
  IValue result;
  OKAY(future_result(f, &result));
  assert_true(str_is(ivalue_str(result), "done"));
  ivalue_release(result);
  ivalue_release(ivalue_future(f));
  OKAY(future_new(TYPE(INT), &f));
  future_fail(f, status_exception("ValueError", "bad"));
  Status status = future_result(f, &result);
  assert_string_equal(status->message, "bad");
  assert_string_equal(status->exception, "ValueError");
  status_free(status);
  ivalue_release(ivalue_future(f));
}

/* ---- shared containers ---- */

enum { ROUNDS = 2000 };

static void *use_list(void *argument) {
  List *list = argument;
  for (int i = 0; i < ROUNDS; i++) {
    IValue item;
    if (ivalue_from_str(STR("item"), &item) != OK || list_append(list, item) != OK) return argument;
    ivalue_release(list_get(list, (size_t)i));
    if (i % 2) ivalue_release(list_remove(list, 0));
  }
  return NULL;
}

static void *use_dict(void *argument) {
  Dict *dict = argument;
  for (int i = 0; i < ROUNDS; i++) {
    IValue item, found;
    if (ivalue_from_str(STR("item"), &item) != OK || dict_set(dict, ivalue_int(i % 50), item) != OK) return argument;
    if (holds(dict, ivalue_int(i % 7), &found)) ivalue_release(found);
    if (i % 3 == 0) removes(dict, ivalue_int(i % 11));
  }
  return NULL;
}

static void run_threads(void *(*body)(void *), void *argument) {
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, body, argument), 0);
  for (int i = 0; i < 4; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
  }
}

static void shared_containers_stay_whole(void **state) {
  (void)state;
  IValue list = list_of(TYPE(STRING), 0, NULL);
  ivalue_mark_shared(list);
  run_threads(use_list, list.list);
  assert_int_equal(list.list->length, 4 * ROUNDS / 2);
  ivalue_release(list);
  Dict *dict;
  OKAY(dict_new(TYPE(INT), TYPE(STRING), &dict));
  ivalue_mark_shared(ivalue_dict(dict));
  run_threads(use_dict, dict);
  assert_true(dict->live <= 50);
  ivalue_release(ivalue_dict(dict));
}

/* Each allocation refused in turn: an error, and nothing lost (the sanitizers look). */
static void refused_memory_is_an_error(void **state) {
  (void)state;
  IValue v = list_of(type_list_of(TYPE_STRING), 2,
                     (IValue[]){list_of(TYPE(STRING), 1, (IValue[]){text("a")}), list_of(TYPE(STRING), 0, NULL)});
  for (int n = 1;; n++) {
    IValue copy;
    mem_fail_after(n);
    Status status = ivalue_deep_copy(v, &copy);
    mem_fail_after(0);
    if (status == OK) {
      ivalue_release(copy);
      assert_true(n > 3);
      break;
    }
    assert_int_equal(status->code, ERROR_OUT_OF_MEMORY);
    status_free(status);
  }
  ivalue_release(v);
}

/* ---- where S is a subtype of P, P's readers accept S's IValue ---- */

typedef struct Sample {
  const Type *type;
  IValue value;
} Sample;

static uint32_t add(Sample *samples, uint32_t count, const Type *type, IValue value) {
  samples[count] = (Sample){type, value};
  return count + 1;
}

static void subtypes_are_readable(void **state) {
  (void)state;
  TypeStore *store = type_store_process();
  Sample samples[128];
  uint32_t n = 0;
  IValue complex, tensor;
  Tensor *t;
  Future *f;
  OKAY(ivalue_from_complex(1i, &complex));
  OKAY(tensor_from_int(1, &t));
  tensor = ivalue_tensor(t);
  OKAY(future_new(TYPE(INT), &f));
  n = add(samples, n, TYPE(INT), ivalue_int(1));
  n = add(samples, n, TYPE(FLOAT), ivalue_float(1));
  n = add(samples, n, TYPE(BOOL), ivalue_bool(true));
  n = add(samples, n, TYPE(NONE), IVALUE_NONE);
  n = add(samples, n, TYPE(COMPLEX), complex);
  n = add(samples, n, TYPE(STRING), text("s"));
  n = add(samples, n, TYPE(TENSOR), tensor);
  n = add(samples, n, TYPE(DEVICE), ivalue_device(DEVICE_CPU_0));
  n = add(samples, n, type_future(store, TYPE(INT)), ivalue_future(f));
  uint32_t leaves = n;
  for (uint32_t i = 0; i < leaves; i++) {
    IValue v = samples[i].value;
    n = add(samples, n, type_list(store, samples[i].type), list_of(samples[i].type, 1, (IValue[]){ivalue_retain(v)}));
    n = add(samples, n, type_tuple(store, 1, &samples[i].type), tuple_of(1, (IValue[]){ivalue_retain(v)}));
    n = add(samples, n, type_optional(store, samples[i].type), ivalue_retain(v));
    n = add(samples, n, type_union(store, 2, (const Type *const[]){samples[i].type, TYPE(STRING)}), ivalue_retain(v));
  }
  const Type *wide[] = {TYPE(ANY),
                        TYPE(NUMBER),
                        TYPE(ANY_LIST),
                        TYPE(ANY_TUPLE),
                        type_optional_of(TYPE_ANY),
                        type_optional_of(TYPE_NUMBER)};
  for (uint32_t s = 0; s < n; s++) {
    if (!ivalue_is_instance(samples[s].value, samples[s].type)) fail_msg("sample %u is not of its own type", s);
    assert_true(type_is_subtype(ivalue_type(samples[s].value, store), samples[s].type, NULL));
    for (uint32_t p = 0; p < n + 6; p++) {
      const Type *super = p < n ? samples[p].type : wide[p - n];
      if (type_is_subtype(samples[s].type, super, NULL) && !ivalue_is_instance(samples[s].value, super))
        fail_msg("%u is no %u", s, p);
    }
  }
  for (uint32_t i = 0; i < n; i++) ivalue_release(samples[i].value);
}

/* How many allocations it takes to name the types of 1,000 tuples. */
static int64_t name_types(void) {
  enum { MANY = 1 << 30, COUNT = 1000, LENGTH = 10 };
  int64_t allocations = 0;
  for (int i = 0; i < COUNT; i++) {
    IValue items[LENGTH];
    StrBuf text = {0};
    for (int b = 0; b < LENGTH; b++) items[b] = i >> b & 1 ? ivalue_int(1) : ivalue_float(1);
    IValue tuple = tuple_of(LENGTH, items);
    mem_fail_after(MANY);
    ivalue_print_type(tuple, &text);
    allocations += MANY - mem_fail_left();
    mem_fail_after(0);
    assert_true(str_starts_with(strbuf_view(&text), "Tuple["));
    strbuf_dispose(&text);
    ivalue_release(tuple);
  }
  return allocations;
}

/* What a text is made of is not kept: the second time takes as much as the first. */
static void names_of_types_are_not_kept(void **state) {
  (void)state;
  int64_t first = name_types();
  assert_true(first > 0);
  assert_int_equal(name_types(), first);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(prints_as_torchscript),
                                     cmocka_unit_test(lists),
                                     cmocka_unit_test(dicts_keep_order),
                                     cmocka_unit_test(equality),
                                     cmocka_unit_test(hostile_structure),
                                     cmocka_unit_test(deep_copy_is_apart),
                                     cmocka_unit_test(deep_copy_of_keys),
                                     cmocka_unit_test(futures),
                                     cmocka_unit_test(shared_containers_stay_whole),
                                     cmocka_unit_test(refused_memory_is_an_error),
                                     cmocka_unit_test(subtypes_are_readable),
                                     cmocka_unit_test(names_of_types_are_not_kept)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
