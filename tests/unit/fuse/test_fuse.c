/* fuse: groups give the bits of their operators, whatever the inputs; what the pass makes of graphs is in
 * tests/pass/graph_fuser.ir. */
#include "fuse_fixture.h"

#include "fuse/kept_shapes.h"

#include <stdlib.h>

/* ---- random programs ---- */

/* One letter each: t a tensor, n a number, or text that stands as it is. */
static const char *const templates[] = {"aten::relu(t)",
                                        "aten::sigmoid(t)",
                                        "aten::tanh(t)",
                                        "aten::exp(t)",
                                        "aten::neg(t)",
                                        "aten::abs(t)",
                                        "aten::sin(t)",
                                        "aten::sqrt(t)",
                                        "aten::rsqrt(t)",
                                        "aten::log1p(t)",
                                        "aten::floor(t)",
                                        "aten::erf(t)",
                                        "aten::reciprocal(t)",
                                        "aten::logical_not(t)",
                                        "aten::bitwise_not(t)",
                                        "aten::isnan(t)",
                                        "aten::sign(t)",
                                        "aten::square(t)",
                                        "aten::add(t, t, %one)",
                                        "aten::add(t, t, %two)",
                                        "aten::add(t, t, %half)",
                                        "aten::sub(t, t, %one)",
                                        "aten::mul(t, t)",
                                        "aten::mul(t, t)",
                                        "aten::mul(t, t)",
                                        "aten::div(t, t)",
                                        "aten::maximum(t, t)",
                                        "aten::minimum(t, t)",
                                        "aten::eq(t, t)",
                                        "aten::lt(t, t)",
                                        "aten::ge(t, t)",
                                        "aten::logical_and(t, t)",
                                        "aten::bitwise_and(t, t)",
                                        "aten::bitwise_xor(t, t)",
                                        "aten::atan2(t, t)",
                                        "aten::remainder(t, t)",
                                        "aten::fmod(t, t)",
                                        "aten::pow(t, t)",
                                        "aten::add(t, n, %one)",
                                        "aten::add(t, n, %two)",
                                        "aten::sub(t, n, %one)",
                                        "aten::mul(t, n)",
                                        "aten::mul(t, n)",
                                        "aten::div(t, n)",
                                        "aten::gt(t, n)",
                                        "aten::ne(t, n)",
                                        "aten::le(t, n)",
                                        "aten::pow(t, n)",
                                        "aten::clamp(t, n, n)",
                                        "aten::clamp(t, n, %none)",
                                        "aten::where(t, t, t)",
                                        "aten::lerp(t, t, n)",
                                        "aten::leaky_relu(t, n)",
                                        "aten::gelu(t, %erf)",
                                        "aten::gelu(t, %approximate)",
                                        "aten::hardtanh(t, n, n)",
                                        "aten::threshold(t, n, n)",
                                        "aten::softplus(t, n, n)",
                                        "aten::addcmul(t, t, t, n)",
                                        "aten::silu(t)",
                                        "aten::hardswish(t)",
                                        "aten::rsub(t, n, %one)",
                                        "aten::floor_divide(t, t)",
                                        "aten::div(t, t, %trunc)",
                                        "aten::elu(t, n, n, n)",
                                        "aten::logical_xor(t, t)",
                                        "aten::type_as(t, t)",
                                        "aten::fmin(t, t)"};
static const char *const constants[] = {"%one", "%two", "%three", "%minus", "%half", "%tiny", "%zero", "%wrap"};

typedef struct Program {
  StrBuf text;
  uint32_t tensor_inputs, inputs;
  uint32_t values; /* %v0 ... */
} Program;

/* Of an operator whose first argument is a tensor. */
static bool has_inplace_form(const char *template) {
  char name[32];
  size_t length = strcspn(template, "(");
  snprintf(name, sizeof name, "%.*s_", (int)length, template);
  return operator_find(str_from(name)) && template[length + 1] == 't';
}

static void write_program(Program *p, Random *r) {
  StrBuf *out = &p->text;
  p->tensor_inputs = 1 + below(r, 4);
  uint32_t floats = below(r, 4) == 0, ints = below(r, 4) == 0;
  p->inputs = p->tensor_inputs + floats + ints;
  strbuf_puts(out, "graph(");
  for (uint32_t i = 0; i < p->tensor_inputs; i++) strbuf_printf(out, "%s%%v%u : Tensor", i ? ", " : "", i);
  if (floats) strbuf_puts(out, ", %f : float");
  if (ints) strbuf_puts(out, ", %i : int");
  strbuf_puts(out,
              "):\n  %one : int = prim::Constant[value=1]()\n  %two : int = prim::Constant[value=2]()\n"
              "  %three : int = prim::Constant[value=3]()\n  %minus : int = prim::Constant[value=-1]()\n"
              "  %zero : int = prim::Constant[value=0]()\n  %wrap : int = prim::Constant[value=300]()\n"
              "  %half : float = prim::Constant[value=0.5]()\n  %tiny : float = prim::Constant[value=0.1]()\n"
              "  %none : NoneType = prim::Constant()\n"
              "  %erf : str = prim::Constant[value=\"none\"]()\n"
              "  %approximate : str = prim::Constant[value=\"tanh\"]()\n"
              "  %trunc : str = prim::Constant[value=\"trunc\"]()\n");
  p->values = p->tensor_inputs;
  uint32_t steps = 2 + below(r, 14);
  uint32_t unused = 0;
  bool used[64] = {false}, own[64] = {false}; /* own: memory that no input shows */
  for (uint32_t s = 0; s < steps; s++) {
    const char *template = templates[below(r, sizeof templates / sizeof *templates)];
    if (below(r, 12) == 0) { /* cut one, join the pieces' sum */
      uint32_t from = p->values - 1 - below(r, p->values < 4 ? p->values : 4);
      strbuf_printf(out, "  %%a%u : Tensor, %%b%u : Tensor = prim::ConstantChunk[chunks=2, dim=-1](%%v%u)\n", s, s,
                    from);
      strbuf_printf(out, "  %%v%u : Tensor = aten::mul(%%a%u, %%b%u)\n", p->values, s, s);
      used[from] = own[p->values] = true;
      p->values++;
      continue;
    }
    if (below(r, 24) == 0) {
      uint32_t from = p->values - 1 - below(r, p->values < 3 ? p->values : 3);
      strbuf_printf(out, "  %%l%u : Tensor[] = prim::ListConstruct(%%v%u, %%v%u)\n", s, p->values - 1, from);
      strbuf_printf(out, "  %%v%u : Tensor = aten::cat(%%l%u, %%zero)\n", p->values, s);
      used[from] = used[p->values - 1] = own[p->values] = true;
      p->values++;
      continue;
    }
    strbuf_printf(out, "  %%v%u : Tensor = ", p->values);
    bool open = false;
    const char *c = template;
    uint32_t self = p->values - 1 - below(r, p->values < 3 ? p->values : 3);
    if (below(r, 4) == 0 && own[self] && has_inplace_form(template)) {
      open = true;
      used[self] = true;
      for (; *c != '('; c++) strbuf_char(out, *c);
      strbuf_printf(out, "_(%%v%u", self);
      c += 2;
    }
    own[p->values] = !strstr(template, "type_as");
    for (; *c; c++) {
      bool stands = open && (c[1] == ',' || c[1] == ')') && (c[-1] == ' ' || c[-1] == '(');
      open |= *c == '(';
      if (stands && *c == 't') {
        uint32_t from = below(r, 3) ? p->values - 1 - below(r, p->values < 4 ? p->values : 4) : below(r, p->values);
        used[from] = true;
        strbuf_printf(out, "%%v%u", from);
      } else if (stands && *c == 'n') {
        uint32_t which = below(r, 4);
        if (which == 0 && floats)
          strbuf_puts(out, "%f");
        else if (which == 1 && ints)
          strbuf_puts(out, "%i");
        else
          strbuf_puts(out, constants[below(r, sizeof constants / sizeof *constants)]);
      } else {
        strbuf_char(out, *c);
      }
    }
    strbuf_char(out, '\n');
    p->values++;
  }
  strbuf_puts(out, "  return (");
  for (uint32_t i = p->tensor_inputs; i < p->values; i++)
    if (!used[i] || below(r, 6) == 0) strbuf_printf(out, "%s%%v%u", unused++ ? ", " : "", i);
  strbuf_puts(out, ")\n");
}

static void test_random_programs(void **state) {
  (void)state;
  const char *seed = getenv("WICK_TEST_SEED"), *count = getenv("WICK_TEST_COUNT");
  uint64_t first = seed ? strtoull(seed, NULL, 10) : 1;
  uint32_t programs = count ? (uint32_t)strtoul(count, NULL, 10) : 600, groups = 0, fused = 0, refused = 0;
  Exec exec;
  exec_init(&exec, NULL);
  exec.work.threads = 2;
  for (uint32_t p = 0; p < programs; p++) {
    Random r = {(first + p) * 7919};
    next_random(&r);
    Program program = {{0}};
    Pair pair;
    write_program(&program, &r);
    pair_make(&pair, program.text.data);
    groups += pair.group != NULL;
    for (int run = 0; run < 6; run++) {
      IValue inputs[8];
      int64_t sizes[5];
      int ndim = 1 + (int)below(&r, 4);
      for (int i = 0; i < ndim; i++) sizes[i] = 1 + below(&r, 6);
      if (below(&r, 20) == 0) sizes[below(&r, (uint32_t)ndim)] = 0;
      if (below(&r, 12) == 0) sizes[ndim - 1] = 1500 + below(&r, 3000);
      DType common = dtypes[below(&r, sizeof dtypes / sizeof *dtypes)];
      uint32_t i = 0;
      for (; i < program.tensor_inputs; i++) {
        if (run < 2) common = DTYPE_FLOAT32;
        DType dtype = below(&r, 3) || run < 2 ? common : dtypes[below(&r, sizeof dtypes / sizeof *dtypes)];
        inputs[i] = ivalue_tensor(run == 0 ? dense(dtype, ndim, sizes, &r) : some_tensor(dtype, ndim, sizes, &r));
        if (below(&r, 60) == 0) {
          ivalue_release(inputs[i]);
          inputs[i] = ivalue_tensor(tensor_undefined());
        }
      }
      for (; i < program.inputs; i++) {
        bool is_float = i == program.tensor_inputs && strstr(program.text.data, "%f : float");
        inputs[i] = is_float ? ivalue_float(below(&r, 3) ? 1.5 : 1.0) : ivalue_int((int64_t)below(&r, 5) - 1);
      }
      check_run(&pair, &exec, program.text.data, inputs);
      for (i = 0; i < program.inputs; i++) ivalue_release(inputs[i]);
    }
    if (pair.group) {
      fused += (uint32_t)pair.group->runs;
      for (int i = 0; i < FUSE_REFUSAL_COUNT; i++) refused += (uint32_t)pair.group->refusals[i];
    }
    pair_dispose(&pair);
    strbuf_dispose(&program.text);
  }
  print_message("%u programs, %u with groups: %u runs fused, %u operator by operator\n", programs, groups, fused,
                refused);
  assert_true(fused > programs); /* most others fail under the operators too */
}

/* ---- cases of their own ---- */

static const char lstm[] =
    "graph(%a : Float(*, *), %b : Float(*), %c : Float(*, *)):\n"
    "  %one : int = prim::Constant[value=1]()\n"
    "  %g : Tensor = aten::add(%a, %b, %one)\n"
    "  %1 : Tensor, %2 : Tensor, %3 : Tensor, %4 : Tensor = prim::ConstantChunk[chunks=4, dim=1](%g)\n"
    "  %5 : Tensor = aten::sigmoid(%1)\n  %6 : Tensor = aten::sigmoid(%2)\n"
    "  %7 : Tensor = aten::tanh(%3)\n  %8 : Tensor = aten::sigmoid(%4)\n"
    "  %9 : Tensor = aten::mul(%6, %c)\n  %10 : Tensor = aten::mul(%5, %7)\n"
    "  %11 : Tensor = aten::add(%9, %10, %one)\n  %12 : Tensor = aten::tanh(%11)\n"
    "  %13 : Tensor = aten::mul(%8, %12)\n  return (%13, %11)\n";

static void test_lstm_cell(void **state) {
  (void)state;
  Pair pair;
  Exec exec;
  exec_init(&exec, NULL);
  exec.work.threads = 2;
  pair_make(&pair, lstm);
  assert_non_null(pair.group);
  assert_int_equal(pair.group->piece_count, 8);
  static const int64_t rows[] = {1, 3, 64};
  for (int i = 0; i < 3; i++) {
    int64_t gates[] = {rows[i], 4 * 50}, bias[] = {4 * 50}, cell[] = {rows[i], 50};
    IValue inputs[] = {tensor_of(DTYPE_FLOAT32, 2, gates, 1), tensor_of(DTYPE_FLOAT32, 1, bias, 2),
                       tensor_of(DTYPE_FLOAT32, 2, cell, 3)};
    check_run(&pair, &exec, lstm, inputs);
    for (int k = 0; k < 3; k++) ivalue_release(inputs[k]);
  }
  assert_int_equal(pair.group->runs, 3);
  pair_dispose(&pair);
}

/* Operands whose sizes, strides and dtypes change from run to run, or stay, or do not fit: what is kept of one run's
 * results serves operands of the same looks alone. */
static void test_kept_shapes(void **state) {
  (void)state;
  static const char text[] =
      "graph(%a : Tensor, %b : Tensor):\n  %dim : int = prim::Constant[value=0]()\n"
      "  %x : Tensor = aten::mul(%a, %b)\n  %y : Tensor = aten::relu(%x)\n"
      "  %l : Tensor[] = prim::ListConstruct(%x, %y)\n  %z : Tensor = aten::cat(%l, %dim)\n  return (%z, %y)\n";
  Pair pair;
  Exec exec;
  exec_init(&exec, NULL);
  exec.work.threads = 1;
  pair_make(&pair, text);
  assert_non_null(pair.group);
  int64_t whole[] = {3, 50}, turned[] = {50, 3}, row[] = {50}, fewer[] = {3, 20}, short_row[] = {20}, none[] = {7};
  IValue a = tensor_of(DTYPE_FLOAT32, 2, whole, 1), b = tensor_of(DTYPE_FLOAT32, 1, row, 2);
  IValue small = tensor_of(DTYPE_FLOAT32, 2, fewer, 3), short_b = tensor_of(DTYPE_FLOAT32, 1, short_row, 4);
  IValue wide = tensor_of(DTYPE_FLOAT64, 2, whole, 5), below = tensor_of(DTYPE_FLOAT32, 2, turned, 6);
  IValue odd = tensor_of(DTYPE_FLOAT32, 1, none, 7);
  Tensor *columns;
  assert_null(tensor_transpose(below.tensor, 0, 1, &columns));
  IValue strided = ivalue_tensor(columns);
  IValue runs[][2] = {{a, b}, {a, b},    {small, short_b}, {a, b},       {strided, b}, {a, b},
                      {b, a}, {wide, b}, {strided, b},     {strided, b}, {wide, b},    {a, b}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    FuseShapes *before = pair.group->shapes;
    check_run(&pair, &exec, text, runs[i]);
    assert_true(pair.group->shapes->is_filled);
    assert_true(!before || before == pair.group->shapes);
  }
  check_run(&pair, &exec, text, (IValue[]){a, odd});
  assert_int_equal(pair.group->refusals[FUSE_SHAPE], 1);
  assert_false(pair.group->shapes->is_filled);
  check_run(&pair, &exec, text, runs[0]);
  /* what a run has is not there for others */
  FuseShapes *taken = fuse_shapes_take(pair.group);
  check_run(&pair, &exec, text, runs[1]);
  assert_ptr_not_equal(pair.group->shapes, taken);
  fuse_shapes_give_back(pair.group, taken);
  check_run(&pair, &exec, text, runs[2]);
  IValue all[] = {a, b, small, short_b, wide, below, odd, strided};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ivalue_release(all[i]);
  pair_dispose(&pair);
}

static void test_refusals(void **state) {
  (void)state;
  static const char text[] =
      "graph(%a : Tensor, %b : Tensor):\n  %x : Tensor = aten::mul(%a, %b)\n"
      "  %y : Tensor = aten::floor_divide(%x, %b)\n  %z : Tensor = aten::relu(%y)\n  return (%z)\n";
  Pair pair;
  Exec exec;
  exec_init(&exec, NULL);
  exec.work.threads = 1;
  pair_make(&pair, text);
  FuseGroup *group = pair.group;
  assert_non_null(group);
  int64_t sizes[] = {4}, others[] = {3}, many[] = {1, 1, 1, 1, 1, 4};
  IValue a = tensor_of(DTYPE_FLOAT32, 1, sizes, 1), b = tensor_of(DTYPE_FLOAT32, 1, sizes, 2);
  IValue c = tensor_of(DTYPE_FLOAT32, 1, others, 3), d = tensor_of(DTYPE_FLOAT32, 6, many, 4);
  IValue none = ivalue_tensor(tensor_undefined());
  check_run(&pair, &exec, text, (IValue[]){a, b});
  assert_int_equal(group->runs, 1);
  check_run(&pair, &exec, text, (IValue[]){a, c});
  assert_int_equal(group->refusals[FUSE_SHAPE], 1);
  check_run(&pair, &exec, text, (IValue[]){a, d});
  assert_int_equal(group->refusals[FUSE_RANK], 1);
  check_run(&pair, &exec, text, (IValue[]){a, none});
  assert_int_equal(group->refusals[FUSE_KIND], 1);
  exec.backend = BACKEND_NONE;
  check_run(&pair, &exec, text, (IValue[]){a, b});
  assert_int_equal(group->refusals[FUSE_SWITCHED_OFF], 1);
  fuse_set(runtime_of_process(), DEVICE_CPU, BACKEND_NONE);
  exec.backend = BACKEND_DEFAULT;
  check_run(&pair, &exec, text, (IValue[]){a, b});
  assert_int_equal(group->refusals[FUSE_SWITCHED_OFF], 2);
  exec.backend = BACKEND_TILE; /* the call's goes first */
  check_run(&pair, &exec, text, (IValue[]){a, b});
  assert_int_equal(group->runs, 2);
  fuse_set_enabled(BACKEND_TILE, false);
  check_run(&pair, &exec, text, (IValue[]){a, b});
  assert_int_equal(group->refusals[FUSE_SWITCHED_OFF], 3);
  fuse_set_enabled(BACKEND_TILE, true);
  fuse_set(runtime_of_process(), DEVICE_CPU, BACKEND_DEFAULT);
  exec.backend = BACKEND_DEFAULT;
  a.tensor->flags |= TENSOR_REQUIRES_GRAD; /* nobody records here: what matters is that the group does not run */
  exec.grad_enabled = true;
  check_run(&pair, &exec, text, (IValue[]){a, b});
  assert_int_equal(group->refusals[FUSE_GRADIENT], 1);
  a.tensor->flags &= ~(uint32_t)TENSOR_REQUIRES_GRAD;
  pair_dispose(&pair);
  pair_make(&pair, text); /* for other dtypes, in a build where a group keeps one kind of kernels */
  group = pair.group;
  IValue whole = tensor_of(DTYPE_INT64, 1, sizes, 5), zero = tensor_of(DTYPE_INT64, 1, sizes, 6);
  memset(tensor_data(zero.tensor), 0, sizeof(int64_t) * 4);
  check_run(&pair, &exec, text, (IValue[]){whole, zero}); /* the error of the operator that divides */
  assert_int_equal(group->refusals[FUSE_FAILED], 1);
  IValue all[] = {a, b, c, d, none, whole, zero};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) ivalue_release(all[i]);
  pair_dispose(&pair);
}

/* More kinds of inputs than a group keeps kernels for: the rest runs operator by operator. */
static void test_bounded_cache(void **state) {
  (void)state;
  static const char text[] =
      "graph(%a : Tensor, %b : Tensor):\n  %x : Tensor = aten::mul(%a, %b)\n"
      "  %z : Tensor = aten::mul(%x, %a)\n  return (%z)\n";
  Pair pair;
  Exec exec;
  exec_init(&exec, NULL);
  pair_make(&pair, text);
  int64_t sizes[] = {3};
  for (int i = 0; i < 100; i++) {
    IValue inputs[] = {tensor_of(dtypes[2 + i % 10], 1, sizes, 1), tensor_of(dtypes[2 + i / 10], 1, sizes, 2)};
    check_run(&pair, &exec, text, inputs);
    for (int k = 0; k < 2; k++) ivalue_release(inputs[k]);
  }
  assert_int_equal(pair.group->entry_count, FUSE_MAX_ENTRIES);
  assert_int_equal(pair.group->runs, FUSE_MAX_ENTRIES);
  pair_dispose(&pair);
}

/* The first run of what was to be expected compiles nothing; what was not, waits no longer for it. */
static void test_expected_kernels(void **state) {
  (void)state;
  static const char text[] =
      "graph(%a : Tensor, %b : Double(*), %n : int):\n  %one : int = prim::Constant[value=1]()\n"
      "  %x : Tensor = aten::mul(%a, %n)\n  %z : Tensor = aten::add(%x, %b, %one)\n  return (%z)\n";
  static const DType kinds[] = {DTYPE_INT64, DTYPE_FLOAT32, DTYPE_FLOAT64};
  Pair pair;
  Exec exec;
  exec_init(&exec, NULL);
  pair_make(&pair, text);
  FuseEntry *expected = pair.group->expected;
  assert_non_null(expected);
  int64_t sizes[] = {3};
  for (int i = 0; i < 3; i++) {
    IValue inputs[] = {tensor_of(kinds[i], 1, sizes, 1), tensor_of(DTYPE_FLOAT64, 1, sizes, 2), ivalue_int(3)};
    check_run(&pair, &exec, text, inputs);
    for (int k = 0; k < 2; k++) ivalue_release(inputs[k]);
    assert_int_equal(pair.group->entry_count, i + 1 < FUSE_MAX_ENTRIES ? i + 1 : FUSE_MAX_ENTRIES);
    if (FUSE_MAX_ENTRIES > 1) assert_ptr_equal(pair.group->expected, i < 1 ? expected : NULL);
    if (FUSE_MAX_ENTRIES > 1 && i == 1) assert_ptr_equal(pair.group->entries, expected);
  }
  pair_dispose(&pair);
}

static void test_printed_kernel(void **state) {
  (void)state;
  Pair pair;
  StrBuf out = {0};
  pair_make(&pair,
            "graph(%a : Tensor, %b : Tensor):\n  %one : int = prim::Constant[value=1]()\n"
            "  %x : Tensor = aten::mul(%a, %b)\n  %z : Tensor = aten::add(%x, %a, %one)\n  return (%z)\n");
  assert_null(fuse_print_kernels(pair.fused_graph, &out));
  assert_text(&out,
              "# FusionGroup 0\ninputs: float32 float32\nkernel(%0: f32, %1: f32) {\n  %2: f32 = mul %0, %1\n"
              "  %3: f32 = add %2, %0\n  return %3\n}\n");
  pair_dispose(&pair);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lstm_cell),        cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_kept_shapes),      cmocka_unit_test(test_bounded_cache),
      cmocka_unit_test(test_printed_kernel),   cmocka_unit_test(test_random_programs),
      cmocka_unit_test(test_expected_kernels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
