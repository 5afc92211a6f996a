/* Reductions of float32, which read rows as they are, against those of float64, which convert: sizes around those of
 * vectors and blocks, each way memory can lie, one dimension and several, on one thread and on several; and medians. */
#include "program_fixture.h"

static const char program[] =
    "def differs(a: Tensor, b: Tensor) -> bool:\n"
    "    return a.dtype != torch.float32 or a.size() != b.size() or not torch.allclose(a.double(), b, 1e-5, 1e-5, "
    "True)\n"
    "def same(a: Tensor, b: Tensor) -> bool:\n"
    "    return a.dtype == torch.float32 and a.size() == b.size() and torch.allclose(a.double(), b, 0.0, 0.0, True)\n"
    "def reductions(x: Tensor, dims: List[int], keep: bool) -> str:\n"
    "    y = x.double()\n"
    "    if differs(torch.sum(x, dims, keep), torch.sum(y, dims, keep)):\n"
    "        return 'sum'\n"
    "    if differs(torch.mean(x, dims, keep), torch.mean(y, dims, keep)):\n"
    "        return 'mean'\n"
    "    if differs(torch.norm(x, 2, dims, keep), torch.norm(y, 2, dims, keep)):\n"
    "        return 'norm'\n"
    "    if differs(torch.logsumexp(x, dims, keep), torch.logsumexp(y, dims, keep)):\n"
    "        return 'logsumexp'\n"
    "    if not same(torch.amax(x, dims, keep), torch.amax(y, dims, keep)):\n"
    "        return 'amax'\n"
    "    if not same(torch.amin(x, dims, keep), torch.amin(y, dims, keep)):\n"
    "        return 'amin'\n"
    "    if len(dims) == 1:\n"
    "        for a, b in [(torch.max(x, dims[0], keep), torch.max(y, dims[0], keep)),\n"
    "                     (torch.min(x, dims[0], keep), torch.min(y, dims[0], keep))]:\n"
    "            if not same(a[0], b[0]) or not torch.equal(a[1], b[1]):\n"
    "                return 'max or min'\n"
    "        if not torch.equal(torch.argmax(x, dims[0]), torch.argmax(y, dims[0])):\n"
    "            return 'argmax'\n"
    "    return ''\n"
    "def every_way(x: Tensor) -> str:\n"
    "    for dims in [[0], [1], [2], [3], [2, 3], [0, 1], [1, 3], [0, 2, 3], [0, 1, 2, 3]]:\n"
    "        for way in [x, x.transpose(1, 3), x.transpose(0, 2), x[:, :, :, ::2], x[:, :, 1:],\n"
    "                    x.contiguous(memory_format=torch.channels_last), x[:, :1].expand(-1, 3, -1, -1)]:\n"
    "            wrong = reductions(way, dims, len(dims) == 2)\n"
    "            if wrong != '':\n"
    "                return '{} {} {} {}'.format(wrong, way.size(), way.stride(), dims)\n"
    "    return ''\n"
    "def numbers() -> str:\n"
    "    for sizes in [[2, 3, 5, 7], [1, 1, 2, 1], [3, 2, 40, 33], [5, 17, 2, 9], [2, 5, 3, 600], [2, 600, 3, 5],\n"
    "                  [515, 2, 3, 3], [9, 3, 16, 32]]:\n"
    "        wrong = every_way(torch.randn(sizes))\n"
    "        if wrong == '':\n" /* many are equal: the first counts */
    "            wrong = every_way((torch.randn(sizes) * 1.5).round())\n"
    "        if wrong != '':\n"
    "            return wrong\n"
    "    return ''\n"
    "def special() -> str:\n"
    "    for value in [float('nan'), float('inf'), float('-inf')]:\n"
    "        for share in [0.02, 0.3, 1.0]:\n"
    "            x = torch.randn([3, 4, 40, 20])\n"
    "            wrong = every_way(torch.where(torch.rand([3, 4, 40, 20]) < share, torch.full([1], value), x))\n"
    "            if wrong != '':\n"
    "                return '{}: {}'.format(value, wrong)\n"
    "    x = torch.tensor([float('-inf'), float('inf'), float('nan'), -1e30, 1e30, 0.0]).repeat(200).view(30, 2, 5, "
    "4)\n"
    "    x = x[torch.randperm(30)]\n"
    "    return every_way(x)\n"
    /* Blocks of logsumexp that raise what earlier ones were less, and none that is finite before. */
    "def far_apart() -> str:\n"
    "    x = torch.arange(2000.0) - 1000\n"
    "    x[:900] = float('-inf')\n"
    "    for way in [x.view(1, 2000), torch.stack([x, -x, x.flip([0])])]:\n"
    "        for one in [way, way.t().contiguous().t()]:\n"
    "            if differs(torch.logsumexp(one, [1]), torch.logsumexp(one.double(), [1])):\n"
    "                return '{} {}'.format(torch.logsumexp(one, [1]), torch.logsumexp(one.double(), [1]))\n"
    "    return ''\n"
    "def zeros() -> str:\n"
    "    x = torch.zeros([3, 100])\n"
    "    x[1, 50:] = -0.0\n"
    "    x[2, :50] = -0.0\n"
    "    signs = torch.tensor([float('inf'), float('inf'), float('-inf')])\n"
    "    for way in [x, x.t().contiguous().t()]:\n"
    "        if not torch.equal(1 / torch.amax(way, [1]), signs) or not torch.equal(1 / torch.amin(way, [1]), signs):\n"
    "            return 'the first of equal ones: {}'.format(way.stride())\n"
    "    return ''\n"
    /* Of equal values the one that sorting in order puts there; the first NaN. */
    "def medians() -> str:\n"
    "    for n in [1, 2, 3, 4, 7, 64, 101, 500]:\n"
    "        for scale in [0.3, 2.0, 1e6]:\n"
    "            x = (torch.randn([20, n]) * scale).round()\n"
    "            values, positions = torch.sort(x, stable=True, dim=1, descending=False)\n"
    "            middle = torch.median(x, 1)\n"
    "            if not torch.equal(middle[0], values[:, (n - 1) // 2]) or \\\n"
    "                    not torch.equal(middle[1], positions[:, (n - 1) // 2]):\n"
    "                return '{} {}'.format(n, scale)\n"
    "            if not torch.equal(torch.median(x.long(), 1)[1], middle[1]):\n"
    "                return 'integers'\n"
    "    x = torch.tensor([[3.0, float('nan'), 1.0, float('nan'), 2.0, 2.0]])\n"
    "    x = torch.cat([x, torch.full([1, 6], float('nan'))])\n"
    "    if not torch.equal(torch.median(x, 1)[1], torch.tensor([1, 0])):\n"
    "        return 'NaN'\n"
    "    return '' if torch.equal(torch.nanmedian(x, 1)[1], torch.tensor([4, 0])) else 'nanmedian'\n"
    "def empty() -> str:\n"
    "    x = torch.zeros([3, 0, 4])\n"
    "    if not torch.equal(x.sum([1]), torch.zeros([3, 4])) or not torch.equal(x.norm(2, [1]), torch.zeros([3, 4])):\n"
    "        return 'sum'\n"
    "    if list(x.sum([0]).size()) != [0, 4] or not bool(x.mean([1]).isnan().all()):\n"
    "        return 'mean'\n"
    "    return '' if bool((x.logsumexp([1]) == float('-inf')).all()) else 'logsumexp'\n";

static void test_numbers(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) expect_text(program, "numbers", -1, threads, WICK_GRAD_OFF, "");
}

static void test_special_values(void **state) {
  (void)state;
  expect_text(program, "special", -1, 1, WICK_GRAD_OFF, "");
  expect_text(program, "far_apart", -1, 1, WICK_GRAD_OFF, "");
  expect_text(program, "zeros", -1, 1, WICK_GRAD_OFF, "");
  expect_text(program, "medians", -1, 1, WICK_GRAD_OFF, "");
  expect_text(program, "empty", -1, 1, WICK_GRAD_OFF, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_special_values)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
