#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "schema/type_parse.h"

typedef struct Parse {
  Arena arena;
  Str text;
  FunctionSchema *schema;
  const Type *type;
} Parse;

static void parse_schema(void *argument) {
  Parse *p = argument;
  p->schema = schema_parse(&p->arena, type_store_process(), p->text);
}

static void parse_type(void *argument) {
  Parse *p = argument;
  TypeParser parser;
  type_parser_init(&parser, &p->arena, type_store_process(), p->text);
  ParsedType parsed;
  type_parse(&parser, &parsed);
  if (parser.token.kind != TK_EOF) type_parser_fail(&parser, "the end");
  p->type = parsed.type;
}

static FunctionSchema *schema_of(Parse *p, const char *text) {
  p->text = str_from(text);
  Status status = arena_protect(&p->arena, parse_schema, p);
  if (status != OK) fail_msg("%s", status->message);
  return p->schema;
}

static int setup(void **state) {
  Parse *p = calloc(1, sizeof *p);
  arena_init(&p->arena, NULL);
  *state = p;
  return 0;
}

static int teardown(void **state) {
  Parse *p = *state;
  arena_dispose(&p->arena);
  free(p);
  return 0;
}

static void lines_print_back(void **state) {
  Parse *p = *state;
  FILE *file = fopen("data/schemas.txt", "r");
  assert_non_null(file);
  char line[4096];
  int count = 0;
  while (fgets(line, sizeof line, file)) {
    line[strcspn(line, "\n")] = 0;
    FunctionSchema *schema = schema_of(p, line);
    StrBuf out = {0};
    schema_print(schema, &out);
    assert_string_equal(out.data, line);
    strbuf_dispose(&out);
    schema_dispose_defaults(schema);
    count++;
  }
  fclose(file);
  assert_true(count > 100);
}

static void facts_are_kept(void **state) {
  Parse *p = *state;
  FunctionSchema *s = schema_of(p,
                                "aten::f.over(Tensor(a -> *) self, int[2] size=1, *, ScalarType? dtype=None, "
                                "Tensor(b!) out) -> (Tensor(b!) x, int)");
  assert_true(str_is(s->name, "aten::f") && str_is(s->overload_name, "over"));
  assert_int_equal(s->argument_count, 4);
  assert_int_equal(s->arguments[0].alias->before, 1);
  assert_true(s->arguments[0].alias->after == ALIAS_WILDCARD);
  assert_int_equal(s->arguments[1].broadcast_n, 2);
  assert_int_equal(s->arguments[1].default_value.list->ints[1], 1);
  assert_true(s->arguments[2].kwarg_only && s->arguments[2].dynamic_dtype && !s->arguments[1].kwarg_only);
  assert_ptr_equal(s->arguments[2].type, type_optional_of(TYPE_INT));
  assert_true(s->arguments[3].is_out && s->has_out && s->is_mutable);
  assert_true(str_is(s->returns[0].name, "x"));
  assert_int_equal(schema_find_argument(s, STR("dtype")), 2);
  assert_int_equal(schema_find_argument(s, STR("none")), -1);
  schema_dispose_defaults(s);
}

static void overloads_compare_by_arguments(void **state) {
  Parse *p = *state;
  FunctionSchema *a = schema_of(p, "my::f(Tensor x, int y=1) -> Tensor");
  FunctionSchema *b = schema_of(p, "my::f(Tensor x, int y=2) -> int");
  FunctionSchema *c = schema_of(p, "my::f(Tensor x, float y=2.) -> Tensor");
  assert_true(schema_same_arguments(a, b));
  assert_false(schema_same_arguments(a, c));
}

static void wrong_lines_are_refused(void **state) {
  Parse *p = *state;
  static const char *const lines[] = {"",
                                      "aten::f",
                                      "aten::f(",
                                      "aten::f(Tensor x",
                                      "aten::f(Tensor x) ->",
                                      "aten::f(Tensor) -> Tensor",
                                      "aten::f(Tensor x, *) -> Tensor",
                                      "aten::f(..., int x) -> Tensor",
                                      "aten::f(int x=\"a\") -> Tensor",
                                      "aten::f(int x) -> Tensor int y z",
                                      "aten::f(Tensor(ab) x) -> Tensor",
                                      "aten::f(Dict(int) x) -> Tensor",
                                      "aten::f(Float x) -> Tensor",
                                      "aten::f(int[] x=[1, 2) -> ()",
                                      "aten::f(int x=1e999999999999) -> ("};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    p->text = str_from(lines[i]);
    Status status = arena_protect(&p->arena, parse_schema, p);
    if (status == OK) fail_msg("accepted: %s", lines[i]);
    assert_int_equal(status->code, ERROR_SYNTAX);
    status_free(status);
  }
  char deep[20000];
  memset(deep, '(', sizeof deep - 1);
  deep[sizeof deep - 1] = 0;
  p->text = str_from(deep);
  Status status = arena_protect(&p->arena, parse_type, p);
  assert_non_null(status);
  status_free(status);
}

/* Each allocation refused in turn. */
static void refused_memory_is_an_error(void **state) {
  Parse *p = *state;
  for (int n = 1;; n++) {
    p->text = str_from("my::f(Tensor x, str mode=\"a\", int[2] size=[1, 2]) -> (Tensor, int)");
    Arena *arena = &p->arena;
    arena_dispose(arena);
    arena_init(arena, NULL);
    mem_fail_after(n);
    Status status = arena_protect(arena, parse_schema, p);
    mem_fail_after(0);
    if (status == OK) {
      schema_dispose_defaults(p->schema);
      assert_true(n > 3);
      return;
    }
    assert_int_equal(status->code, ERROR_OUT_OF_MEMORY);
    status_free(status);
  }
}

static void types_print_back(void **state) {
  Parse *p = *state;
  static const char *const types[] = {"Tensor",
                                      "int[]",
                                      "int?",
                                      "Tensor?[]",
                                      "Dict(str, Tensor)",
                                      "(int, Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu))",
                                      "Float(*, 2)",
                                      "Float(*, *, requires_grad=1, device=cuda:0)",
                                      "Long()",
                                      "Double(requires_grad=0)",
                                      "FloatTensor(device=cpu)",
                                      "Tensor(requires_grad=1)",
                                      "Tensor(2, *)",
                                      "()",
                                      "(int)",
                                      "Future[int]",
                                      "Union(Tensor, (int, str), int[], Dict(str, int), float, int, NoneType, str)",
                                      "Scalar?",
                                      "NamedTuple(a : int, b : Tensor)",
                                      "Any?",
                                      "Tensor[Undefined]",
                                      "__torch__.torch.classes.rnn.CellParamsBase[]"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    p->text = str_from(types[i]);
    Status status = arena_protect(&p->arena, parse_type, p);
    if (status != OK) fail_msg("%s", status->message);
    StrBuf out = {0};
    type_print(p->type, &out);
    assert_string_equal(out.data, types[i]);
    strbuf_dispose(&out);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(lines_print_back, setup, teardown),
      cmocka_unit_test_setup_teardown(facts_are_kept, setup, teardown),
      cmocka_unit_test_setup_teardown(overloads_compare_by_arguments, setup, teardown),
      cmocka_unit_test_setup_teardown(wrong_lines_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(refused_memory_is_an_error, setup, teardown),
      cmocka_unit_test_setup_teardown(types_print_back, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
