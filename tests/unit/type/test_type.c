#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ivalue/ivalue.h"
#include "type/class_type.h"

static TypeStore unit;

static int setup(void **state) {
  (void)state;
  assert_null(type_store_init(&unit, NULL));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  type_store_dispose(&unit);
  return 0;
}

static TypeStore *process(void) {
  return type_store_process();
}

static void assert_prints(const Type *type, const char *graph, const char *str, const char *annotation) {
  void (*const printers[])(const Type *, StrBuf *) = {type_print, type_print_str, type_print_annotation};
  const char *const texts[] = {graph, str, annotation};
  for (int i = 0; i < 3; i++) {
    StrBuf out = {0};
    printers[i](type, &out);
    assert_string_equal(out.data, texts[i]);
    strbuf_dispose(&out);
  }
}

static const Type *pair(TypeStore *store, const Type *a, const Type *b) {
  return type_tuple(store, 2, (const Type *const[]){a, b});
}

static void equal_types_are_one_pointer(void **state) {
  (void)state;
  assert_ptr_equal(type_list(process(), TYPE(INT)), type_list_of(TYPE_INT));
  assert_ptr_equal(type_list(&unit, TYPE(INT)), type_list_of(TYPE_INT));
  const Type *a = type_dict(process(), TYPE(STRING), type_list_of(TYPE_TENSOR));
  assert_ptr_equal(a, type_dict(&unit, TYPE(STRING), type_list_of(TYPE_TENSOR)));
  const Type *b = pair(&unit, TYPE(INT), type_optional_of(TYPE_INT));
  const Type *c = pair(process(), TYPE(INT), type_optional_of(TYPE_INT));
  assert_ptr_not_equal(b, c);
  assert_true(type_equal(b, c));
  assert_false(type_equal(b, a));
  assert_ptr_equal(type_optional(&unit, type_optional_of(TYPE_INT)), type_optional_of(TYPE_INT));
  assert_ptr_equal(type_optional(&unit, TYPE(NONE)), TYPE(NONE));
}

static void prints_as_torchscript(void **state) {
  (void)state;
  TensorInfo info = {.dtype = DTYPE_FLOAT32,
                     .device_type = -1,
                     .device_index = -1,
                     .ndim = 2,
                     .has_sizes = true,
                     .requires_grad = -1,
                     .undefined = -1,
                     .sizes = {2, -1}};
  const Type *refined = type_tensor_refined(&unit, &info);
  assert_prints(refined, "Float(2, *)", "Tensor", "Tensor");
  assert_prints(type_list(&unit, refined), "Float(2, *)[]", "Tensor[]", "List[Tensor]");
  assert_prints(type_dict(&unit, TYPE(STRING), refined), "Dict(str, Tensor)", "Dict(str, Tensor)", "Dict[str, Tensor]");
  assert_prints(pair(&unit, TYPE(INT), TYPE(NUMBER)), "(int, Scalar)", "(int, Scalar)", "Tuple[int, number]");
  assert_prints(type_future(&unit, TYPE(INT)), "Future[int]", "Future(int)", "Future[int]");
  assert_prints(type_tuple(&unit, 0, NULL), "()", "()", "Tuple[()]");
  const Type *named = type_named_tuple(&unit, STR("__torch__.NT"), 2, (const Type *const[]){TYPE(INT), TYPE(TENSOR)},
                                       (Str[]){STR("a"), STR("b")});
  assert_prints(named, "NamedTuple(a : int, b : Tensor)", "__torch__.NT", "__torch__.NT");
  const Type *members[] = {TYPE(INT),
                           TYPE(STRING),
                           TYPE(TENSOR),
                           type_list_of(TYPE_INT),
                           TYPE(FLOAT),
                           TYPE(NONE),
                           type_dict(&unit, TYPE(STRING), TYPE(INT)),
                           pair(&unit, TYPE(INT), TYPE(STRING))};
  assert_prints(type_union(&unit, 8, members),
                "Union(Tensor, (int, str), int[], Dict(str, int), float, int, NoneType, str)",
                "Union(Tensor, (int, str), int[], Dict(str, int), float, int, NoneType, str)",
                "Union[Tensor, Tuple[int, str], List[int], Dict[str, int], float, int, NoneType, str]");
}

static void unions_fold(void **state) {
  (void)state;
  assert_ptr_equal(type_union(&unit, 2, (const Type *const[]){TYPE(INT), TYPE(NONE)}), type_optional_of(TYPE_INT));
  assert_ptr_equal(type_union(&unit, 3, (const Type *const[]){TYPE(INT), TYPE(COMPLEX), TYPE(FLOAT)}), TYPE(NUMBER));
  assert_ptr_equal(type_union(&unit, 2, (const Type *const[]){TYPE(NUMBER), TYPE(NONE)}),
                   type_optional_of(TYPE_NUMBER));
  assert_ptr_equal(type_union(&unit, 2, (const Type *const[]){TYPE(STRING), TYPE(STRING)}), TYPE(STRING));
  const Type *a = type_union(&unit, 2, (const Type *const[]){TYPE(INT), TYPE(STRING)});
  assert_ptr_equal(a, type_union(&unit, 3, (const Type *const[]){TYPE(STRING), TYPE(INT), a}));
  assert_int_equal(a->count, 2);
}

static void subtypes(void **state) {
  (void)state;
  const Type *int_or_str = type_union(&unit, 2, (const Type *const[]){TYPE(INT), TYPE(STRING)});
  const Type *with_none = type_union(&unit, 3, (const Type *const[]){TYPE(INT), TYPE(STRING), TYPE(NONE)});
  const Type *named =
      type_named_tuple(&unit, STR("N"), 2, (const Type *const[]){TYPE(INT), TYPE(INT)}, (Str[]){STR("a"), STR("b")});
  const struct {
    const Type *sub, *super;
    bool holds;
  } cases[] = {{TYPE(INT), TYPE(ANY), true},
               {TYPE(INT), TYPE(NUMBER), true},
               {TYPE(BOOL), TYPE(NUMBER), false},
               {TYPE(INT), TYPE(FLOAT), false},
               {TYPE(INT), type_optional_of(TYPE_INT), true},
               {TYPE(NONE), type_optional_of(TYPE_INT), true},
               {type_optional_of(TYPE_INT), TYPE(INT), false},
               {TYPE(INT), type_optional_of(TYPE_NUMBER), true},
               {type_optional_of(TYPE_INT), type_optional_of(TYPE_NUMBER), true},
               {type_list_of(TYPE_INT), type_list_of(TYPE_NUMBER), false},
               {type_list_of(TYPE_INT), TYPE(ANY_LIST), true},
               {TYPE(INT), int_or_str, true},
               {int_or_str, with_none, true},
               {with_none, int_or_str, false},
               {type_optional_of(TYPE_INT), with_none, true},
               {TYPE(FLOAT), int_or_str, false},
               {int_or_str, TYPE(ANY), true},
               {named, pair(&unit, TYPE(INT), TYPE(INT)), true},
               {pair(&unit, TYPE(INT), TYPE(INT)), named, false},
               {pair(&unit, TYPE(INT), TYPE(NONE)), pair(&unit, TYPE(NUMBER), type_optional_of(TYPE_INT)), true},
               {named, TYPE(ANY_TUPLE), true},
               {type_future(&unit, TYPE(INT)), type_future(&unit, TYPE(NUMBER)), true},
               {type_dict(&unit, TYPE(STRING), TYPE(INT)), type_dict(&unit, TYPE(STRING), TYPE(NUMBER)), false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (type_is_subtype(cases[i].sub, cases[i].super, NULL) != cases[i].holds) fail_msg("case %zu", i);

  TensorInfo info = {
      .dtype = DTYPE_FLOAT32, .device_type = -1, .device_index = -1, .ndim = 2, .requires_grad = -1, .undefined = -1};
  const Type *rank = type_tensor_refined(&unit, &info);
  info.has_sizes = true;
  info.sizes[0] = 3, info.sizes[1] = 4;
  const Type *sizes = type_tensor_refined(&unit, &info);
  assert_true(type_is_subtype(sizes, rank, NULL) && type_is_subtype(rank, TYPE(TENSOR), NULL));
  assert_false(type_is_subtype(rank, sizes, NULL));
}

static void unifies(void **state) {
  (void)state;
  assert_ptr_equal(type_unify(&unit, TYPE(INT), TYPE(NONE), false), type_optional_of(TYPE_INT));
  assert_null(type_unify(&unit, TYPE(INT), TYPE(FLOAT), false));
  assert_int_equal(type_unify(&unit, TYPE(INT), TYPE(STRING), true)->kind, TYPE_UNION);
  const Type *a = pair(&unit, TYPE(INT), TYPE(NONE)), *b = pair(&unit, TYPE(INT), TYPE(STRING));
  assert_true(type_equal(type_unify(&unit, a, b, false), pair(&unit, TYPE(INT), type_optional_of(TYPE_STRING))));
  TensorInfo info = {.dtype = DTYPE_FLOAT32,
                     .device_type = -1,
                     .device_index = -1,
                     .ndim = 1,
                     .has_sizes = true,
                     .requires_grad = -1,
                     .undefined = -1,
                     .sizes = {3}};
  const Type *x = type_tensor_refined(&unit, &info);
  info.sizes[0] = 4;
  const Type *y = type_tensor_refined(&unit, &info);
  const Type *merged = type_unify(&unit, x, y, false);
  assert_prints(merged, "Float(*)", "Tensor", "Tensor");
  assert_ptr_equal(type_unify(&unit, type_list(&unit, x), type_list(&unit, y), false), type_list_of(TYPE_TENSOR));
  assert_ptr_equal(type_without_refinement(&unit, type_list(&unit, x)), type_list_of(TYPE_TENSOR));
}

static void type_variables_bind(void **state) {
  (void)state;
  const Type *t = type_var(&unit, STR("t"));
  Map bindings;
  StrBuf why = {0};
  map_init(&bindings, NULL);
  assert_ptr_equal(type_match_vars(&unit, type_list(&unit, t), type_list_of(TYPE_INT), &bindings, &why),
                   type_list_of(TYPE_INT));
  assert_ptr_equal(map_get(&bindings, STR("t")), TYPE(INT));
  assert_null(type_match_vars(&unit, t, TYPE(STRING), &bindings, &why));
  assert_string_equal(why.data, "Type variable 't' previously matched to type int is matched to type str");
  strbuf_clear(&why);
  map_dispose(&bindings);
  map_init(&bindings, NULL);
  assert_ptr_equal(type_match_vars(&unit, type_optional(&unit, t), TYPE(FLOAT), &bindings, &why),
                   type_optional_of(TYPE_FLOAT));
  map_dispose(&bindings);
  map_init(&bindings, NULL);
  assert_null(type_match_vars(&unit, type_optional(&unit, t), TYPE(NONE), &bindings, &why));
  assert_null(type_match_vars(&unit, type_dict(&unit, TYPE(STRING), t), TYPE(INT), &bindings, NULL));
  assert_null(type_substitute(&unit, t, &bindings));
  strbuf_dispose(&why);
  map_dispose(&bindings);
}

/* Types whose trees have 2^100 leaves. */
static void shared_structure_costs_once(void **state) {
  (void)state;
  const Type *a = TYPE(INT), *b = type_optional_of(TYPE_INT), *c = TYPE(STRING);
  for (int i = 0; i < 100; i++) {
    a = pair(process(), a, a);
    b = pair(&unit, b, b);
    c = pair(&unit, c, c);
  }
  assert_true(type_is_subtype(a, b, NULL));
  assert_false(type_is_subtype(b, a, NULL));
  assert_false(type_equal(a, b));
  assert_non_null(type_unify(&unit, a, c, true));
  assert_null(type_unify(&unit, a, c, false));
  StrBuf out = {0};
  type_print(a, &out);
  assert_true(out.length < 100000);
  strbuf_dispose(&out);
}

static void deep_nesting_is_an_error(void **state) {
  (void)state;
  const Type *type = TYPE(STRING);
  for (int i = 0; i < 1000; i++) type = pair(process(), TYPE(INT), type);
  assert_ptr_equal(type, TYPE(ERROR));
}

static void class_types(void **state) {
  (void)state;
  Catch c;
  if (!catch_enter(&c)) fail();
  unit.arena.catch_point = &c;
  ClassType *foo = class_type_new(&unit, STR("__torch__.Foo"), true);
  assert_int_equal(class_type_add_attribute(foo, STR("x"), TYPE(INT), ATTRIBUTE_PLAIN), 0);
  assert_int_equal(class_type_add_attribute(foo, STR("w"), TYPE(TENSOR), ATTRIBUTE_PARAMETER), 1);
  assert_int_equal(class_type_find_attribute(foo, STR("w")), 1);
  assert_int_equal(class_type_find_attribute(foo, STR("v")), -1);
  ClassType *bar = class_type_new(&unit, STR("__torch__.Foo"), true);
  assert_false(type_equal(&foo->type, &bar->type));
  assert_true(type_is_subtype(&foo->type, TYPE(ANY_CLASS), NULL));
  assert_ptr_equal(type_list(process(), &foo->type)->store, &unit);
  unit.arena.catch_point = NULL;
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
  const struct CMUnitTest tests[] = {TEST(equal_types_are_one_pointer),
                                     TEST(prints_as_torchscript),
                                     TEST(unions_fold),
                                     TEST(subtypes),
                                     TEST(unifies),
                                     TEST(type_variables_bind),
                                     TEST(shared_structure_costs_once),
                                     TEST(deep_nesting_is_an_error),
                                     TEST(class_types)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
