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
    "def rows() -> str:\n"
    "    for dim in [0, 1, 2]:\n"
    "        for n in [1, 3, 37]:\n"
    "            x, y = numbers([5, 6, n]), numbers([5, 6, n])\n"
    "            i = torch.randint(0, x.size(dim), [x.size(dim)])\n"
    "            for narrow in [i, i.int()]:\n"
    "                if not torch.equal(x.index_add(dim, narrow, y).double(), x.double().index_add(dim, i, "
    "y.double())):\n"
    "                    return 'index_add {} {}'.format(dim, n)\n"
    "    return ''\n"
    "def outside() -> str:\n"
    "    return '{}'.format(torch.zeros([2, 3]).gather(1, torch.tensor([[0, 3]])))\n"
    "def below() -> str:\n"
    "    return '{}'.format(torch.zeros([2, 3]).scatter_add(1, torch.tensor([[0, -1]]), torch.ones([1, 2])))\n";

static void test_indexed(void **state) {
  (void)state;
  expect_text(indexed, "indexed", -1, 1, WICK_GRAD_OFF, "");
  expect_text(indexed, "rows", -1, 1, WICK_GRAD_OFF, "");
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

static const char padded[] =
    /* dimension by dimension: what is left, between two pieces of the value */
    "def joined(x: Tensor, pad: List[int], value: float) -> Tensor:\n"
    "    for i in range(len(pad) // 2):\n"
    "        d, before, after = x.dim() - 1 - i, pad[2 * i], pad[2 * i + 1]\n"
    "        x = x.narrow(d, max(-before, 0), x.size(d) + min(before, 0) + min(after, 0))\n"
    "        sizes = x.size()\n"
    "        sizes[d] = max(before, 0)\n"
    "        first = torch.full(sizes, value, dtype=x.dtype)\n"
    "        sizes[d] = max(after, 0)\n"
    "        x = torch.cat([first, x, torch.full(sizes, value, dtype=x.dtype)], d)\n"
    "    return x\n"
    "def padded() -> str:\n"
    "    for pad in [[1, 1], [2, 0], [-1, 3], [1, -2], [1, 2, 3, 4], [0, 0, 1, 0], [1, 1, -2, 1], [-1, -1, -1, 0],\n"
    "                [1, 0, 0, 2, 1, 1], [0, 0, 0, 0, -1, 2], [1, 1, 1, 1, 1, 1, 2, 1], [-7, 2, 1, 1]]:\n"
    "        for sizes in [[4], [3, 7], [5, 4, 7], [2, 3, 4, 7], [2, 2, 3, 4, 7], [0, 4, 3, 7], [2, 3, 0, 7]]:\n"
    "            if len(pad) > 2 * len(sizes) or (pad[0] == -7 and sizes[-1] < 7) or \\\n"
    "                    (0 in sizes and min(pad) < 0):\n"
    "                continue\n"
    "            for d in [torch.uint8, torch.float16, torch.float32, torch.float64, torch.complex128]:\n"
    "                x = torch.randint(0, 100, sizes).to(d)\n"
    "                y, expected = torch.constant_pad_nd(x, pad, 3.), joined(x, pad, 3.)\n"
    "                if y.dtype != d or not torch.equal(y, expected):\n"
    "                    return '{} {} {}'.format(pad, sizes, d)\n"
    "                if len(sizes) == 4 and x.numel() > 0:\n"
    "                    z = torch.constant_pad_nd(x.contiguous(memory_format=torch.channels_last), pad, 3.)\n"
    "                    if not torch.equal(z, expected) or \\\n"
    "                            not z.is_contiguous(memory_format=torch.channels_last):\n"
    "                        return 'channels last {} {} {}'.format(pad, sizes, d)\n"
    "                if len(sizes) > 2 and not torch.equal(\n"
    "                        torch.constant_pad_nd(x.transpose(0, 1), pad, 3.), joined(x.transpose(0, 1), pad, 3.)):\n"
    "                    return 'transposed {} {} {}'.format(pad, sizes, d)\n"
    "    return ''\n";

static void test_padded(void **state) {
  (void)state;
  expect_text(padded, "padded", -1, 1, WICK_GRAD_OFF, "");
  expect_text(padded, "padded", -1, 3, WICK_GRAD_OFF, "");
}

static const char sampled[] =
    "def differs(n: int, c: int, from_sizes: List[int], to_sizes: List[int]) -> bool:\n"
    "    x = torch.randn([n, c] + from_sizes)\n"
    "    grid = torch.rand([n] + to_sizes + [2]) * 6 - 3\n"
    "    grid[0][0][0][0] = 1.0\n"
    "    grid[-1][-1][-1][1] = float('nan')\n"
    "    for turned in [False, True]:\n"
    "        if turned:\n"
    "            x, grid = x.transpose(2, 3), grid.transpose(1, 2)\n"
    "        for padding in ['zeros', 'border', 'reflection']:\n"
    "            for aligned in [False, True]:\n"
    "                y = torch.nn.functional.grid_sample(x, grid, 'bilinear', padding, aligned)\n"
    "                z = torch.nn.functional.grid_sample(x.double(), grid.double(), 'bilinear', padding, aligned)\n"
    "                same = (y - z).abs().nan_to_num(0.) < 2e-4\n"
    "                if not bool(same.all()) or not torch.equal(y.isnan(), z.isnan()) or y.dtype != x.dtype or \\\n"
    "                        not y.is_contiguous():\n"
    "                    return True\n"
    "    return False\n"
    "def sampled() -> str:\n"
    "    for n, c in [(1, 1), (2, 3)]:\n"
    "        for sizes in [[1, 1, 1, 1], [5, 1, 3, 4], [4, 7, 1, 9], [8, 9, 17, 19]]:\n"
    "            if differs(n, c, sizes[:2], sizes[2:]):\n"
    "                return '{} {} {}'.format(n, c, sizes)\n"
    "    x = torch.full([1, 1, 2, 2], float('inf'))\n"
    "    for d in [torch.float32, torch.float64]:\n" /* far outside the pixels are 0, not infinite ones times 0 */
    "        y = torch.nn.functional.grid_sample(x.to(d), torch.full([1, 1, 1, 2], 5., dtype=d))\n"
    "        if y.item() != 0:\n"
    "            return 'outside: {}'.format(y)\n"
    "    return ''\n"
    /* what is recorded goes by the body: the values and their gradient */
    "def recorded() -> str:\n"
    "    x, grid = torch.randn([2, 3, 5, 6]), torch.rand([2, 4, 4, 2]) * 3 - 1.5\n"
    "    y = torch.nn.functional.grid_sample(x, grid)\n"
    "    x.requires_grad_()\n"
    "    z = torch.nn.functional.grid_sample(x, grid)\n"
    "    if not torch.equal(y, z.detach()):\n"
    "        return 'values'\n"
    "    z.sum().backward()\n"
    "    g = x.grad\n"
    "    return '' if g is not None and abs(float((g * x).sum() - z.sum())) < 1e-3 else 'gradient'\n";

static void test_sampled(void **state) {
  (void)state;
  expect_text(sampled, "sampled", -1, 1, WICK_GRAD_OFF, "");
  expect_text(sampled, "sampled", -1, 3, WICK_GRAD_OFF, "");
  expect_text(sampled, "recorded", -1, 1, WICK_GRAD_ON, "");
}

static const char bagged[] =
    "def bagged() -> str:\n"
    "    for wide in [torch.int64, torch.int32]:\n"
    "        for width in [1, 5, 64]:\n"
    "            w = torch.randn([9, width])\n"
    "            i = torch.randint(0, 9, [40], dtype=wide)\n"
    "            for last in [False, True]:\n"
    "                for starts in [[0], [0, 0, 7, 7, 39], [0, 40], [0, 12, 13]]:\n"
    "                    o = torch.tensor(starts, dtype=wide)\n"
    "                    for mode in [0, 1]:\n"
    "                        for scaled in [False, True] if mode == 0 else [False]:\n"
    "                            for padding in [None, 0, 3, -1]:\n"
    "                                s = torch.rand([40]) if scaled else None\n"
    "                                t = s.double() if s is not None else None\n"
    "                                a = torch.embedding_bag(w, i, o, False, mode, False, s, last, padding)\n"
    "                                b = torch.embedding_bag(w.double(), i, o, False, mode, False, t, last, padding)\n"
    "                                if a[0].size() != b[0].size() or \\\n"
    "                                        bool(((a[0] - b[0]).abs() > 1e-5).any()) or \\\n"
    "                                        a[0].dtype != torch.float32 or not torch.equal(a[1], b[1]) or \\\n"
    "                                        not torch.equal(a[2], b[2]) or not torch.equal(a[3], b[3]):\n"
    "                                    return '{} {} {} {} {} {}'.format(width, last, starts, mode, scaled, "
    "padding)\n"
    "    return ''\n"
    "def outside() -> str:\n"
    "    w = torch.randn([9, 4])\n"
    "    return '{}'.format(torch.embedding_bag(w, torch.tensor([0, 9]), torch.tensor([0]))[0])\n"
    "def disordered() -> str:\n"
    "    w = torch.randn([9, 4])\n"
    "    return '{}'.format(torch.embedding_bag(w, torch.tensor([0, 1]), torch.tensor([0, 2, 1]))[0])\n"
    "def late() -> str:\n"
    "    w = torch.randn([9, 4])\n"
    "    return '{}'.format(torch.embedding_bag(w, torch.tensor([0, 1]), torch.tensor([1]))[0])\n"
    "def empty() -> str:\n"
    "    w = torch.randn([9, 4])\n"
    "    none = torch.zeros([0], dtype=torch.int64)\n"
    "    a = torch.embedding_bag(w, none, none)\n"
    "    b = torch.embedding_bag(w, none, torch.tensor([0, 0]))\n"
    "    return '' if a[0].size() == [0, 4] and torch.equal(b[0], torch.zeros([2, 4])) else 'empty'\n";

static void test_bagged(void **state) {
  (void)state;
  expect_text(bagged, "bagged", -1, 1, WICK_GRAD_OFF, "");
  expect_text(bagged, "bagged", -1, 2, WICK_GRAD_OFF, "");
  expect_text(bagged, "outside", -1, 1, WICK_GRAD_OFF, "index out of range in self");
  expect_text(bagged, "disordered", -1, 1, WICK_GRAD_OFF, "out of order");
  expect_text(bagged, "late", -1, 1, WICK_GRAD_OFF, "offsets[0] has to be 0");
  expect_text(bagged, "empty", -1, 1, WICK_GRAD_OFF, "");
}

static const char folded[] =
    /* element by element of the kernel, from an image with its padding */
    "def columns_of(x: Tensor, k: List[int], d: List[int], p: List[int], s: List[int]) -> Tensor:\n"
    "    w = torch.constant_pad_nd(x, [p[1], p[1], p[0], p[0]])\n"
    "    high = (w.size(2) - d[0] * (k[0] - 1) - 1) // s[0] + 1\n"
    "    wide = (w.size(3) - d[1] * (k[1] - 1) - 1) // s[1] + 1\n"
    "    rows: List[Tensor] = []\n"
    "    for i in range(k[0]):\n"
    "        for j in range(k[1]):\n"
    "            rows.append(w[:, :, i * d[0]:, j * d[1]:][:, :, ::s[0], ::s[1]][:, :, :high, :wide])\n"
    "    return torch.stack(rows, 2).reshape(x.size(0), x.size(1) * k[0] * k[1], high * wide)\n"
    "def folded() -> str:\n"
    "    for sizes in [[1, 1, 5, 7], [2, 3, 9, 4], [1, 2, 3, 33]]:\n"
    "        for k, d, p, s in [([3, 3], [1, 1], [1, 1], [1, 1]), ([2, 3], [1, 1], [0, 0], [2, 3]),\n"
    "                           ([2, 2], [2, 3], [3, 4], [1, 2]), ([1, 1], [1, 1], [2, 5], [4, 4]),\n"
    "                           ([3, 2], [1, 2], [4, 9], [3, 1])]:\n"
    "            for t in [torch.float16, torch.float32, torch.float64, torch.complex64, torch.complex128]:\n"
    "                x = torch.randint(-9, 9, sizes).to(t)\n"
    "                y, z = torch.im2col(x, k, d, p, s), columns_of(x, k, d, p, s)\n"
    "                if y.dtype != t or not torch.equal(y, z):\n"
    "                    return 'unfold {} {} {} {} {} {}'.format(sizes, k, d, p, s, t)\n"
    /* the transposed map: the sum of products is the same on both sides */
    "                c = torch.randint(-9, 9, y.size()).to(t)\n"
    "                f = torch.col2im(c, sizes[2:], k, d, p, s)\n"
    "                if f.dtype != t or not torch.equal((f.to(torch.complex128) * x).sum(),\n"
    "                                                   (c.to(torch.complex128) * y).sum()):\n"
    "                    return 'fold {} {} {} {} {} {}'.format(sizes, k, d, p, s, t)\n"
    "    return ''\n";

static void test_folded(void **state) {
  (void)state;
  expect_text(folded, "folded", -1, 1, WICK_GRAD_OFF, "");
  expect_text(folded, "folded", -1, 2, WICK_GRAD_OFF, "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_indexed), cmocka_unit_test(test_flipped), cmocka_unit_test(test_padded),
      cmocka_unit_test(test_sampled), cmocka_unit_test(test_bagged),  cmocka_unit_test(test_folded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
