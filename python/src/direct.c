/* Calls by overload. */
#include "direct.h"

#include <string.h>

enum { MOST_PARAMETERS = 8 };

typedef struct Row {
  const char *name, *schema_begin;
} Row;
static const Row rows[DIRECT_COUNT] = {
    [DIRECT_SELECT] = {"aten::select", "aten::select.int("},
    [DIRECT_SLICE] = {"aten::slice", "aten::slice.Tensor("},
    [DIRECT_UNSQUEEZE] = {"aten::unsqueeze", "aten::unsqueeze("},
    [DIRECT_ALIAS] = {"aten::alias", "aten::alias("},
    [DIRECT_INDEX] = {"aten::index", "aten::index.Tensor("},
    [DIRECT_INDEX_PUT] = {"aten::index_put_", "aten::index_put_("},
    [DIRECT_FILL_NUMBER] = {"aten::fill_", "aten::fill_.Scalar("},
    [DIRECT_COPY] = {"aten::copy_", "aten::copy_("},
};

_Static_assert((int)DIRECT_COUNT == (int)DIRECT_CALLS, "the state has room for each");

static const wick_overload *find(const Row *row) {
  for (const wick_overload *o = wick_overload_first(row->name); o; o = wick_overload_next(o)) {
    char *text;
    if (wick_overload_schema(o, &text, NULL)) continue;
    bool is_it = !strncmp(text, row->schema_begin, strlen(row->schema_begin));
    wick_text_free(text);
    if (is_it) return o;
  }
  PyErr_Format(PyExc_SystemError, "wick has no operator %s...)", row->schema_begin);
  return NULL;
}

wick_value *direct_call(ModuleState *state, enum Direct what, const wick_value *const *arguments, size_t count) {
  const wick_value *values[MOST_PARAMETERS] = {NULL};
  wick_run_options options;
  wick_value *result = NULL;
  wick_error *error = NULL;
  const wick_overload **found = &state->direct[what];
  if (!*found && !(*found = find(&rows[what]))) return NULL;
  memcpy(values, arguments, count * sizeof *values);
  call_options(&options);
  wick_status status =
      wick_overload_call(NULL, *found, values, wick_overload_parameter_count(*found), &options, &result, 1, &error);
  return status ? (wick_value *)raise_operator(state, status, error) : result;
}

/* Dimensions, bounds and steps are small numbers or the end of a slice, nearly always: those are made once for each
 * module, and kept. Borrowed from the state where there is room, else owned through `out_owned`; NULL: no memory. */
static wick_value *box_of(ModuleState *state, int64_t number, wick_value **out_owned) {
  bool is_small = number >= 0 && number < KEPT_INTS - 1;
  if (!is_small && number != INT64_MAX) return *out_owned = wick_value_int(number);
  wick_value **kept = &state->ints[is_small ? number : KEPT_INTS - 1];
  if (!*kept) *kept = wick_value_int(number);
  return *kept;
}

wick_value *direct_ints(ModuleState *state, enum Direct what, const wick_value *tensor, const int64_t *numbers,
                        size_t count) {
  wick_value *owned[MOST_PARAMETERS] = {NULL};
  const wick_value *values[MOST_PARAMETERS] = {tensor};
  bool complete = true;
  for (size_t i = 0; i < count; i++) {
    values[i + 1] = box_of(state, numbers[i], &owned[i]);
    complete = complete && values[i + 1];
  }
  wick_value *made = complete ? direct_call(state, what, values, count + 1) : (wick_value *)PyErr_NoMemory();
  for (size_t i = 0; i < count; i++) wick_value_release(owned[i]);
  return made;
}
