/* Recurrent layers and cells with kernels beside their bodies: the same bits, sizes and strides as the
 * bodies, which run where gradients are recorded; and that the kernels do run. */
#include "program_fixture.h"

#include "api/handles.h"
#include "call/operator.h"
#include "op/nn/rnn_layers.h"

static const char program[] =
    "def same(a: Tensor, b: Tensor) -> bool:\n"
    "    return b.requires_grad and not a.requires_grad and a.size() == b.size() and a.stride() == b.stride() \\\n"
    "        and torch.equal(a, b)\n"
    "def weights(mode: int, features: int, hidden: int, layers: int, biases: bool, directions: int):\n"
    "    width = [4, 3, 1, 1][mode] * hidden\n"
    "    params: List[Tensor] = []\n"
    "    for i in range(layers * directions):\n"
    "        params.append(torch.randn(width, features if i < directions else hidden * directions))\n"
    "        params.append(torch.randn(width, hidden))\n"
    "        if biases:\n"
    "            params.append(torch.randn(width))\n"
    "            params.append(torch.randn(width))\n"
    "    return params, [p.clone().requires_grad_() for p in params]\n"
    "def sequence(mode: int, steps: int, batch: int, features: int, hidden: int, layers: int, biases: bool, both: "
    "bool,\n"
    "             first: bool) -> bool:\n"
    "    n = layers * (2 if both else 1)\n"
    "    p, q = weights(mode, features, hidden, layers, biases, 2 if both else 1)\n"
    "    x = torch.randn(batch, steps, features) if first else torch.randn(steps, batch, features)\n"
    "    h = torch.randn(n, batch, hidden)\n"
    "    c = torch.randn(batch, n, hidden).transpose(0, 1)\n"
    "    if mode == 0:\n"
    "        a = torch.lstm(x, [h, c], p, biases, layers, 0.5, False, both, first)\n"
    "        b = torch.lstm(x, [h, c], q, biases, layers, 0.5, False, both, first)\n"
    "        return same(a[0], b[0]) and same(a[1], b[1]) and same(a[2], b[2])\n"
    "    if mode == 1:\n"
    "        d = torch.gru(x, c, p, biases, layers, 0.0, True, both, first)\n"
    "        e = torch.gru(x, c, q, biases, layers, 0.0, True, both, first)\n"
    "        return same(d[0], e[0]) and same(d[1], e[1])\n"
    "    if mode == 2:\n"
    "        d = torch.rnn_tanh(x, h, p, biases, layers, 0.0, True, both, first)\n"
    "        e = torch.rnn_tanh(x, h, q, biases, layers, 0.0, True, both, first)\n"
    "        return same(d[0], e[0]) and same(d[1], e[1])\n"
    "    d = torch.rnn_relu(x, h, p, biases, layers, 0.0, True, both, first)\n"
    "    e = torch.rnn_relu(x, h, q, biases, layers, 0.0, True, both, first)\n"
    "    return same(d[0], e[0]) and same(d[1], e[1])\n"
    "def packed(mode: int, sizes: List[int], features: int, hidden: int, layers: int, biases: bool, both: bool) -> "
    "bool:\n"
    "    n = layers * (2 if both else 1)\n"
    "    p, q = weights(mode, features, hidden, layers, biases, 2 if both else 1)\n"
    "    x = torch.randn(sum(sizes), features)\n"
    "    h = torch.randn(n, sizes[0], hidden)\n"
    "    c = torch.randn(n, sizes[0], hidden)\n"
    "    t = torch.tensor(sizes)\n"
    "    if mode == 0:\n"
    "        a = torch.lstm(x, t, [h, c], p, biases, layers, 0.0, False, both)\n"
    "        b = torch.lstm(x, t, [h, c], q, biases, layers, 0.0, False, both)\n"
    "        return same(a[0], b[0]) and same(a[1], b[1]) and same(a[2], b[2])\n"
    "    if mode == 1:\n"
    "        d = torch.gru(x, t, h, p, biases, layers, 0.0, True, both)\n"
    "        e = torch.gru(x, t, h, q, biases, layers, 0.0, True, both)\n"
    "        return same(d[0], e[0]) and same(d[1], e[1])\n"
    "    d = torch.rnn_tanh(x, t, h, p, biases, layers, 0.0, True, both)\n"
    "    e = torch.rnn_tanh(x, t, h, q, biases, layers, 0.0, True, both)\n"
    "    return same(d[0], e[0]) and same(d[1], e[1])\n"
    "def cell(mode: int, batch: int, features: int, hidden: int, biases: bool) -> bool:\n"
    "    p, q = weights(mode, features, hidden, 1, biases, 1)\n"
    "    x = torch.randn(batch, features)\n"
    "    h = torch.randn(batch, hidden)\n"
    "    c = torch.randn(hidden, batch).t()\n"
    "    b1: Optional[Tensor] = None\n"
    "    b2: Optional[Tensor] = None\n"
    "    g1: Optional[Tensor] = None\n"
    "    g2: Optional[Tensor] = None\n"
    "    if biases:\n"
    "        b1, b2, g1, g2 = p[2], p[3], q[2], q[3]\n"
    "    if mode == 0:\n"
    "        a = torch.lstm_cell(x, [h, c], p[0], p[1], b1, b2)\n"
    "        b = torch.lstm_cell(x, [h, c], q[0], q[1], g1, g2)\n"
    "        return same(a[0], b[0]) and same(a[1], b[1])\n"
    "    if mode == 1:\n"
    "        return same(torch.gru_cell(x, h, p[0], p[1], b1, b2), torch.gru_cell(x, h, q[0], q[1], g1, g2))\n"
    "    if mode == 2:\n"
    "        return same(torch.rnn_tanh_cell(x, h, p[0], p[1], b1, b2), torch.rnn_tanh_cell(x, h, q[0], q[1], g1, "
    "g2))\n"
    "    return same(torch.rnn_relu_cell(x, h, p[0], p[1], b1, b2), torch.rnn_relu_cell(x, h, q[0], q[1], g1, g2))\n"
    "def sequences() -> str:\n"
    "    for mode in range(4):\n"
    "        for sizes in [[1, 1, 1, 1], [1, 1, 47, 64], [5, 3, 7, 9], [2, 6, 16, 33], [9, 1, 33, 20], [3, 130, 20, "
    "70]]:\n"
    "            for layers in range(1, 4):\n"
    "                for flags in range(8):\n"
    "                    if not sequence(mode, sizes[0], sizes[1], sizes[2], sizes[3], layers, flags % 2 == 0,\n"
    "                                    flags // 2 % 2 == 0, flags // 4 == 0):\n"
    "                        return '{} {} {} {}'.format(mode, sizes, layers, flags)\n"
    "    return ''\n"
    "def packs() -> str:\n"
    "    for mode in range(3):\n"
    "        for sizes in [[1], [3], [4, 4, 1], [5, 3, 3, 2, 1, 1], [1, 1, 1], [9, 8, 7, 6]]:\n"
    "            for layers in range(1, 3):\n"
    "                for flags in range(4):\n"
    "                    if not packed(mode, sizes, 7, 18, layers, flags % 2 == 0, flags // 2 == 0):\n"
    "                        return '{} {} {} {}'.format(mode, sizes, layers, flags)\n"
    "    return ''\n"
    "def cells() -> str:\n"
    "    for mode in range(4):\n"
    "        for sizes in [[1, 1, 1], [1, 47, 64], [3, 7, 9], [20, 16, 33], [300, 12, 64]]:\n"
    "            for biases in range(2):\n"
    "                if not cell(mode, sizes[0], sizes[1], sizes[2], biases == 0):\n"
    "                    return '{} {} {}'.format(mode, sizes, biases)\n"
    "    return ''\n"
    /* what the kernels decline: the bodies' results and errors */
    "def refused(case: int) -> str:\n"
    "    x = torch.randn(4, 2, 3)\n"
    "    p, q = weights(0, 3, 5, 1, True, 1)\n"
    "    h = torch.randn(1, 2, 5)\n"
    "    if case == 0:\n"
    "        h = torch.randn(1, 1, 5)\n"
    "    if case == 1:\n"
    "        x = torch.randn(4, 2, 2)\n"
    "    if case == 2:\n"
    "        p = p[:3]\n"
    "    if case == 3:\n"
    "        p[1] = torch.randn(20, 4)\n"
    "    if case == 4:\n"
    "        x = x.double()\n"
    "    return str(torch.lstm(x, [h, h], p, True, 1, 0.0, False, False, False)[0].size())\n"
    "def doubles() -> str:\n"
    "    p, q = weights(0, 3, 5, 1, True, 1)\n"
    "    h = torch.randn(1, 2, 5).double()\n"
    "    return str(torch.lstm(torch.randn(4, 2, 3).double(), [h, h], [t.double() for t in p], True, 1, 0.0, False,\n"
    "                          False, False)[0].dtype)\n";

static void test_same_bits(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) {
    expect_text(program, "sequences", -1, threads, WICK_GRAD_ON, "");
    expect_text(program, "packs", -1, threads, WICK_GRAD_ON, "");
    expect_text(program, "cells", -1, threads, WICK_GRAD_ON, "");
  }
}

static void test_bodies(void **state) {
  (void)state;
  expect_text(program, "refused", 0, 1, WICK_GRAD_ON, "size");
  expect_text(program, "refused", 1, 1, WICK_GRAD_ON, "mat1 and mat2 shapes cannot be multiplied");
  expect_text(program, "refused", 2, 1, WICK_GRAD_ON, "got an incorrect number of RNN parameters");
  expect_text(program, "refused", 3, 1, WICK_GRAD_ON, "mat1 and mat2 shapes cannot be multiplied");
  expect_text(program, "refused", 4, 1, WICK_GRAD_ON, "expected scalar type");
  expect_text(program, "doubles", -1, 1, WICK_GRAD_ON, "7");
}

static IValue zeros(int ndim, const int64_t *sizes) {
  Tensor *t;
  assert_null(tensor_empty(DTYPE_FLOAT32, ndim, sizes, &t));
  memset(tensor_data(t), 0, (size_t)t->numel * sizeof(float));
  return ivalue_tensor(t);
}

static void test_kernel_runs(void **state) {
  (void)state;
  Exec exec;
  api_exec_init(&exec, NULL);
  List *params, *hx;
  assert_null(list_new(TYPE(TENSOR), 2, &params));
  assert_null(list_new(TYPE(TENSOR), 2, &hx));
  assert_null(list_append(params, zeros(2, (int64_t[]){20, 3})));
  assert_null(list_append(params, zeros(2, (int64_t[]){20, 5})));
  for (int i = 0; i < 2; i++) assert_null(list_append(hx, zeros(3, (int64_t[]){1, 2, 5})));
  IValue inputs[] = {zeros(3, (int64_t[]){4, 2, 3}),
                     ivalue_list(hx),
                     ivalue_list(params),
                     ivalue_bool(false),
                     ivalue_int(1),
                     ivalue_float(0),
                     ivalue_bool(false),
                     ivalue_bool(false),
                     ivalue_bool(false)};
  IValue outputs[3] = {IVALUE_NONE, IVALUE_NONE, IVALUE_NONE};
  Call call = {.exec = &exec,
               .op = operator_find_overload(STR("aten::lstm"), STR("input")),
               .inputs = inputs,
               .outputs = outputs,
               .input_count = 9,
               .output_count = 3};
  assert_null(kernel_rnn_sequence(&call));
  assert_int_equal(call_out(&call, 0)->sizes[2], 5);
  for (int i = 0; i < 9; i++) ivalue_release(inputs[i]);
  for (int i = 0; i < 3; i++) ivalue_release(outputs[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits), cmocka_unit_test(test_bodies),
                                     cmocka_unit_test(test_kernel_runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
