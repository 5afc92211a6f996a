/* scaled_dot_product_attention as one operation: the values, sizes and strides of its body, which runs where gradients
 * are recorded; and that the kernel does run. */
#include "program_fixture.h"

#include "api/handles.h"
#include "call/operator.h"
#include "call/row_extras.h"

static const char program[] =
    "def check(q: Tensor, k: Tensor, v: Tensor, mask: Optional[Tensor], causal: bool, scale: Optional[float]) -> "
    "bool:\n"
    "    a = torch.scaled_dot_product_attention(q, k, v, mask, 0.0, causal, scale=scale)\n"
    "    w = v.clone().requires_grad_()\n"
    "    b = torch.scaled_dot_product_attention(q, k, w, mask, 0.0, causal, scale=scale)\n"
    "    return b.requires_grad and not a.requires_grad and a.size() == b.size() and a.stride() == b.stride() \\\n"
    "        and torch.allclose(a, b, 1e-5, 1e-6)\n"
    "def masks(rows: int, keys: int):\n"
    "    drawn = torch.rand(rows, keys)\n"
    "    some = drawn > 0.3\n"
    "    dead = some.clone()\n"
    "    dead[0] = False\n"
    "    added = drawn - 0.5\n"
    "    closed = added.masked_fill(dead.logical_not(), float('-inf'))\n"
    "    return [some, dead, added, closed, some[:1], added[:, :1]]\n"
    "def forms() -> str:\n"
    "    for sizes in [[1, 1, 1, 1], [3, 5, 4, 4], [7, 7, 8, 6], [40, 70, 16, 16], [1, 33, 8, 8]]:\n"
    "        rows, keys, width, out_width = sizes[0], sizes[1], sizes[2], sizes[3]\n"
    "        for batch in [torch.jit.annotate(List[int], []), [3], [2, 3]]:\n"
    "            q, k = torch.randn(batch + [rows, width]), torch.randn(batch + [keys, width])\n"
    "            v = torch.randn(batch + [keys, out_width])\n"
    "            turned = torch.randn(batch + [width, keys]).transpose(-1, -2)\n"
    "            none: Optional[Tensor] = None\n"
    "            fine = check(q, k, v, none, False, None) and check(q, k, v, none, True, 0.3)\n"
    "            fine = fine and check(q, turned, v, none, False, -2.0)\n"
    "            for mask in masks(rows, keys):\n"
    "                fine = fine and check(q, k, v, mask, False, None)\n"
    "                if len(batch) == 2:\n"
    "                    fine = fine and check(q, k, v, mask.expand([2, 1] + mask.size()), False, 0.5)\n"
    "            if not fine:\n"
    "                return '{} {}'.format(sizes, batch)\n"
    "    return ''\n"
    "def infinite() -> str:\n"
    "    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 3, 4), torch.randn(2, 3, 4)\n"
    "    v[0, 0, 0] = float('nan')\n"
    "    out = torch.scaled_dot_product_attention(q, k, v, torch.ones(3, 3, dtype=torch.bool).tril())\n"
    "    dead = torch.scaled_dot_product_attention(q, k, v, torch.zeros(3, 3, dtype=torch.bool))\n"
    "    return '{} {}'.format(int(out.isnan().sum()), dead[1].abs().sum().item())\n"
    /* what the kernel declines: the body's errors and results */
    "def refused(case: int) -> str:\n"
    "    q, k, v = torch.randn(2, 3, 4), torch.randn(2, 5, 4), torch.randn(2, 5, 4)\n"
    "    if case == 0:\n"
    "        return str(torch.scaled_dot_product_attention(q, k, v, torch.ones(3, 5), 0.0, True))\n"
    "    if case == 1:\n"
    "        return str(torch.scaled_dot_product_attention(q[0, 0], k, v))\n"
    "    if case == 2:\n"
    "        return str(torch.scaled_dot_product_attention(q, k[:, :, :2], v))\n"
    "    if case == 3:\n"
    "        return str(torch.scaled_dot_product_attention(q, k.double(), v))\n"
    "    return str(torch.scaled_dot_product_attention(q.double(), k.double(), v.double()).dtype)\n";

static void test_forms(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) expect_text(program, "forms", -1, threads, WICK_GRAD_ON, "");
  expect_text(program, "infinite", -1, 1, WICK_GRAD_ON, "3 0.");
}
static void test_bodies(void **state) {
  (void)state;
  expect_text(program, "refused", 0, 1, WICK_GRAD_ON, "should not be set when is_causal=True");
  expect_text(program, "refused", 1, 1, WICK_GRAD_ON, "at least 2 dimensions");
  expect_text(program, "refused", 2, 1, WICK_GRAD_ON, "cannot be multiplied");
  expect_text(program, "refused", 3, 1, WICK_GRAD_ON, "same dtype");
  expect_text(program, "refused", 4, 1, WICK_GRAD_ON, "7");
}

static IValue ones(int ndim, const int64_t *sizes, DType dtype) {
  Tensor *t;
  assert_null(tensor_empty(dtype, ndim, sizes, &t));
  memset(tensor_data(t), dtype == DTYPE_BOOL, (size_t)t->numel * dtype_size(dtype));
  return ivalue_tensor(t);
}
static void test_kernel_runs(void **state) {
  (void)state;
  Exec exec;
  api_exec_init(&exec, NULL);
  const int64_t sizes[] = {2, 3, 4};
  IValue inputs[] = {ones(3, sizes, DTYPE_FLOAT32),
                     ones(3, sizes, DTYPE_FLOAT32),
                     ones(3, sizes, DTYPE_FLOAT32),
                     ones(2, (int64_t[]){3, 3}, DTYPE_BOOL),
                     ivalue_float(0),
                     ivalue_bool(false),
                     IVALUE_NONE,
                     ivalue_bool(false)};
  IValue output = IVALUE_NONE;
  Call call = {.exec = &exec,
               .op = operator_find_overload(STR("aten::scaled_dot_product_attention"), STR("")),
               .inputs = inputs,
               .outputs = &output,
               .input_count = 8,
               .output_count = 1};
  assert_null(row_extras(call.op->row)->beside(&call));
  assert_int_equal(call_out(&call, 0)->sizes[2], 4);
  for (int i = 0; i < 8; i++) ivalue_release(inputs[i]);
  ivalue_release(output);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms), cmocka_unit_test(test_bodies),
                                     cmocka_unit_test(test_kernel_runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
