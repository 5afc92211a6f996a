/* softmax and running sums and products along dimensions whose lines lie side by side, against the same along the last
 * dimension: few lines and many, dtypes, infinities and NaN, in place, on one thread and on several. */
#include "program_fixture.h"

static const char program[] =
    "def as_last(x: Tensor, dim: int) -> Tensor:\n"
    "    return x.transpose(dim, -1).contiguous()\n"
    "def differs(a: Tensor, b: Tensor, dim: int) -> bool:\n"
    "    return a.dtype != b.dtype or not a.is_contiguous() or \\\n"
    "        not torch.allclose(a, b.transpose(dim, -1), 2e-5, 2e-6, True)\n"
    "def softmaxes(x: Tensor, dim: int) -> bool:\n"
    "    a, b = torch.softmax(x, dim), torch.log_softmax(x, dim)\n"
    "    c, d = torch.softmax(as_last(x, dim), -1), torch.log_softmax(as_last(x, dim), -1)\n"
    "    return differs(a, c, dim) or differs(b, d, dim)\n"
    "def scans(x: Tensor, dim: int) -> bool:\n"
    "    y = as_last(x, dim)\n"
    "    in_place = x.clone()\n"
    "    in_place.cumsum_(dim)\n"
    "    return differs(torch.cumsum(x, dim), torch.cumsum(y, -1), dim) or \\\n"
    "        differs(in_place.to(torch.cumsum(x, dim).dtype), torch.cumsum(y, -1), dim) or \\\n"
    "        differs(torch.cumprod(x, dim), torch.cumprod(y, -1), dim) or \\\n"
    "        differs(torch.cumsum(x, dim, dtype=torch.float64), torch.cumsum(y, -1, dtype=torch.float64), dim)\n"
    "def every_shape() -> str:\n"
    "    for sizes in [[3, 5, 16], [1, 1, 17], [2, 7, 300], [40, 9, 15], [6, 64, 33], [2, 300, 128], [3, 1, 600]]:\n"
    "        for dim in [0, 1]:\n"
    "            x = torch.randn(sizes)\n"
    "            if softmaxes(x, dim) or softmaxes(x.double(), dim) or softmaxes(x * 60, dim):\n"
    "                return 'softmax {} {}'.format(sizes, dim)\n"
    "            if scans(x, dim) or scans(x.double(), dim) or scans((x * 3).round().long(), dim) or \\\n"
    "                    scans(torch.complex(x, x * 0.5), dim):\n"
    "                return 'scan {} {}'.format(sizes, dim)\n"
    "            y = as_last(x, dim)\n"
    "            if differs(torch.logcumsumexp(x, dim), torch.logcumsumexp(y, -1), dim):\n"
    "                return 'logcumsumexp {} {}'.format(sizes, dim)\n"
    "            for value in [float('nan'), float('inf'), float('-inf')]:\n"
    "                odd = torch.where(torch.rand(sizes) < 0.05, torch.full([1], value), x)\n"
    "                if softmaxes(odd, dim) or scans(odd, dim):\n"
    "                    return '{} {} {}'.format(value, sizes, dim)\n"
    "            if softmaxes(torch.full(sizes, float('-inf')), dim):\n"
    "                return 'nothing'\n"
    "    return ''\n"
    /* into its argument */
    "def aliases() -> str:\n"
    "    for name in ['softmax', 'log_softmax', 'cumprod']:\n"
    "        x = torch.randn([4, 6, 40])\n"
    "        y = x.clone()\n"
    "        if name == 'softmax':\n"
    "            wanted = torch.softmax(x, 1)\n"
    "            torch.softmax(y, 1, out=y)\n"
    "        elif name == 'log_softmax':\n"
    "            wanted = torch.log_softmax(x, 1)\n"
    "            torch.log_softmax(y, 1, out=y)\n"
    "        else:\n"
    "            wanted = torch.cumprod(x, 1)\n"
    "            y.cumprod_(1)\n"
    "        if not torch.equal(y, wanted):\n"
    "            return name\n"
    "    return ''\n";

static void test_every_shape(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) expect_text(program, "every_shape", -1, threads, WICK_GRAD_OFF, "");
}

static void test_aliases(void **state) {
  (void)state;
  expect_text(program, "aliases", -1, 1, WICK_GRAD_OFF, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_shape), cmocka_unit_test(test_aliases)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
