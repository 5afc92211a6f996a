/* The unstable algorithms of sort.h: quicksort by the median of three, which gives up on a heap when it gets too deep
 * and leaves short runs to one insertion sort at the end. */
#include <assert.h>

#include "base/work_limit.h"
#include "compute/sort/sort.h"

enum { SHORT_RUN = 16, SHORT_SELECTION = 3 };

static int depth_limit(int64_t count) {
  assert(count > 0);
  return 2 * (63 - __builtin_clzll((uint64_t)count));
}

/* ---- heaps: the greatest first ---- */

/* Puts the item in at `hole`, below `top`. */
static void sift_up(Ranked *heap, int64_t hole, int64_t top, Ranked item) {
  while (hole > top && heap[(hole - 1) / 2].key < item.key) {
    heap[hole] = heap[(hole - 1) / 2];
    hole = (hole - 1) / 2;
  }
  heap[hole] = item;
}

/* Moves the hole to the bottom along the greater children, then the item up from there. */
static void sift_down(Ranked *heap, int64_t hole, int64_t count, Ranked item) {
  int64_t top = hole;
  while (hole < (count - 1) / 2) {
    int64_t child = 2 * hole + 2;
    if (heap[child].key < heap[child - 1].key) child--;
    heap[hole] = heap[child];
    hole = child;
  }
  if (count % 2 == 0 && hole == (count - 2) / 2) { /* one child only */
    heap[hole] = heap[2 * hole + 1];
    hole = 2 * hole + 1;
  }
  sift_up(heap, hole, top, item);
}

void sort_heap_make(Ranked *heap, int64_t count) {
  for (int64_t parent = (count - 2) / 2; count > 1 && parent >= 0; parent--)
    sift_down(heap, parent, count, heap[parent]);
}

void sort_heap_replace(Ranked *heap, int64_t count, Ranked item) {
  sift_down(heap, 0, count, item);
}

/* The heap's greatest goes to `to`; what was there comes into the heap. */
static void exchange_greatest(Ranked *heap, int64_t count, Ranked *to) {
  Ranked item = *to;
  *to = heap[0];
  sift_down(heap, 0, count, item);
}

/* The first `middle` items become a heap of the smallest. */
static void select_by_heap(Ranked *items, int64_t middle, int64_t count) {
  sort_heap_make(items, middle);
  for (int64_t i = middle; i < count; i++)
    if (items[i].key < items[0].key) exchange_greatest(items, middle, &items[i]);
}

void sort_heap_end(Ranked *heap, int64_t count) {
  for (int64_t end = count - 1; end > 0; end--) exchange_greatest(heap, end, &heap[end]);
}

void sort_partial(Ranked *items, int64_t middle, int64_t count) {
  assert(middle <= count);
  if (middle <= 0) return;
  select_by_heap(items, middle, count);
  sort_heap_end(items, middle);
}

/* ---- quicksort ---- */

static void median_to(Ranked *to, Ranked *a, Ranked *b, Ranked *c) {
  Ranked *median;
  if (a->key < b->key)
    median = b->key < c->key ? b : a->key < c->key ? c : a;
  else
    median = a->key < c->key ? a : b->key < c->key ? c : b;
  swap_items(to, median);
}

/* Splits [first, last) by its median of three; the second part's beginning. */
static Ranked *partition(Ranked *first, Ranked *last) {
  median_to(first, first + 1, first + (last - first) / 2, last - 1);
  Ranked *low = first + 1, *high = last;
  for (;;) {
    while (low->key < first->key) low++;
    do high--;
    while (first->key < high->key);
    if (low >= high) return low;
    swap_items(low++, high);
  }
}

static void insert(Ranked *first, Ranked *at) {
  Ranked item = *at;
  for (; at > first && item.key < at[-1].key; at--) *at = at[-1];
  *at = item;
}

static void insertion_sort(Ranked *first, Ranked *last) {
  for (Ranked *at = first; at < last; at++) insert(first, at);
}

static void sort_long_runs(Ranked *first, Ranked *last, int depth) {
  while (last - first > SHORT_RUN) {
    if (last - first > WORK_PER_LOOK && work_is_over()) return;
    if (depth-- == 0) {
      sort_partial(first, last - first, last - first);
      return;
    }
    Ranked *cut = partition(first, last);
    sort_long_runs(cut, last, depth);
    last = cut;
  }
}

void sort_unstable(Ranked *items, int64_t count) {
  if (count < 2) return;
  sort_long_runs(items, items + count, depth_limit(count));
  if (count <= WORK_PER_LOOK || !work_is_over()) insertion_sort(items, items + count);
}

void sort_select(Ranked *items, int64_t nth, int64_t count) {
  assert(nth >= 0);
  if (nth >= count) return;
  Ranked *first = items, *last = items + count, *at = items + nth;
  for (int depth = depth_limit(count); last - first > SHORT_SELECTION;) {
    if (depth-- == 0) {
      select_by_heap(first, at + 1 - first, last - first);
      swap_items(first, at);
      return;
    }
    Ranked *cut = partition(first, last);
    if (cut <= at)
      first = cut;
    else
      last = cut;
  }
  insertion_sort(first, last);
}
