/* What tells "no" from "no memory": each allocation of a few actions is refused in turn, and every attempt ends in the
 * result or in an error that says that memory ran out. One that took the failure for a "no" would call a name unknown,
 * a value of another type, or a node free of effects. */
#include "ir_fixture.h"

#include "api/handles.h"
#include "call/match.h"
#include "call/native_class.h"
#include "pass/pass.h"
#include "schema/type_parse.h"
#include "wick/wick.h"

typedef Status Action(void);

/* How many attempts failed. */
static int64_t refuse_in_turn(Action *action, bool fails_at_all) {
  for (int64_t n = 1;; n++) {
    mem_fail_after(n);
    Status status = action();
    bool was_refused = mem_fail_left() <= 0;
    mem_fail_after(0);
    if (status && status->code != ERROR_OUT_OF_MEMORY) fail_msg("attempt %lld: %s", (long long)n, status->message);
    status_free(status);
    if (was_refused) continue;
    assert_true(n > 1 || !fails_at_all);
    return n - 1;
  }
}

/* The registry's index is built at the first look-up: this is the first of the process. */
static Status call_relu(void) {
  static Tensor *t;
  if (!t) TRY(tensor_empty(DTYPE_FLOAT32, 1, (int64_t[]){2}, &t));
  IValue value = ivalue_tensor(t);
  CallValues call = {.count = 1, .values = &value};
  MatchedCall matched;
  TRY(operator_match_values(STR("aten::relu"), NULL, &call, &matched));
  matched_call_dispose(&matched);
  return OK;
}
static void first_look_up(void **state) {
  (void)state;
  refuse_in_turn(call_relu, true);
}

/* Classes of the runtime's get their methods when the first unit is made. */
static Status compile_program(void) {
  static const char source[] =
      "def f(x: torch.Tensor, y: Optional[torch.device]) -> List[torch.Tensor]:\n"
      "    r: List[torch.Tensor] = []\n"
      "    r.append(x)\n"
      "    return r\n";
  wick_module *module;
  wick_error *error = NULL;
  wick_status code = wick_compile(NULL, source, sizeof source - 1, "program.py", &module, &error);
  if (code == WICK_OK) {
    wick_module_release(module);
    return OK;
  }
  Status status =
      code == WICK_OUT_OF_MEMORY ? status_out_of_memory() : status_new(ERROR_COMPILE, "%s", wick_error_message(error));
  wick_error_free(error);
  return status;
}
static void programs(void **state) {
  (void)state;
  refuse_in_turn(compile_program, true);
}

static Status name_class(void) {
  static int number;
  StrBuf name = {0};
  const Type *type = NULL;
  strbuf_printf(&name, "__torch__.torch.classes.short.Class%d", number);
  Status status = name.failed ? status_out_of_memory() : type_native_class(strbuf_view(&name), &type);
  assert_true((status == OK) == (type && type->kind == TYPE_CLASS));
  strbuf_dispose(&name);
  number += status == OK;
  return status;
}
static void classes(void **state) {
  (void)state;
  refuse_in_turn(name_class, true);
  Status status = OK;
  for (int i = 0; i < 10000 && !status; i++) status = name_class();
  assert_non_null(status); /* names come from files: there are not any number */
  assert_int_equal(status->code, ERROR_BUDGET);
  status_free(status);
}

static Status append(void) {
  static List *list;
  if (!list) TRY(list_new(TYPE(INT), 1, &list));
  IValue values[] = {ivalue_list(list), ivalue_int(1)};
  CallValues call = {.count = 2, .values = values};
  MatchedCall matched;
  TRY(operator_match_values(STR("aten::append"), NULL, &call, &matched));
  matched_call_dispose(&matched);
  return OK;
}
static void type_variables(void **state) {
  (void)state;
  refuse_in_turn(append, true);
}

/* A node whose operator's schema has not been read yet: what has effects stays, or nothing is done. */
static IrText program;
static int64_t refused, left; /* the allocation that is; how many were to come until then */
static void eliminate(void *argument) {
  (void)argument;
  dead_code_elimination(program.graph);
}
static Status clean_up(void) {
  ir_parse(&program, "graph(%i : int):\n  return (%i)\n");
  Node *node = NULL;
  if (catch_enter(&program.catch_point)) {
    node = graph_create(program.graph, symbol_intern(STR("aten::manual_seed")), 1, program.graph->block->param->outputs,
                        0);
    graph_insert_node(program.graph, node);
  }
  assert_null(program.catch_point.status);
  mem_fail_after(refused);
  Status status = arena_protect(&program.arena, eliminate, NULL);
  left = mem_fail_left();
  mem_fail_after(0);
  assert_ptr_equal(program.graph->block->param->next, node);
  ir_dispose(&program);
  return status;
}
static void effects(void **state) {
  (void)state;
  int failed = 0;
  for (refused = 1, left = 0; left <= 0; refused++) {
    Status status = clean_up();
    if (status) assert_int_equal(status->code, ERROR_OUT_OF_MEMORY);
    failed += status != OK;
    status_free(status);
  }
  assert_true(failed > 0);
}

/* Of a type so deep that what is known of its parts is remembered. */
static void instances(void **state) {
  (void)state;
  const Type *type = TYPE(INT);
  IValue value = ivalue_int(1);
  for (int i = 0; i < 6; i++) {
    Tuple *tuple;
    assert_null(tuple_new(1, NULL, &tuple));
    tuple->values[0] = value;
    value = ivalue_tuple(tuple);
    type = type_tuple(type_store_process(), 1, &type);
  }
  for (int64_t n = 1; n < 10; n++) {
    mem_fail_after(n);
    bool is = ivalue_is_instance(value, type);
    mem_fail_after(0);
    assert_true(is);
  }
  ivalue_release(value);
}

static IValue pair_of_pairs(int64_t last) {
  IValue pairs[2];
  Tuple *outer;
  for (int i = 0; i < 2; i++) {
    Tuple *inner;
    assert_null(tuple_new(2, NULL, &inner));
    inner->values[0] = ivalue_int(1);
    inner->values[1] = ivalue_int(i ? last : 2);
    pairs[i] = ivalue_tuple(inner);
  }
  assert_null(tuple_new(2, NULL, &outer));
  memcpy(outer->values, pairs, sizeof pairs);
  return ivalue_tuple(outer);
}
static IValue key, same_key, other_key;
static Dict *dict;
static Status compare_keys(void) {
  bool same, other;
  TRY(ivalue_equal(key, same_key, &same, NULL));
  TRY(ivalue_equal(key, other_key, &other, NULL));
  assert_true(same && !other);
  return OK;
}
static Status find_keys(void) {
  bool same, other;
  TRY(dict_get(dict, same_key, NULL, &same));
  TRY(dict_get(dict, other_key, NULL, &other));
  assert_true(same && !other);
  return OK;
}
static Status replace_key(void) {
  TRY(dict_set(dict, ivalue_retain(same_key), ivalue_int(2)));
  assert_int_equal(dict->live, 1);
  return OK;
}
static Status remove_key(void) {
  bool found;
  TRY(dict_remove(dict, same_key, NULL, &found));
  assert_true(found);
  return OK;
}
static void keys(void **state) {
  (void)state;
  key = pair_of_pairs(3);
  same_key = pair_of_pairs(3);
  other_key = pair_of_pairs(4);
  assert_null(dict_new(TYPE(ANY), TYPE(INT), &dict));
  assert_null(dict_set(dict, ivalue_retain(key), ivalue_int(1)));
  assert_true(refuse_in_turn(compare_keys, true) > 0);
  assert_true(refuse_in_turn(find_keys, true) > 0);
  assert_true(refuse_in_turn(replace_key, true) > 0);
  assert_true(refuse_in_turn(remove_key, true) > 0);
  ivalue_release(ivalue_dict(dict));
  ivalue_release(key);
  ivalue_release(same_key);
  ivalue_release(other_key);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(first_look_up), cmocka_unit_test(programs),
                                     cmocka_unit_test(classes),       cmocka_unit_test(type_variables),
                                     cmocka_unit_test(effects),       cmocka_unit_test(instances),
                                     cmocka_unit_test(keys)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
