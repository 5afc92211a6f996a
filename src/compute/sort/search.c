/* Places of values in a sorted line (sort.h). */
#include "compute/sort/sort.h"

enum { LANES = 4 };

/* Binary searches side by side, so that none waits for its loads alone: all take the same steps, without branches,
 * which would be guessed wrongly half of the time. Each place is in [low, low + left]. */
static inline void search_lanes(const int64_t *edges, int64_t length, const int64_t *values, bool right,
                                int64_t *places) {
  int64_t low[LANES] = {0};
  for (int64_t left = length; left > 0; left /= 2) {
    int64_t half = left - left / 2;
    for (int lane = 0; lane < LANES; lane++) {
      int64_t edge = edges[low[lane] + half - 1];
      low[lane] += (right ? edge <= values[lane] : edge < values[lane]) ? half : 0;
    }
  }
  memcpy(places, low, sizeof low);
}

/* The steps PyTorch takes, which give its places in lines that are not sorted as well. */
static int64_t search_one(const int64_t *edges, const int64_t *order, int64_t length, int64_t value, bool right) {
  int64_t low = 0, high = length;
  while (low < high) {
    int64_t middle = low + (high - low) / 2, edge = edges[order ? order[middle] : middle];
    if (right ? edge <= value : edge < value)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool sort_is_sorted(const int64_t *keys, int64_t count) {
  for (int64_t i = 1; i < count; i++)
    if (keys[i] < keys[i - 1]) return false;
  return true;
}

void sort_search(const SortEdges *e, int64_t count, const int64_t *values, bool right, int64_t *places) {
  int64_t i = 0;
  if (e->sorted && right)
    for (; i + LANES <= count; i += LANES) search_lanes(e->keys, e->length, values + i, true, places + i);
  else if (e->sorted)
    for (; i + LANES <= count; i += LANES) search_lanes(e->keys, e->length, values + i, false, places + i);
  for (; i < count; i++) places[i] = search_one(e->keys, e->order, e->length, values[i], right);
}
