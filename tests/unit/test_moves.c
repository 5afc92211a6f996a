/* Operators that move elements, in the paths for frequent sizes of elements and layouts, against the general ones. */
#include "program_fixture.h"

static const char indexed[] =
    "def numbers(sizes: List[int]) -> Tensor:\n"
    "    return torch.randint(-100, 100, sizes).float()\n"
    /* exact in each dtype; float16 takes the general way */
    "def walked(x: Tensor, i: Tensor, y: Tensor, dim: int) -> List[Tensor]:\n"
    "    sum = x.float().scatter_add(dim, i, y.float()).double() if x.dtype == torch.float16 else \\\n"
    "        x.scatter_add(dim, i, y).double()\n"
    "    put = x.gather(dim, i).zero_().scatter(dim, torch.zeros_like(i), y)\n"
    "    return [x.gather(dim, i).double(), sum, put.double()]\n"
    "def indexed() -> str:\n"
    "    for dim in [0, 1, -1]:\n"
    "        x, y = numbers([7, 9, 11]), numbers([7, 9, 11])\n"
    "        i = torch.randint(0, x.size(dim), [7, 9, 11])\n"
    "        for turned in [False, True]:\n"
    "            if turned:\n"
    "                x, i, y = x.transpose(0, 2), i.transpose(0, 2), y.transpose(0, 2)\n"
    "                i = i.remainder(x.size(dim))\n"
    "            expected = walked(x.half(), i, y.half(), dim)\n"
    "            for d in [torch.float32, torch.float64]:\n"
    "                got = walked(x.to(d), i, y.to(d), dim)\n"
    "                for k in range(3):\n"
    "                    if not torch.equal(got[k], expected[k]):\n"
    "                        return 'dim {} {} {}'.format(dim, d, k)\n"
    "    return ''\n"
    "def outside() -> str:\n"
    "    return '{}'.format(torch.zeros([2, 3]).gather(1, torch.tensor([[0, 3]])))\n"
    "def below() -> str:\n"
    "    return '{}'.format(torch.zeros([2, 3]).scatter_add(1, torch.tensor([[0, -1]]), torch.ones([1, 2])))\n";

static void test_indexed(void **state) {
  (void)state;
  expect_text(indexed, "indexed", -1, 1, WICK_GRAD_OFF, "");
  expect_text(indexed, "outside", -1, 1, WICK_GRAD_OFF, "index 3 is out of bounds for dimension 1 with size 3");
  expect_text(indexed, "below", -1, 1, WICK_GRAD_OFF, "index -1 is out of bounds for dimension 1 with size 3");
}

static const char flipped[] =
    "def flipped() -> str:\n"
    "    for d in [torch.uint8, torch.int16, torch.float32, torch.float64, torch.complex128]:\n"
    "        for n in [1, 2, 5, 16, 37]:\n"
    "            x = torch.randint(0, 100, [3, n, 5]).to(d)\n"
    "            for v in [x, x.transpose(1, 2), x.transpose(0, 1)]:\n"
    "                back = torch.arange(v.size(2) - 1, -1, -1)\n"
    "                if not torch.equal(v.flip([-1]), v.index_select(2, back)):\n"
    "                    return '{} {}'.format(d, v.size())\n"
    "                if not torch.equal(v.flip([0, 2]).flip([2]).flip([0]), v):\n"
    "                    return 'twice {} {}'.format(d, v.size())\n"
    "    return ''\n";

static void test_flipped(void **state) {
  (void)state;
  expect_text(flipped, "flipped", -1, 2, WICK_GRAD_OFF, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_indexed),
      cmocka_unit_test(test_flipped),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
