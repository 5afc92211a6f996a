/* Every parameter of every schema in the registry is given each kind of value through the three doors: by its type, as
 * in a program (ir/match.h), and by value, as argument of an operator (call/match.h) and of a function
 * (api/arguments.h). All take it or all refuse it, but for the differences named below: programs know types and no
 * values, and PyTorch lets Python's values through that its programs refuse. An operator that is added is in here by
 * itself. */
#include "ir_fixture.h"

#include "api/arguments.h"
#include "base/stack.h"
#include "ir/ir_internal.h"
#include "ir/match.h"
#include "schema/bind.h"

/* ---- values, and what a program calls their types ---- */

typedef enum Kind {
  A_NONE,
  A_BOOL,
  AN_INT,
  A_FLOAT,
  A_COMPLEX,
  A_STRING,
  A_DEVICE,
  A_TENSOR,      /* of six elements */
  A_ONE_ELEMENT, /* a tensor of one */
  INTS,
  FLOATS,
  BOOLS,
  STRINGS,
  TENSORS,
  TENSORS_OF_ONE,
  INT_PAIR,
  MIXED_PAIR, /* (int, float) */
  TENSOR_PAIR,
  A_DICT, /* of str and int */
  KIND_COUNT
} Kind;
static const char *const kind_names[KIND_COUNT] = {"None",          "bool",         "int",
                                                   "float",         "complex",      "str",
                                                   "Device",        "Tensor",       "Tensor of one",
                                                   "int[]",         "float[]",      "bool[]",
                                                   "str[]",         "Tensor[]",     "Tensor[] of one",
                                                   "(int, int)",    "(int, float)", "(Tensor, Tensor)",
                                                   "Dict(str, int)"};

static struct {
  IValue value;
  const Type *type;
} samples[KIND_COUNT];

static IValue a_tensor(int64_t count) {
  Tensor *t;
  assert_null(tensor_empty(DTYPE_FLOAT32, 1, &count, &t));
  for (int64_t i = 0; i < count; i++) ((float *)tensor_data(t))[i] = 2;
  return ivalue_tensor(t);
}
static IValue a_list(const Type *element, IValue item) {
  List *list;
  assert_null(list_new(element, 2, &list));
  for (int i = 0; i < 2; i++) assert_null(list_append(list, ivalue_retain(item)));
  return ivalue_list(list);
}
static IValue a_pair(IValue first, IValue second) {
  Tuple *tuple;
  assert_null(tuple_new(2, NULL, &tuple));
  tuple->values[0] = ivalue_retain(first), tuple->values[1] = ivalue_retain(second);
  return ivalue_tuple(tuple);
}

static int setup(void **state) {
  (void)state;
  IValue text, imaginary;
  Dict *dict;
  assert_null(ivalue_from_str(STR("cpu"), &text)); /* which is a device, too */
  assert_null(ivalue_from_complex(1 + 2i, &imaginary));
  assert_null(dict_new(TYPE(STRING), TYPE(INT), &dict));
  assert_null(dict_set(dict, ivalue_retain(text), ivalue_int(1)));
  IValue six = a_tensor(6), one = a_tensor(1), i = ivalue_int(3), f = ivalue_float(2.5);
  IValue values[KIND_COUNT] = {IVALUE_NONE,
                               ivalue_bool(true),
                               i,
                               f,
                               imaginary,
                               text,
                               ivalue_device((Device){0}),
                               six,
                               one,
                               a_list(TYPE(INT), i),
                               a_list(TYPE(FLOAT), f),
                               a_list(TYPE(BOOL), ivalue_bool(true)),
                               a_list(TYPE(STRING), text),
                               a_list(TYPE(TENSOR), six),
                               a_list(TYPE(TENSOR), one),
                               a_pair(i, i),
                               a_pair(i, f),
                               a_pair(six, six),
                               ivalue_dict(dict)};
  for (int k = 0; k < KIND_COUNT; k++) {
    samples[k].value = values[k];
    samples[k].type = ivalue_type(values[k], type_store_process());
  }
  return 0;
}
static int teardown(void **state) {
  (void)state;
  for (int k = 0; k < KIND_COUNT; k++) ivalue_release(samples[k].value);
  return 0;
}

/* ---- where a program and Python differ ---- */

typedef struct Case {
  Kind kind;
  const Argument *argument;
  const Type *type; /* the parameter's, Optional taken off */
  const Type *item; /* of a list, dict or tuple; else the type itself */
  bool is_last_list;
} Case;

static bool is_number_kind(Kind k) {
  return k == A_BOOL || k == AN_INT || k == A_FLOAT || k == A_COMPLEX;
}
static bool is_container_kind(Kind k) {
  return k >= INTS;
}
static bool is_number_type(const Type *t) {
  return t->kind == TYPE_INT || t->kind == TYPE_FLOAT || t->kind == TYPE_BOOL || t->kind == TYPE_COMPLEX ||
         t->kind == TYPE_NUMBER;
}

static bool python_numbers(const Case *c) {
  return is_number_kind(c->kind) && is_number_type(c->type);
}
static bool none_is_false(const Case *c) {
  return c->kind == A_NONE && c->type->kind == TYPE_BOOL;
}
static bool bool_is_repeated(const Case *c) {
  return c->kind == A_BOOL && argument_repeats(c->argument, TYPE_INT);
}
static bool tensors_are_bools(const Case *c) {
  return c->kind == A_ONE_ELEMENT && c->type->kind == TYPE_BOOL;
}
static bool python_containers(const Case *c) {
  return is_container_kind(c->kind) &&
         (c->type->kind == TYPE_LIST || c->type->kind == TYPE_TUPLE || c->type->kind == TYPE_DICT);
}
static bool python_trailing(const Case *c) {
  return c->is_last_list && (is_number_kind(c->kind) || c->kind == A_ONE_ELEMENT || c->kind == A_NONE) &&
         is_number_type(c->item);
}
static bool elements_unknown(const Case *c) {
  return c->kind == A_TENSOR && is_number_type(c->type) && c->type->kind != TYPE_BOOL;
}
static bool trailing_elements_unknown(const Case *c) {
  return c->kind == A_TENSOR && c->is_last_list && is_number_type(c->item);
}
static bool scalar_of_tensor(const Case *c) {
  return c->kind == A_ONE_ELEMENT &&
         (c->type->kind == TYPE_NUMBER || (c->is_last_list && c->item->kind == TYPE_NUMBER));
}
typedef struct Difference {
  const char *why;
  bool (*holds)(const Case *c);
  bool program_takes; /* else values are taken */
  int seen;
} Difference;
static Difference differences[] = {
    {"Python's bools are ints, ints floats, all numbers complex, true or false, and Scalars", python_numbers, false, 0},
    {"None is false", none_is_false, false, 0},
    {"a bool is an int that is repeated", bool_is_repeated, false, 0},
    {"a tensor of one element is true or false", tensors_are_bools, false, 0},
    {"lists and tuples of Python's have elements of no type, each is converted", python_containers, false, 0},
    {"what comes last is converted as elements are", python_trailing, false, 0},
    {"programs convert any tensor to a number, and fail when it has several elements", elements_unknown, true, 0},
    {"the same, as the last list's only element", trailing_elements_unknown, true, 0},
    {"a program makes a Scalar of a tensor, Python's side does not", scalar_of_tensor, true, 0},
};
enum { DIFFERENCE_COUNT = sizeof differences / sizeof *differences };

static bool is_known(const Case *c, bool program_takes) {
  for (int i = 0; i < DIFFERENCE_COUNT; i++)
    if (differences[i].program_takes == program_takes && differences[i].holds(c)) return ++differences[i].seen;
  return false;
}

/* ---- the doors ---- */

static bool program_takes(IrText *ir, const FunctionSchema *schema, Kind kind) {
  Node *last = ir->graph->insert_before->prev;
  NamedValue given = {.value = graph_add_input(ir->graph, STR(""), samples[kind].type)};
  MatchedSchema matched;
  bool takes = false;
  if (catch_enter(&ir->catch_point))
    takes = schema_try_match(ir->graph, schema, (SourceRange){0}, &(CallArguments){.count = 1, .positional = &given},
                             true, NULL, &matched);
  status_free(ir->catch_point.status);
  ir->catch_point.status = OK;
  while (ir->graph->insert_before->prev != last) node_destroy(ir->graph->insert_before->prev);
  return takes;
}

static bool operator_takes(const FunctionSchema *schema, Kind kind) {
  ConvertRules rules = {.allowed = CONVERT_ANYTHING, .makes_tensors = true};
  CallValues call = {.count = 1, .values = &samples[kind].value};
  IValue out[2];
  uint32_t count;
  bool takes;
  assert_null(schema_match_values(schema, &call, &rules, 2, out, &count, &takes, NULL));
  if (takes) ivalue_release(out[0]);
  return takes;
}

static bool function_takes(const FunctionSchema *schema, Kind kind) {
  CallValues call = {.count = 1, .values = &samples[kind].value};
  IValue out[2];
  Status status = arguments_match(schema, &call, out);
  if (status) assert_int_equal(status->code, ERROR_INVALID_ARGUMENT);
  bool takes = status == OK;
  if (takes) ivalue_release(out[0]);
  status_free(status);
  return takes;
}

/* C has no operators of Python's, which take numbers and tensors alike: wick_op_call makes tensors of numbers, also in
 * lists of tensors. */
static bool is_tensor_of_number(const Case *c) {
  bool holds_numbers = is_number_kind(c->kind) || c->kind == INTS || c->kind == FLOATS || c->kind == BOOLS ||
                       c->kind == INT_PAIR || c->kind == MIXED_PAIR;
  return holds_numbers && c->item->kind == TYPE_TENSOR;
}

/* An operator that writes to a list writes to the caller's. */
static bool is_written(const Case *c) {
  return c->argument->alias && c->argument->alias->is_write;
}

static const Type *without_optional(const Type *type) {
  return type->kind == TYPE_OPTIONAL ? type->elements[0] : type;
}

static int compare(IrText *ir, const FunctionSchema *schema, const Argument *argument, bool is_last) {
  /* its neighbors are tested on their own; whether any is behind it decides what it takes */
  Argument arguments[] = {
      *argument, {.name = STR("behind"), .type = TYPE(INT), .has_default = true, .default_value = ivalue_int(0)}};
  arguments[0].kwarg_only = false;
  FunctionSchema one = *schema;
  one.is_vararg = false;
  one.arguments = arguments;
  one.argument_count = is_last ? 1 : 2;
  one.return_count = 0;
  int wrong = 0;
  for (int k = 0; k < KIND_COUNT; k++) {
    Case c = {.kind = (Kind)k, .argument = argument, .type = without_optional(argument->type)};
    bool has_items = c.type->kind == TYPE_LIST || c.type->kind == TYPE_DICT || c.type->kind == TYPE_TUPLE;
    c.item = has_items && c.type->count ? without_optional(c.type->elements[c.type->count - 1]) : c.type;
    c.is_last_list = argument_takes_remaining(&one, 0);
    arguments[0].alias = argument->alias;
    bool program = program_takes(ir, &one, c.kind), op = operator_takes(&one, c.kind);
    arguments[0].alias = NULL; /* functions' parameters have none */
    bool function = function_takes(&one, c.kind);
    /* a function's last list is one argument as any, an operator's takes all that remain */
    bool takes_remaining = op && c.is_last_list && !is_tensor_of_number(&c);
    if (op != function && !takes_remaining && !(op && is_tensor_of_number(&c)) && !(function && is_written(&c)))
      wrong++;
    else if (program != (function || takes_remaining) && !is_known(&c, program))
      wrong++;
    else
      continue;
    if (wrong > 3) continue;
    StrBuf text = {0};
    type_print(argument->type, &text);
    print_error("%.*s.%.*s, %.*s: %.*s of %s: program %d, operator %d, function %d\n", STR_ARG(schema->name),
                STR_ARG(schema->overload_name), STR_ARG(argument->name), STR_ARG(strbuf_view(&text)), kind_names[k],
                program, op, function);
    strbuf_dispose(&text);
  }
  return wrong;
}

static void doors_agree(void **state) {
  (void)state;
  int wrong = 0, count = 0;
  for (const Operator *op = operator_next(NULL); op; op = operator_next(op)) {
    const FunctionSchema *schema = operator_schema(op);
    assert_null(operator_schema_status(schema));
    if (schema->is_blocked) continue; /* programs do not see it */
    IrText ir;
    ir_parse(&ir, "graph():\n  return ()\n");
    for (uint32_t i = 0; i < schema->argument_count && wrong < 40; i++, count++)
      wrong += compare(&ir, schema, &schema->arguments[i], argument_takes_remaining(schema, i));
    ir_dispose(&ir);
  }
  assert_true(count > 5000);
  assert_int_equal(wrong, 0);
  for (int i = 0; i < DIFFERENCE_COUNT; i++)
    if (!differences[i].seen) fail_msg("no longer: %s", differences[i].why);
}

/* Calls until the stack is used up, and then takes the argument. */
static Status take_on_low_stack(const FunctionSchema *schema, const CallValues *call, IValue *out, int depth) {
  volatile char frame[4096] = {(char)depth};
  Status status = STACK_IS_LOW() ? arguments_match(schema, call, out) : take_on_low_stack(schema, call, out, depth + 1);
  return frame[0] == (char)depth ? status : NULL; /* the frame stays until here */
}

/* What goes wrong while a value is taken names the argument. */
static void errors_name_the_argument(void **state) {
  (void)state;
  Argument argument = {.name = STR("scale"), .type = TYPE(FLOAT)};
  FunctionSchema schema = {.name = STR("f"), .arguments = &argument, .argument_count = 1};
  CallValues call = {.count = 1, .values = &samples[0].value};
  IValue out[1];
  Status status = take_on_low_stack(&schema, &call, out, 0);
  assert_non_null(status);
  assert_string_equal(status->message, "argument 'scale': calls are nested too deeply, the stack is used up");
  status_free(status);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(doors_agree), cmocka_unit_test(errors_name_the_argument)};
  return cmocka_run_group_tests(tests, setup, teardown);
}
