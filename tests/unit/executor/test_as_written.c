/* Programs of which plans once made something else than was written: strides, state, signs of zeros, who requires grad,
 * what a failed call leaves. */
#include "as_written.h"

#define STATE "class S(object):\n    def __init__(self):\n        torch.manual_seed(1)\n"
#define MAKE "def make() -> S:\n    return S()\n"
#define UNCHANGED "def change(s: S, k: int) -> None:\n    pass\n"

static void expect_as_written(const char *name, const char *text) {
  assert_true(runs_as_written(name, str_from(text), 1e-4, true));
}

/* The gradient's program draws the mask by an operator of its own. */
static void test_dropout_strides(void **state) {
  (void)state;
  expect_as_written(
      "dropout that trains, of views", STATE MAKE UNCHANGED
      "def args(k: int) -> Tuple[Tensor, Tensor, Tensor]:\n"
      "    x = torch.randn([1, 6, 4, 1]) if k % 2 == 0 else torch.randn([1, 6, 1, 1])\n"
      "    y = torch.randn([3, 4, 5]).permute(2, 0, 1)\n"
      "    y = y if k % 2 == 0 else y[:, ::2].permute(0, 2, 1)\n"
      "    return x[:, :3].requires_grad_(True), y.requires_grad_(True), torch.randn([4, 1]).expand(4, 5)\n"
      "def f(s: S, x: Tensor, y: Tensor, z: Tensor):\n"
      "    a = F.dropout(x, 0.5, True)\n    pooled = F.max_pool2d(a, 1)\n"
      "    b = F.dropout(y, 0.25, True)\n    after_b = b.sin().relu()\n"
      "    c = F.dropout(z, 0.5, True)\n    after_c = c.sin().relu()\n"
      "    return a, pooled, b, after_b, c, after_c\n");
}

/* With one channel, or a width of one, a tensor is row-major and channels-last at once. */
static void test_ambiguous_strides(void **state) {
  (void)state;
  expect_as_written(
      "joined convolutions of a width of one",
      STATE "        self.a = torch.randn([8, 16, 1, 1])\n        self.b = torch.randn([1, 16, 3, 3])\n" MAKE UNCHANGED
            "def args(k: int) -> Tuple[Tensor]:\n"
            "    x = torch.randn([2, 16, 28, 1])\n"
            "    return (x.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2) if k % 3 else x,)\n"
            "def f(s: S, x: Tensor):\n"
            "    a = torch.cat([torch.conv2d(x, s.a), torch.relu(torch.conv2d(x, s.b, None, 1, 1))], 1)\n"
            "    b = torch.cat([torch.conv2d(x, s.a), torch.relu_(torch.conv2d(x, s.b, None, 1, 1))], 1)\n"
            "    return a, b\n");
  expect_as_written(
      "weights of either order", STATE
      "        self.a = torch.randn([8, 4, 1, 1]).contiguous(memory_format=torch.channels_last)\n"
      "        self.b = torch.randn([8, 1, 3, 3]).contiguous(memory_format=torch.channels_last)\n" MAKE UNCHANGED
      "def args(k: int) -> Tuple[Tensor]:\n    return (torch.randn([2, 4, 5, 5]),)\n"
      "def f(s: S, x: Tensor):\n"
      "    p = F.hardswish(torch.conv2d(x, s.a))\n"
      "    return p, torch.relu(torch.conv2d(p, s.b, None, 1, 1, 1, 8)), torch.relu(torch.conv1d(x[0], s.a[:, :, "
      "0]))\n");
  expect_as_written("sums with what is of a width of one in another order", STATE
                    "        self.a = torch.randn([8, 1, 3, 3])\n        self.b = torch.randn([6, 1])\n" MAKE UNCHANGED
                    "def args(k: int) -> Tuple[Tensor, Tensor]:\n"
                    "    x = torch.randn([2, 16, 8, 1])\n"
                    "    y = torch.randn([2, 16, 1])\n"
                    "    if k % 3 == 2:\n"
                    "        x = torch.cat([x, x], 1)[:, :16].transpose(2, 3).contiguous().transpose(2, 3)\n"
                    "        y = torch.cat([y, y], 1)[:, :16].transpose(1, 2).contiguous().transpose(1, 2)\n"
                    "    return x, y\n"
                    "def f(s: S, x: Tensor, y: Tensor):\n"
                    "    v, w = torch.split(x, 8, 1)\n"
                    "    p, q = torch.split(y, 8, 1)\n"
                    "    a = torch.conv2d(w, s.a, None, 1, 1, 1, 8) + v\n"
                    "    b = v + torch.conv2d(w.contiguous(), s.a, None, 1, 1, 1, 8)\n"
                    "    c = torch.matmul(torch.ones([2, 8, 6]), s.b) + p\n"
                    "    return a, b, c, q + torch.matmul(torch.ones([2, 8, 6]), s.b)\n");
  expect_as_written("a gate of either order",
                    STATE "        self.a = torch.randn([4, 4, 1, 1])\n" MAKE UNCHANGED
                          "def args(k: int) -> Tuple[Tensor, Tensor]:\n"
                          "    x = torch.randn([2, 4, 9, 1])\n"
                          "    y = torch.randn([2, 4, 1, 1])\n"
                          "    if k % 2 == 1:\n        y = y.contiguous(memory_format=torch.channels_last)\n"
                          "    return (x, y)\n"
                          "def f(s: S, x: Tensor, y: Tensor):\n"
                          "    g = torch.sigmoid(torch.conv2d(y, s.a))\n"
                          "    return torch.relu(torch.conv2d(g * x, s.a)), torch.relu(torch.conv2d(x * g, s.a))\n");
}

/* What is done in place keeps strides and dtype. */
static void test_activations_in_place(void **state) {
  (void)state;
  expect_as_written(
      "after a convolution",
      STATE "        self.a = torch.randn([1, 4, 1, 1])\n" MAKE UNCHANGED
            "def args(k: int) -> Tuple[Tensor]:\n"
            "    return (torch.randn([2, 4, 3, 5]).contiguous(memory_format=torch.channels_last),)\n"
            "def f(s: S, x: Tensor):\n"
            "    a = F.hardtanh_(torch.conv2d(x, s.a), -0.5, 0.5)\n    b = torch.sigmoid_(torch.conv2d(x, s.a))\n"
            "    return a, b, F.silu(torch.conv2d(x, s.a), inplace=True), F.silu(torch.conv2d(x, s.a))\n");
  expect_as_written("after a linear layer of ints",
                    STATE "        self.a = torch.ones([3, 2], dtype=torch.int64)\n" MAKE UNCHANGED
                          "def args(k: int) -> Tuple[Tensor]:\n    return (torch.ones([4, 2], dtype=torch.int64),)\n"
                          "def f(s: S, x: Tensor):\n    return torch.sigmoid_(F.linear(x, s.a))\n");
}

/* Nobody needs the result, but the state it leaves. */
static void test_unused_results(void **state) {
  (void)state;
  expect_as_written(
      "normalization in training", STATE
      "        self.training = False\n        self.m = torch.zeros([2])\n        self.v = torch.ones([2])\n"
      "        self.n = torch.zeros([2])\n        self.w = torch.ones([2])\n" MAKE
      "def change(s: S, k: int) -> None:\n    s.training = k % 4 > 1\n"
      "def args(k: int) -> Tuple[Tensor]:\n    torch.manual_seed(k)\n    return (torch.randn([3, 2, 4, 4]),)\n"
      "def f(s: S, x: Tensor):\n"
      "    F.batch_norm(x, s.m, s.v, None, None, s.training, 0.1, 1e-5)\n"
      "    F.batch_norm(x, s.m, s.v, None, None, s.training, 0.1, 1e-5)\n"
      "    torch.instance_norm(x, None, None, s.n, s.w, s.training, 0.1, 1e-5, False)\n"
      "    before = s.m + 1\n"
      "    for i in range(3):\n        torch.native_batch_norm(x, None, None, s.m, s.v, True, 0.1, 1e-5)\n"
      "    return x + 1, before, s.m * 2\n");
  expect_as_written("random numbers", STATE
                    "        self.training = False\n" MAKE
                    "def change(s: S, k: int) -> None:\n    s.training = k % 4 > 1\n"
                    "def args(k: int) -> Tuple[Tensor]:\n    torch.manual_seed(k)\n    return (torch.randn([3, 4]),)\n"
                    "def f(s: S, x: Tensor):\n"
                    "    torch.rand([2])\n    F.dropout(x, 0.5, s.training)\n    y = x + torch.rand_like(x)\n"
                    "    torch.randperm(4)\n    return y\n");
  expect_as_written("rows of an embedding that are made shorter, noise that is kept", STATE
                    "        self.w = torch.randn([5, 3]) * 4\n        self.noise = torch.zeros([4])\n" MAKE UNCHANGED
                    "def args(k: int) -> Tuple[Tensor, Tensor]:\n    torch.manual_seed(k)\n"
                    "    return (torch.tensor([k % 5, 2]), torch.randn([4]))\n"
                    "def f(s: S, x: Tensor, y: Tensor):\n"
                    "    torch.rrelu_with_noise(y, s.noise, 0.1, 0.3, True)\n"
                    "    F.embedding(x, s.w, None, 1.0)\n    return F.embedding(x, s.w, None, 1.0) * 2\n");
}

/* Results that are equal are tensors of their own: whoever calls may write to one of them. */
static void test_equal_results(void **state) {
  (void)state;
  expect_as_written("of what is computed within as well",
                    "class S(object):\n    def __init__(self):\n        self.k = 0.0\n" MAKE UNCHANGED
                    "def args(k: int) -> Tuple[Tensor]:\n    return (torch.randn([3]),)\n"
                    "def both(x: Tensor):\n    return torch.signbit(x * 1.5), x * 1.5\n"
                    "def f(s: S, x: Tensor):\n    return both(x + 1), both(x + 1)\n");
  expect_as_written("of neutral numbers",
                    "class S(object):\n    def __init__(self):\n        self.k = 0.0\n" MAKE UNCHANGED
                    "def args(k: int) -> Tuple[Tensor]:\n    return (torch.randn([3]),)\n"
                    "def f(s: S, x: Tensor):\n"
                    "    y = torch.relu(x)\n    return y * 1, y / 1, y - 0, [y * 1, y * 1.0], torch.sigmoid(y * 1)\n");
}

static void test_neutral_numbers(void **state) {
  (void)state;
  expect_as_written(
      "zeros with a sign",
      "class S(object):\n    def __init__(self):\n        self.k = 0.0\n" MAKE
      "def change(s: S, k: int) -> None:\n    s.k = -0.0 if k % 4 == 3 else 0.0\n"
      "def args(k: int) -> Tuple[Tensor, Tensor, Tensor]:\n"
      "    x = torch.tensor([-0.0, 0.0, 2.0, float('nan'), float('inf')])\n"
      "    return (x, x.double(), torch.tensor(-0.0))\n"
      "def signs(x: Tensor):\n    return torch.signbit(x * 1.5), torch.atan2(x, torch.tensor(-1.0)), x * 1.5\n"
      "def all_of(x: Tensor, k: float):\n"
      "    y = x * 1.5\n"
      "    return (signs(y + 0.0), signs(y - 0.0), signs(y + -0.0), signs(y - -0.0), signs(y + 0), signs(y - 0),\n"
      "            signs(y * 1), signs(y * 1.0), signs(y / 1), signs(y + k), signs(y - k), signs(0 + y))\n"
      "def f(s: S, x: Tensor, y: Tensor, z: Tensor):\n"
      "    return all_of(x, s.k), all_of(y, s.k), all_of(z, s.k)\n");
  expect_as_written("dtypes, and what is one with its argument",
                    "class S(object):\n    def __init__(self):\n        self.k = 0\n" MAKE UNCHANGED
                    "def args(k: int) -> Tuple[Tensor, Tensor, Tensor, Tensor]:\n"
                    "    x = torch.ones([2, 2], dtype=torch.int32)\n    y = torch.ones([2, 2])\n"
                    "    if k == 8:\n        y.requires_grad_(True)\n"
                    "    return (x, x > 0, y, torch.complex(-torch.zeros([2]), torch.tensor([-1.0, float('inf')])))\n"
                    "def all_of(x: Tensor):\n"
                    "    y = x[:]\n"
                    "    return (y + 0, y + 0.0, y * 1, y * 1.0, y / 1, x + 0, x * 1, x / 1, torch.neg(x * 1), "
                    "torch.abs(x + 0) * 2)\n"
                    "def f(s: S, x: Tensor, b: Tensor, y: Tensor, c: Tensor):\n"
                    "    return all_of(x), all_of(y), b * 1, b + 0, b + 0.0, torch.view_as_real(c * 1), "
                    "torch.view_as_real(c + 0), torch.view_as_real(c / 1)\n");
}

/* A gradient reaches what it is computed for, no running statistics. After a write, types tell nothing of that. */
static void test_who_requires_grad(void **state) {
  (void)state;
  expect_as_written(
      "statistics that require grad", STATE
      "        self.a = torch.zeros([4, 1, 3, 1])\n        self.b = torch.randn([2, 4, 3, 3])\n"
      "        self.m = torch.randn([2])\n        self.v = torch.rand([2]) + 0.5\n" MAKE
      "def change(s: S, k: int) -> None:\n    s.v.requires_grad_(True)\n"
      "def args(k: int) -> Tuple[Tensor, Tensor]:\n    return (torch.randn([1, 4, 16, 1]), torch.ones([2]))\n"
      "def f(s: S, x: Tensor, y: Tensor):\n"
      "    y.add_(y)\n"
      "    z = torch.sigmoid(F.adaptive_avg_pool2d(F.relu(F.conv2d(x, s.a, None, 1, 1, 1, 4)), 1))\n"
      "    u = F.batch_norm(F.conv2d(z, s.b, s.m, 1, 1), s.m, s.v, None, None, False, 0.1, 1e-5)\n"
      "    return torch.sigmoid(0.25 + u)\n");
}

/* What came before the error is there, what comes after it is not; and of two errors the first is told. */
static void test_failing_calls(void **state) {
  (void)state;
  expect_as_written("a write between a convolution and its activation",
                    STATE "        self.w = torch.randn([2, 4, 1, 1])\n        self.count = 0\n" MAKE UNCHANGED
                          "def args(k: int) -> Tuple[Tensor, Tensor]:\n"
                          "    return (torch.randn([1, 3 if k % 4 == 3 else 4, 2, 2]), torch.ones([2]))\n"
                          "def f(s: S, x: Tensor, y: Tensor):\n"
                          "    a = torch.conv2d(x, s.w)\n    s.count += 1\n    y.add_(1)\n    return torch.relu(a)\n");
  expect_as_written("two that fail", STATE
                    "        self.w = torch.randn([2, 4, 1, 1])\n" MAKE UNCHANGED
                    "def args(k: int) -> Tuple[Tensor, Tensor]:\n"
                    "    n = 3 if k % 4 == 3 else 4\n    return (torch.randn([1, n, 2, 2]), torch.ones([2, n - 2]))\n"
                    "def f(s: S, x: Tensor, y: Tensor):\n"
                    "    a = torch.conv2d(x, s.w)\n    b = torch.mm(y, y)\n    return torch.relu(a), b\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dropout_strides),      cmocka_unit_test(test_ambiguous_strides),
      cmocka_unit_test(test_activations_in_place), cmocka_unit_test(test_unused_results),
      cmocka_unit_test(test_equal_results),        cmocka_unit_test(test_neutral_numbers),
      cmocka_unit_test(test_who_requires_grad),    cmocka_unit_test(test_failing_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
