/* Lists, tuples and dicts made anew of other items. */
#include <stdlib.h>

#include "cli/cli.h"
#include "wick/value.h"

wick_value *container_of_mapped(const wick_value *container, ItemMap *map, int nesting, void *context,
                                wick_error **error) {
  uint32_t kind = wick_value_kind(container);
  size_t count = wick_value_length(container);
  wick_value **items = calloc(2 * count + 1, sizeof *items), *result = NULL;
  bool fine = items != NULL;
  for (size_t i = 0; fine && i < count; i++) {
    wick_value *item = wick_value_item(container, i);
    items[i] = item ? map(item, nesting + 1, context) : NULL;
    wick_value_release(item);
    if (kind == WICK_DICT) items[count + i] = wick_value_key(container, i);
    fine = items[i] && (kind != WICK_DICT || items[count + i]);
  }
  const wick_value *const *values = (const wick_value *const *)items;
  if (fine && kind == WICK_LIST) wick_value_list(values, count, &result, error);
  if (fine && kind == WICK_TUPLE) wick_value_tuple(values, count, &result, error);
  if (fine && kind == WICK_DICT) wick_value_dict(values + count, values, count, &result, error);
  for (size_t i = 0; items && i < 2 * count; i++) wick_value_release(items[i]);
  free(items);
  return result;
}
