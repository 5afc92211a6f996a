/* Sorting, selecting and searching by keys against the plain way, and what the operators make of them. */
#include "program_fixture.h"

#include <math.h>

#include "compute/sort/sort.h"
#include "random_numbers.h"

enum { MOST = 700 };
static const int64_t lengths[] = {1, 2, 3, 5, 31, 64, 127, 128, 129, 255, 256, 257, 640, MOST};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

/* Ties, both zeros, infinities and NaN among them. */
static double number(void) {
  static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.5, -1.5, 1e-40, -1e-40};
  return pick(0, 3) ? special[pick(0, 8)] : (double)pick(-100000, 100000) / 64;
}

static bool is_below(double a, double b) { /* NaN above all */
  return isnan(b) ? !isnan(a) : a < b;
}

static void write_number(DType dtype, char *to, double value) {
  if (!dtype_is_floating(dtype) && !(fabs(value) < 100)) value = 7;
  dtype_convert(dtype, to, 1, DTYPE_FLOAT64, &value, 1, 1);
}
static double read_number(DType dtype, const char *from) {
  double value;
  dtype_convert(DTYPE_FLOAT64, &value, 1, dtype, from, 1, 1);
  return value;
}

static void test_lines(void **state) {
  (void)state;
  static const DType dtypes[] = {DTYPE_FLOAT32, DTYPE_FLOAT64, DTYPE_FLOAT16, DTYPE_INT64, DTYPE_INT8};
  for (int d = 0; d < 5; d++)
    for (int l = 0; l < LENGTHS; l++)
      for (int64_t form = 0; form < 4; form++) {
        DType dtype = dtypes[d];
        int64_t n = lengths[l], stride = (int64_t)dtype_size(dtype) * (1 + form / 2), least = 1 + n / 3;
        bool descending = form % 2;
        char data[MOST * 16];
        for (int64_t i = 0; i < n; i++) write_number(dtype, data + i * stride, number());
        SortLine line, top, all;
        assert_null(sort_line_new(n, &line));
        assert_null(sort_line_new(n, &top));
        assert_null(sort_line_new(n, &all));
        sort_line_load(&line, dtype, data, stride, descending);
        sort_line_load(&all, dtype, data, stride, descending);
        sort_line_load_least(&top, least, dtype, data, stride, descending);
        sort_partial(all.items, least, n);
        for (int64_t i = 0; i < least; i++) assert_int_equal(top.items[i].position, all.items[i].position);
        sort_stable(&line);
        bool seen[MOST] = {false};
        for (int64_t i = 0; i < n; i++) {
          int64_t at = line.items[i].position;
          double value = read_number(dtype, data + at * stride);
          assert_false(seen[at]);
          seen[at] = true;
          assert_true((line.items[i].key == (descending ? ~SORT_KEY_NAN : SORT_KEY_NAN)) == (isnan(value) != 0));
          if (i == 0) continue;
          double before = read_number(dtype, data + line.items[i - 1].position * stride);
          assert_false(descending ? is_below(before, value) : is_below(value, before));
          if (!is_below(before, value) && !is_below(value, before)) assert_true(line.items[i - 1].position < at);
        }
        sort_line_dispose(&line);
        sort_line_dispose(&top);
        sort_line_dispose(&all);
      }
}

static void test_far_keys(void **state) {
  (void)state;
  SortLine line;
  int64_t data[MOST];
  for (int64_t i = 0; i < MOST; i++) data[i] = i % 3 ? (int64_t)((uint64_t)next() << 33 | next()) : pick(-3, 3);
  data[5] = INT64_MIN, data[77] = INT64_MAX;
  assert_null(sort_line_new(MOST, &line));
  sort_line_load(&line, DTYPE_INT64, (const char *)data, 8, false);
  sort_stable(&line);
  for (int64_t i = 0; i < MOST; i++) {
    assert_true(line.items[i].key == data[line.items[i].position]);
    if (i) assert_true(line.items[i - 1].key <= line.items[i].key);
  }
  sort_line_dispose(&line);
}

static void test_search(void **state) {
  (void)state;
  for (int64_t n = 0; n < 70; n++) {
    int64_t edges[70], order[70], reversed[70], values[23], places[23], through[23];
    for (int64_t i = 0; i < n; i++) edges[i] = (i ? edges[i - 1] : -5) + pick(0, 2);
    for (int64_t i = 0; i < n; i++) reversed[n - 1 - i] = edges[i], order[i] = n - 1 - i;
    for (int i = 0; i < 23; i++) values[i] = pick(-8, n ? edges[n - 1] + 3 : 3);
    assert_true(sort_is_sorted(edges, n));
    assert_true(sort_is_sorted(reversed, n) == (n < 2 || edges[0] == edges[n - 1]));
    for (int right = 0; right < 2; right++) {
      sort_search(&(SortEdges){edges, NULL, n, true}, 23, values, right, places);
      sort_search(&(SortEdges){reversed, order, n, false}, 23, values, right, through);
      for (int i = 0; i < 23; i++) {
        int64_t place = 0;
        while (place < n && (right ? edges[place] <= values[i] : edges[place] < values[i])) place++;
        assert_int_equal(places[i], place);
        assert_int_equal(through[i], place);
      }
    }
  }
}

static const char program[] =
    "def numbers(n: int) -> Tensor:\n"
    "    x = torch.randint(-9, 9, [n]).to(torch.float32)\n"
    "    return torch.where(x > 7.0, torch.full_like(x, float('nan')), x)\n"
    "def is_list(x: Tensor, expected: List[int]) -> bool:\n"
    "    return torch.equal(x, torch.tensor(expected))\n"
    "def unique() -> str:\n"
    "    for n in [0, 1, 2, 50, 127, 128, 300]:\n"
    "      for scale in [1, 1000000000]:\n"
    "        x = torch.randint(-9, 9, [n]) * scale\n"
    "        values, inverse, counts = torch._unique2(x, True, True, True)\n"
    "        if not torch.equal(values[inverse], x) or int(counts.sum()) != n:\n"
    "            return 'values {}'.format(n)\n"
    "        if not torch.equal(torch._unique2(x)[0], values) or torch._unique2(x)[1].numel() > 0:\n"
    "            return 'alone {}'.format(n)\n"
    "        for i in range(values.numel()):\n"
    "            if int((x == values[i]).sum()) != int(counts[i]) or i > 0 and int(values[i]) <= int(values[i - 1]):\n"
    "                return 'counts {}'.format(n)\n"
    "        rows, of_rows, of_each = torch.unique_dim(x.unsqueeze(1).expand([n, 3]), 0, True, True, True)\n"
    "        if n > 0 and not (torch.equal(rows[:, 1], values) and torch.equal(of_rows, inverse) and\n"
    "                          torch.equal(of_each, counts)):\n"
    "            return 'rows {}'.format(n)\n"
    "        if n > 0 and not torch.equal(torch.bincount(x // scale + 9, None, 20)[values // scale + 9], counts):\n"
    "            return 'bincount {}'.format(n)\n"
    "    ends = torch.tensor([9223372036854775807, -9223372036854775807, 0, 9223372036854775807])\n"
    "    if not is_list(torch._unique2(ends, True, True)[1], [2, 0, 1, 2]):\n"
    "        return 'far ends'\n"
    "    if not torch.equal(torch._unique2(ends > 0)[0], torch.tensor([False, True])):\n"
    "        return 'bool'\n"
    "    values, inverse, counts = torch._unique2(torch.tensor([float('nan'), -0.0, 0.0, float('nan'), -1.0]), True,\n"
    "                                             True, True)\n"
    "    if not is_list(inverse, [2, 1, 1, 3, 0]) or not is_list(counts, [1, 2, 1, 1]):\n"
    "        return '{} {}'.format(inverse, counts)\n"
    "    values, inverse, counts = torch.unique_consecutive(torch.tensor([3, 3, 1, 3, 3, 3]), True, True)\n"
    "    return '' if is_list(values, [3, 1, 3]) and is_list(inverse, [0, 0, 1, 2, 2, 2]) and \\\n"
    "        is_list(counts, [2, 1, 3]) else '{} {} {}'.format(values, inverse, counts)\n"
    "def search() -> str:\n"
    "    edges = torch.sort(numbers(90).view(3, 30))[0]\n"
    "    values = numbers(300).view(3, 100)\n"
    "    for right in [False, True]:\n"
    "        places = torch.searchsorted(edges, values, right=right)\n"
    "        if not torch.equal(places, torch.searchsorted(edges.double(), values, right=right)):\n"
    "            return 'float64'\n"
    "        for i in range(3):\n"
    "            one = torch.searchsorted(edges[i], values[i][::2], right=right)\n"
    "            if not torch.equal(one, places[i][::2]):\n"
    "                return 'lines {}'.format(i)\n"
    "            if not torch.equal(torch.bucketize(values[i], edges[i], right=right), places[i]):\n"
    "                return 'bucketize {}'.format(i)\n"
    "            for j in range(0, 100, 7):\n"
    "                v = values[i][j]\n"
    "                below = edges[i] < v\n"
    "                if right:\n"
    "                    below = edges[i] <= v\n"
    "                if bool(v == v) and int(below.sum()) != int(places[i][j]):\n"
    "                    return 'place {} {}'.format(i, j)\n"
    "                if bool(v != v) and int((edges[i] == edges[i]).sum()) != int(places[i][j]) and not right:\n"
    "                    return 'NaN {} {}'.format(i, j)\n"
    "    big = torch.tensor([9007199254740992, 9007199254740993])\n"
    "    if not is_list(torch.searchsorted(big, big), [0, 1]):\n"
    "        return 'large integers'\n"
    "    return '' if torch.searchsorted(edges[0][:0], values).sum().item() == 0 else 'no edges'\n"
    "def histograms() -> str:\n"
    "    for bins in [1, 7, 50]:\n"
    "        for range in [[0.0, 0.0], [-10.0, 10.0], [-3.3, 7.7], [5.0, 5.0]]:\n"
    "            x = torch.randint(-300, 300, [40, 31]).to(torch.float32) / 10.0\n"
    "            low, high = torch.tensor(range[0]), torch.tensor(range[1])\n"
    "            if range[0] == range[1]:\n"
    "                low, high = x.min(), x.max()\n"
    "            kept = x[(x >= low).logical_and(x <= high)]\n"
    "            at = ((kept - low) / (high - low) * bins).to(torch.int64).clamp(0, bins - 1)\n"
    "            counts = torch.bincount(at, None, bins)\n"
    "            for form in [x, x.t(), torch.cat([x, torch.full([2, 31], float('nan'))]) \\\n"
    "                         if range[0] != range[1] else x]:\n"
    "                if not torch.equal(torch.histc(form, bins, range[0], range[1]), counts.to(torch.float32)):\n"
    "                    return 'histc {} {}'.format(bins, range)\n"
    "    x = torch.histc(torch.tensor([2.0, 2.0], dtype=torch.float64), 4)\n"
    "    if not torch.equal(x, torch.tensor([0.0, 0.0, 2.0, 0.0], dtype=torch.float64)):\n"
    "        return 'one value {}'.format(x)\n"
    "    if int(torch.histc(torch.ones([9]), 4, 1.0, 1.0000000001)[0]) != 9:\n"
    "        return 'no width'\n"
    "    return '' if torch.equal(torch.histc(torch.empty([0]), 3), torch.zeros([3])) else 'empty'\n"
    "def endless() -> Tensor:\n"
    "    return torch.histc(torch.tensor([1.0, float('inf')]), 5)\n"
    /* The lower one of the middle, and of equal ones that which a stable sort puts there. */
    "def medians() -> str:\n"
    "    for n in [1, 2, 9, 200, 1001]:\n"
    "        x = torch.randint(-9, 9, [5, n]).to(torch.float32)\n"
    "        values, places = torch.sort(x, stable=True, dim=1)\n"
    "        middle = torch.median(x, 1)\n"
    "        if not torch.equal(middle[0], values[:, (n - 1) // 2]) or \\\n"
    "                not torch.equal(middle[1], places[:, (n - 1) // 2]):\n"
    "            return 'median {}'.format(n)\n"
    "        x[2][n // 2] = float('nan')\n"
    "        x[2][n // 3] = float('nan')\n"
    "        if int(torch.median(x, 1)[1][2]) != n // 3:\n"
    "            return 'NaN {}'.format(n)\n"
    "        numbers = int((x[2] == x[2]).sum())\n"
    "        values, places = torch.sort(x[2], stable=True)\n"
    "        if int(torch.nanmedian(x, 1)[1][2]) != int(places[max(0, (numbers - 1) // 2)]):\n"
    "            return 'nanmedian {}'.format(n)\n"
    "        for k in [1, 3]:\n"
    "            if n > 64 * k and not torch.equal(torch.topk(x, k)[0][:2], torch.sort(x, 1, True)[0][:2, :k]):\n"
    "                return 'topk {}'.format(n)\n"
    "    return ''\n";

static void test_operators(void **state) {
  (void)state;
  for (int threads = 1; threads <= 3; threads += 2) {
    expect_text(program, "unique", -1, threads, WICK_GRAD_OFF, "");
    expect_text(program, "search", -1, threads, WICK_GRAD_OFF, "");
    expect_text(program, "medians", -1, threads, WICK_GRAD_OFF, "");
    expect_text(program, "histograms", -1, threads, WICK_GRAD_OFF, "");
    expect_text(program, "endless", -1, threads, WICK_GRAD_OFF, "range of [1, inf] is not finite");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_lines), cmocka_unit_test(test_far_keys),
                                     cmocka_unit_test(test_search), cmocka_unit_test(test_operators)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
