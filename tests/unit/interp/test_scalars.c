/* Each row of ivalue/scalar.h has an instruction, and gives with it what the operator's kernel gives: values to the bit
 * and errors, of operands from everywhere in their type. Comparisons do so as conditions of branches and loops too. */
#include "ir_fixture.h"

#include "interp/task.h"
#include "ivalue/scalar.h"

typedef struct Row {
  const char *name, *symbol, *operand, *result;
  uint32_t count;
  Opcode op, branch;
} Row;

/* clang-format off */
#define UNARY(X, name, symbol, operand, result, value) {#name, #symbol, #operand, #result, 1, INST_##name, INST_JMP},
#define BINARY(X, name, symbol, operand, result, raises, value) \
  {#name, #symbol, #operand, #result, 2, INST_##name, INST_JMP},
#define COMPARISON(X, name, symbol, turned, operand, value) \
  {#name, #symbol, #operand, "BOOL", 2, INST_##name, INST_JF_##name}, \
  {#name, #turned, #operand, "BOOL", 2, INST_##name, INST_JF_##name},
static const Row rows[] = {
  SCALAR_ARITHMETIC(BINARY, )
  SCALAR_INT_COMPARISONS(COMPARISON, )
  SCALAR_FLOAT_COMPARISONS(COMPARISON, )
  SCALAR_UNARY(UNARY, )
};
/* clang-format on */

static const int64_t ints[] = {0,         1,          -1,        2,         -2,        7,         -7,
                               INT32_MAX, UINT32_MAX, INT32_MIN, 1ll << 40, INT64_MAX, INT64_MIN, INT64_MIN + 1};
static const double floats[] = {0.,
                                -0.,
                                1.,
                                -1.,
                                0.5,
                                -2.5,
                                3.7,
                                1e300,
                                -1e300,
                                0x1p63,
                                -0x1p63,
                                __builtin_inf(),
                                -__builtin_inf(),
                                __builtin_nan("")};
enum { VALUES = sizeof ints / sizeof *ints };
_Static_assert(VALUES == sizeof floats / sizeof *floats, "as many of each");

static IValue operand(const Row *row, int i) {
  switch (*row->operand) {
    case 'I':
      return ivalue_int(ints[i]);
    case 'F':
      return ivalue_float(floats[i]);
    default:
      return ivalue_bool(i & 1);
  }
}

static void type_name(const char *token, char *out) {
  for (; *token; token++) *out++ = (char)(*token - 'A' + 'a');
  *out = 0;
}

/* "aten_add" is aten::add. */
static void operator_name(const Row *row, char *out) {
  size_t space = strchr(row->symbol, '_') - row->symbol;
  sprintf(out, "%.*s::%s", (int)space, row->symbol, row->symbol + space + 1);
}

typedef struct Outcome {
  IValue value;
  char error[120];
} Outcome;

static void set_error(Outcome *outcome, Status status) {
  outcome->error[0] = 0;
  if (!status) return;
  outcome->value = IVALUE_NONE;
  snprintf(outcome->error, sizeof outcome->error, "%s", status->message);
  status_free(status);
}

static void check_same(const Row *row, const Outcome *a, const Outcome *b) {
  if (strcmp(a->error, b->error) != 0 || a->value.tag != b->value.tag ||
      memcmp(&a->value.i, &b->value.i, a->value.tag == TAG_BOOL ? 1 : 8) != 0)
    fail_msg("%s (%s): %s%lld, and %s%lld", row->name, row->symbol, a->error, (long long)a->value.i, b->error,
             (long long)b->value.i);
}

static bool has_instruction(const Code *code, Opcode op) {
  for (uint32_t i = 0; i < code->instruction_count; i++)
    if (code->instructions[i].op == op) return true;
  return false;
}

typedef struct Program {
  IrText ir;
  Code *code;
} Program;

static void program_begin(Program *p, const char *text, Opcode op) {
  ir_parse(&p->ir, text);
  assert_null(graph_lint(p->ir.graph));
  assert_null(code_compile(p->ir.graph, STR("test"), &p->code));
  if (!has_instruction(p->code, op)) fail_msg("no instruction of its own: %s", text);
}
static void program_end(Program *p) {
  code_free(p->code);
  ir_dispose(&p->ir);
}
static void program_run(Exec *exec, const Program *p, const IValue *operands, uint32_t count, Outcome *out) {
  IValue copies[] = {operands[0], operands[1]};
  set_error(out, interp_run(exec, p->code, copies, count, &out->value, 1));
}

static void parameters(const Row *row, char *out) {
  char type[10];
  type_name(row->operand, type);
  out += sprintf(out, "graph(%%x : %s", type);
  if (row->count == 2) out += sprintf(out, ", %%y : %s", type);
  sprintf(out, "):\n");
}

static void each_pair(const Row *row, void (*check)(const Row *row, const IValue *operands, void *argument),
                      void *argument) {
  for (int i = 0; i < VALUES; i++)
    for (int k = 0; k < (row->count == 2 ? VALUES : 1); k++)
      check(row, (IValue[]){operand(row, i), operand(row, k)}, argument);
}

typedef struct Ways {
  Exec exec;
  Program program;
  const Operator *op;
} Ways;

static void compare_with_kernel(const Row *row, const IValue *operands, void *argument) {
  Ways *ways = argument;
  Outcome instruction, kernel = {0};
  OpRef ref = {NULL, NULL, ways->op};
  program_run(&ways->exec, &ways->program, operands, row->count, &instruction);
  set_error(&kernel, op_call(&ways->exec, &ref, row->count, operands, 1, &kernel.value));
  check_same(row, &instruction, &kernel);
}

static void test_kernels_agree(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const Row *row = &rows[i];
    char head[64], name[40], result[10], text[300];
    Ways ways;
    parameters(row, head);
    operator_name(row, name);
    type_name(row->result, result);
    sprintf(text, "%s  %%r : %s = %s(%%x%s)\n  return (%%r)\n", head, result, name, row->count == 2 ? ", %y" : "");
    exec_init(&ways.exec, NULL);
    program_begin(&ways.program, text, row->op);
    ways.op = node_operator(ways.program.ir.graph->block->param->next);
    assert_non_null(ways.op);
    each_pair(row, compare_with_kernel, &ways);
    program_end(&ways.program);
  }
}

/* A branch and a loop give 3 where the comparison holds, and 0. */
static void compare_with_value(const Row *row, const IValue *operands, void *argument) {
  Ways *ways = argument;
  Outcome condition, value;
  program_run(&ways[0].exec, &ways[0].program, operands, 2, &condition);
  program_run(&ways[1].exec, &ways[1].program, operands, 2, &value);
  value.value = ivalue_int(value.value.b ? 3 : 0);
  check_same(row, &condition, &value);
}

static void check_condition(const Row *row, const char *text, Opcode op) {
  char head[64], name[40], whole[900], plain[300];
  Ways ways[2];
  parameters(row, head);
  operator_name(row, name);
  snprintf(whole, sizeof whole, text, head, name, name);
  snprintf(plain, sizeof plain, "%s  %%r : bool = %s(%%x, %%y)\n  return (%%r)\n", head, name);
  for (int i = 0; i < 2; i++) exec_init(&ways[i].exec, NULL);
  program_begin(&ways[0].program, whole, op);
  program_begin(&ways[1].program, plain, row->op);
  each_pair(row, compare_with_value, ways);
  for (int i = 0; i < 2; i++) program_end(&ways[i].program);
}

static void test_conditions_agree(void **state) {
  (void)state;
  static const char branch[] =
      "%s  %%three : int = prim::Constant[value=3]()\n"
      "  %%zero : int = prim::Constant[value=0]()\n"
      "  %%c : bool = %s(%%x, %%y)\n"
      "  %%r : int = prim::If(%%c)\n"
      "    block0():\n"
      "      -> (%%three)\n"
      "    block1():\n"
      "      -> (%%zero)\n"
      "  return (%%r)\n";
  static const char loop[] =
      "%s  %%most : int = prim::Constant[value=3]()\n"
      "  %%one : int = prim::Constant[value=1]()\n"
      "  %%zero : int = prim::Constant[value=0]()\n"
      "  %%c : bool = %s(%%x, %%y)\n"
      "  %%r : int = prim::Loop(%%most, %%c, %%zero)\n"
      "    block0(%%i : int, %%n : int):\n"
      "      %%m : int = aten::add(%%n, %%one)\n"
      "      %%again : bool = %s(%%x, %%y)\n"
      "      -> (%%again, %%m)\n"
      "  return (%%r)\n";
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].branch == INST_JMP) continue;
    check_condition(&rows[i], branch, rows[i].branch);
    check_condition(&rows[i], loop, rows[i].op);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_kernels_agree), cmocka_unit_test(test_conditions_agree)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
