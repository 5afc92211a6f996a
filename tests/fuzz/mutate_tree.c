/* See mutate_tree.h. */
#include "mutate_tree.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
enum { MAX_PARTS = 4, DEEPEST = 300 };

int64_t tree_any_number(Chance *chance) {
  static const int64_t telling[] = {0,   1,     2,         -1,        3,         7,         64,      127,
                                    256, 65536, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1 << 20, (int64_t)1 << 40};
  return telling[chance_below(chance, COUNT(telling))];
}

static Str any_text(Chance *chance) {
  static const char *const texts[] = {
      "",  "x",       "self",        "forward", "__setstate__", "Tensor", "int", "List[int]",      "Optional[Tensor]",
      "0", "default", "__torch__.M", "cpu",     "a\nb",         "\xff",   "1",   "Dict[str, int]", "training"};
  return str_from(texts[chance_below(chance, COUNT(texts))]);
}

static PickleTree *any_container(Arena *arena, Chance *chance, int depth) {
  static const PickleKind kinds[] = {PICKLE_TUPLE, PICKLE_LIST, PICKLE_DICT};
  PickleTree *tree = pickle_tree_new(arena, kinds[chance_below(chance, COUNT(kinds))]);
  size_t count = (size_t)chance_below(chance, MAX_PARTS);
  if (tree->kind == PICKLE_DICT) count *= 2;
  for (size_t i = 0; i < count; i++) pickle_tree_add(arena, tree, tree_any_value(arena, chance, depth + 1));
  return tree;
}
/* One in another, and so on. */
static PickleTree *deep(Arena *arena, Chance *chance) {
  PickleTree *tree = pickle_tree_int(arena, 1);
  for (size_t depth = (size_t)chance_below(chance, DEEPEST); depth--;) {
    PickleTree *outer = pickle_tree_new(arena, PICKLE_TUPLE);
    pickle_tree_add(arena, outer, tree);
    tree = outer;
  }
  return tree;
}
static PickleTree *any_real(Arena *arena, Chance *chance) {
  static const double reals[] = {0.0, -0.0, 0.5, -1.0, 1e300, 1e-320, INFINITY, NAN};
  PickleTree *tree = pickle_tree_new(arena, PICKLE_FLOAT);
  tree->real = reals[chance_below(chance, COUNT(reals))];
  return tree;
}

PickleTree *tree_any_value(Arena *arena, Chance *chance, int depth) {
  switch (chance_below(chance, depth < 3 ? 8 : 6)) {
    case 0:
      return pickle_tree_new(arena, PICKLE_NONE);
    case 1: {
      PickleTree *tree = pickle_tree_new(arena, PICKLE_BOOL);
      tree->number = (int64_t)chance_below(chance, 2);
      return tree;
    }
    case 2:
    case 3:
      return pickle_tree_int(arena, tree_any_number(chance));
    case 4:
      return any_real(arena, chance);
    case 5:
      return pickle_tree_text(arena, any_text(chance));
    case 6:
      return any_container(arena, chance, depth);
    default:
      return chance_below(chance, 8) ? any_container(arena, chance, depth) : deep(arena, chance);
  }
}

/* ---- rows ---- */

static void remove_item(PickleTree *tree, size_t at) {
  memmove(&tree->items.data[at], &tree->items.data[at + 1], (--tree->items.length - at) * sizeof *tree->items.data);
}
static void insert_item(Arena *arena, PickleTree *tree, size_t at, PickleTree *item) {
  pickle_tree_add(arena, tree, item);
  memmove(&tree->items.data[at + 1], &tree->items.data[at], (tree->items.length - 1 - at) * sizeof *tree->items.data);
  tree->items.data[at] = item;
}

void tree_mutate_rows(Arena *arena, PickleTree *table, Chance *chance) {
  size_t count = table->items.length;
  if (!count) return;
  size_t at = (size_t)chance_below(chance, count), other = (size_t)chance_below(chance, count);
  PickleTree **items = table->items.data, *kept = items[at];
  switch (chance_below(chance, 4)) {
    case 0:
      remove_item(table, at);
      break;
    case 1:
      insert_item(arena, table, at, pickle_tree_copy(arena, items[other]));
      break;
    case 2:
      items[at] = items[other];
      items[other] = kept;
      break;
    default:
      items[at] = pickle_tree_copy(arena, items[other]);
  }
}

/* ---- any branch ---- */

static PickleTree *changed_value(Arena *arena, const PickleTree *tree, Chance *chance) {
  PickleTree *out = pickle_tree_copy(arena, tree);
  int64_t near = (int64_t)chance_below(chance, 3) - 1;
  switch (tree->kind) {
    case PICKLE_BOOL:
      out->number = !tree->number;
      return out;
    case PICKLE_INT:
      out->number =
          chance_below(chance, 2) ? tree_any_number(chance) : (int64_t)((uint64_t)tree->number + (uint64_t)near);
      return out;
    case PICKLE_FLOAT:
      return any_real(arena, chance);
    case PICKLE_TUPLE:
    case PICKLE_LIST:
    case PICKLE_DICT:
      if (chance_below(chance, 3))
        tree_mutate_rows(arena, out, chance);
      else
        out->kind = PICKLE_TUPLE + (PickleKind)chance_below(chance, 3);
      return out;
    case PICKLE_CALL:
    case PICKLE_OBJECT:
    case PICKLE_BUILT:
      return chance_below(chance, 2) ? out->items.data[chance_below(chance, out->items.length)] : out;
    default:
      return tree_any_value(arena, chance, 0);
  }
}

void tree_mutate(Arena *arena, PickleTree *root, Chance *chance) {
  PicklePlaces places = {0};
  pickle_tree_places(arena, root, &places);
  if (!places.length) return;
  PicklePlace place = places.data[chance_below(chance, places.length)],
              other = places.data[chance_below(chance, places.length)];
  PickleTree **here = &place.parent->items.data[place.index], **there = &other.parent->items.data[other.index];
  PickleTree *kept = *here;
  switch (chance_below(chance, 6)) {
    case 0:
      *here = tree_any_value(arena, chance, 0);
      break;
    case 1: /* copies: neither may come to hold itself */
      *here = pickle_tree_copy(arena, *there);
      *there = pickle_tree_copy(arena, kept);
      break;
    case 2:
      *here = pickle_tree_copy(arena, *there);
      break;
    case 3: {
      PickleTree *outer = pickle_tree_new(arena, chance_below(chance, 2) ? PICKLE_TUPLE : PICKLE_LIST);
      pickle_tree_add(arena, outer, kept);
      *here = outer;
      break;
    }
    default:
      *here = changed_value(arena, kept, chance);
  }
}
