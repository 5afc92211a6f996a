/* Distances between rows against norms of differences in float64, by products and one by one. */
#include "program_fixture.h"

static const char program[] =
    "def plain(x: Tensor, y: Tensor, p: float) -> Tensor:\n"
    "    d = (x.double().unsqueeze(-2) - y.double().unsqueeze(-3)).abs()\n"
    "    if p == 0.0:\n"
    "        return (d > 0).double().sum(-1)\n"
    "    if p == float('inf'):\n"
    "        return d.amax(-1)\n"
    "    return d.pow(p).sum(-1).pow(1.0 / p)\n"
    "def differs(x: Tensor, y: Tensor, p: float, mode: Optional[int]) -> bool:\n"
    "    d = torch.cdist(x, y, p, mode)\n"
    "    expected = plain(x, y, p)\n"
    "    return d.dtype != x.dtype or d.shape != expected.shape or \\\n"
    "        float((d.double() - expected).abs().max()) > 3e-5 * float(expected.max() + 1.0)\n"
    "def rows() -> str:\n"
    "    for n in [1, 7, 8, 9, 64, 300]:\n"
    "        for sizes in [[1, 1], [3, 26], [26, 5], [25, 25], [40, 70]]:\n"
    "            x, y = torch.randn([sizes[0], n]), torch.randn([n, sizes[1]]).t()\n"
    "            for mode in [0, 1, 2]:\n"
    "                if differs(x, y, 2.0, mode):\n"
    "                    return 'mode {} {} {}'.format(mode, sizes, n)\n"
    "            for p in [0.0, 1.0, 2.0, 3.0, float('inf')]:\n"
    "                if differs(x, y, p, None) or differs(x.double(), y.double(), p, None):\n"
    "                    return '{} {} {}'.format(p, sizes, n)\n"
    "                upper = torch.triu_indices(sizes[0], sizes[0], 1)\n"
    "                pairs = torch.cdist(x, x, p, 2)[upper[0], upper[1]]\n"
    "                if not torch.equal(torch.pdist(x, p), pairs):\n"
    "                    return 'pdist {} {} {}'.format(p, sizes, n)\n"
    "    return ''\n"
    "def batches() -> str:\n"
    "    x, y = torch.randn([2, 1, 30, 12]), torch.randn([3, 28, 12])\n"
    "    if differs(x, y, 2.0, None) or torch.cdist(x, y).shape != [2, 3, 30, 28]:\n"
    "        return 'batches'\n"
    "    if float(torch.cdist(torch.ones([30, 0]), torch.ones([40, 0])).abs().sum()) != 0.0:\n"
    "        return 'no columns'\n"
    "    x = torch.randn([30, 12])\n"
    "    x[3, 4] = float('nan')\n"
    "    d = torch.cdist(x, torch.randn([40, 12]))\n"
    "    return '' if bool(d[3].isnan().all()) and int(d.isnan().sum()) == 40 else 'NaN'\n"
    /* Products alone would lose all digits. */
    "def far() -> str:\n"
    "    x = torch.randn([40, 11]) + 1000.0\n"
    "    for mode in [0, 1, 2]:\n"
    "        d = torch.cdist(x, x, 2.0, mode)\n"
    "        if float(d.diagonal().abs().max()) > 0.0 or float((d.double() - plain(x, x, 2.0)).abs().max()) > 1e-5:\n"
    "            return 'mode {}'.format(mode)\n"
    "    x = torch.randn([40, 11])\n"
    "    if float(torch.cdist(x, x).diagonal().max()) > 0.0:\n"
    "        return 'the same rows'\n"
    "    y = x.clone()\n"
    "    y[7, 2] = float('inf')\n"
    "    d = torch.cdist(x, y)\n"
    "    return '' if bool((d[:, 7] == float('inf')).all()) and int(d.isinf().sum()) == 40 else 'infinite'\n";

static void test_distances(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) {
    expect_text(program, "rows", -1, threads, WICK_GRAD_OFF, "");
    expect_text(program, "batches", -1, threads, WICK_GRAD_OFF, "");
    expect_text(program, "far", -1, threads, WICK_GRAD_OFF, "");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_distances)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
