/* Inputs on the command line: Python literals, files, tensors made by a function. */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

enum { MAX_ITEMS = 1 << 16, MAX_NESTING = 200 };

typedef struct Reader {
  const char *start, *at;
  int nesting;
  char problem[200]; /* the first one; "": none so far */
} Reader;

static wick_value *fail(Reader *r, const char *what) {
  assert(r->at >= r->start);
  if (!r->problem[0]) snprintf(r->problem, sizeof r->problem, "%s at character %d", what, (int)(r->at - r->start) + 1);
  return NULL;
}
static void skip_spaces(Reader *r) {
  while (isspace((unsigned char)*r->at)) r->at++;
}
static bool accept(Reader *r, char c) {
  skip_spaces(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}
static bool accept_word(Reader *r, const char *word) {
  size_t n = strlen(word);
  skip_spaces(r);
  if (strncmp(r->at, word, n) != 0 || isalnum((unsigned char)r->at[n]) || r->at[n] == '_') return false;
  r->at += n;
  return true;
}

static wick_value *read_value(Reader *r);

/* A growing row of values; keywords are only used by calls. */
typedef struct Items {
  wick_value **values;
  size_t count, capacity;
} Items;
static bool items_push(Items *items, wick_value *value) {
  if (!value) return false;
  if (items->count == items->capacity) {
    size_t capacity = items->capacity ? 2 * items->capacity : 8;
    wick_value **values = capacity > MAX_ITEMS ? NULL : realloc(items->values, capacity * sizeof *values);
    if (!values) {
      wick_value_release(value);
      return false;
    }
    items->values = values;
    items->capacity = capacity;
  }
  items->values[items->count++] = value;
  return true;
}
static void items_dispose(Items *items) {
  for (size_t i = 0; i < items->count; i++) wick_value_release(items->values[i]);
  free(items->values);
}

static wick_value *read_number(Reader *r) {
  char *end_int, *end_float;
  errno = 0;
  long long i = strtoll(r->at, &end_int, 10);
  bool overflow = errno != 0;
  double f = strtod(r->at, &end_float);
  if (end_float == r->at) return fail(r, "a value is missing");
  bool is_int = end_int == end_float && !overflow;
  r->at = is_int ? end_int : end_float;
  if (*r->at == 'j') {
    r->at++;
    return wick_value_complex(0, f);
  }
  return is_int ? wick_value_int(i) : wick_value_double(f);
}

static wick_value *read_text(Reader *r) {
  assert(*r->at == '"' || *r->at == '\'');
  char quote = *r->at++;
  char *text = malloc(strlen(r->at) + 1);
  size_t length = 0;
  if (!text) return fail(r, "out of memory");
  while (*r->at && *r->at != quote) {
    char c = *r->at++;
    if (c == '\\' && *r->at) {
      c = *r->at++;
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    text[length++] = c;
  }
  wick_value *value = *r->at ? wick_value_string(text, length) : fail(r, "a text does not end");
  if (*r->at) r->at++;
  free(text);
  return value;
}

/* Items up to `close`; *trailing says whether a comma stood before it. */
static bool read_items(Reader *r, char close, Items *items, bool *trailing) {
  *trailing = false;
  while (!accept(r, close)) {
    if (items->count && !*trailing) return fail(r, "a comma is missing"), false;
    if (!items_push(items, read_value(r))) return fail(r, "a value is missing"), false;
    *trailing = accept(r, ',');
  }
  return true;
}

static wick_value *read_list(Reader *r, char close) {
  Items items = {0};
  bool trailing;
  wick_value *value = NULL;
  if (read_items(r, close, &items, &trailing)) {
    if (close == ']') {
      wick_value_list((const wick_value *const *)items.values, items.count, &value, NULL);
    } else if (items.count == 1 && !trailing) {
      value = wick_value_retain(items.values[0]);
    } else {
      wick_value_tuple((const wick_value *const *)items.values, items.count, &value, NULL);
    }
  }
  items_dispose(&items);
  return value;
}

static wick_value *read_dict(Reader *r) {
  Items keys = {0}, values = {0};
  wick_value *value = NULL;
  bool fine = true;
  while (fine && !accept(r, '}')) {
    fine = items_push(&keys, read_value(r)) && accept(r, ':') && items_push(&values, read_value(r));
    if (fine && !accept(r, ',') && *r->at != '}') fine = false;
  }
  if (!fine) {
    fail(r, "a malformed dict");
  } else {
    wick_value_dict((const wick_value *const *)keys.values, (const wick_value *const *)values.values, keys.count,
                    &value, NULL);
  }
  items_dispose(&keys);
  items_dispose(&values);
  return value;
}

/* ---- made tensors ---- */

static bool read_dtype(Reader *r, uint32_t *out) {
  if (!accept_word(r, "dtype") || !accept(r, '=')) return false;
  skip_spaces(r);
  if (!strncmp(r->at, "torch.", 6)) r->at += 6;
  for (uint32_t dtype = 0; *wick_dtype_name(dtype); dtype++)
    if (accept_word(r, wick_dtype_name(dtype))) {
      *out = dtype;
      return true;
    }
  return false;
}

/* Sizes are the arguments themselves, or one list or tuple of them. */
static wick_value *sizes_from(wick_value **values, size_t count) {
  wick_value *sizes = NULL;
  if (count == 1 && (wick_value_kind(values[0]) == WICK_LIST || wick_value_kind(values[0]) == WICK_TUPLE))
    return wick_value_retain(values[0]);
  wick_value_list((const wick_value *const *)values, count, &sizes, NULL);
  return sizes;
}

static wick_value *make_tensor(Reader *r, const char *name, Items *items, uint32_t dtype, bool has_dtype) {
  char op[40];
  wick_value *arguments[8] = {NULL}, *result = NULL;
  const char *overload = "";
  size_t count = 0, first_size = 0;
  wick_error *error = NULL;
  if (!strcmp(name, "randint")) { /* randint(high, sizes) or randint(low, high, sizes) */
    bool has_low = items->count >= 3 && wick_value_kind(items->values[1]) == WICK_INT;
    overload = has_low ? "low" : "";
    first_size = has_low ? 2 : 1;
    if (items->count < first_size) return fail(r, "randint(high, sizes...)");
  }
  if (!strcmp(name, "arange")) {
    overload = items->count == 1 ? "" : items->count == 2 ? "start" : "start_step";
    first_size = items->count;
  }
  for (size_t i = 0; i < first_size && i < 3; i++) arguments[count++] = wick_value_retain(items->values[i]);
  if (strcmp(name, "arange") != 0)
    arguments[count++] = sizes_from(items->values + first_size, items->count - first_size);
  if (has_dtype) arguments[count++] = wick_value_int(dtype);
  snprintf(op, sizeof op, "aten::%s", name);
  if (wick_op_call(NULL, op, overload, (const wick_value *const *)arguments, count, (const char *const[]){"dtype"},
                   has_dtype, &result, &error)) {
    snprintf(r->problem, sizeof r->problem, "%.*s", (int)sizeof r->problem - 1, wick_error_message(error));
    wick_error_free(error);
  }
  for (size_t i = 0; i < count; i++) wick_value_release(arguments[i]);
  return result;
}

static wick_value *read_call(Reader *r, const char *name) {
  Items items = {0};
  uint32_t dtype = 0;
  bool has_dtype = false, fine = accept(r, '(');
  wick_value *value = NULL;
  while (fine && !accept(r, ')')) {
    skip_spaces(r);
    if (!strncmp(r->at, "dtype", 5)) {
      fine = has_dtype = read_dtype(r, &dtype);
    } else {
      fine = items_push(&items, read_value(r));
    }
    if (fine && !accept(r, ',') && *r->at != ')') fine = false;
  }
  if (!fine) {
    fail(r, "a malformed call");
  } else {
    value = make_tensor(r, name, &items, dtype, has_dtype);
  }
  items_dispose(&items);
  return value;
}

static wick_value *read_inner(Reader *r) {
  static const char *const makers[] = {"randn", "rand", "zeros", "ones", "arange", "randint"};
  skip_spaces(r);
  if (accept(r, '[')) return read_list(r, ']');
  if (accept(r, '(')) return read_list(r, ')');
  if (accept(r, '{')) return read_dict(r);
  if (*r->at == '"' || *r->at == '\'') return read_text(r);
  if (accept_word(r, "None")) return wick_value_none();
  if (accept_word(r, "True")) return wick_value_bool(1);
  if (accept_word(r, "False")) return wick_value_bool(0);
  for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
    if (accept_word(r, makers[i])) return read_call(r, makers[i]);
  return read_number(r);
}
static wick_value *read_value(Reader *r) {
  assert(r->nesting >= 0 && r->nesting <= MAX_NESTING);
  if (r->nesting == MAX_NESTING) return fail(r, "nested too deeply");
  r->nesting++;
  wick_value *value = read_inner(r);
  r->nesting--;
  return value;
}

/* ---- words ---- */

static bool add(Inputs *inputs, wick_value *value) {
  Items items = {inputs->values, inputs->count, inputs->capacity};
  bool fine = items_push(&items, value);
  *inputs = (Inputs){items.values, items.count, items.capacity};
  if (!fine) complain(NULL, "too many inputs");
  return fine;
}
static bool has_suffix(const char *word, const char *suffix) {
  size_t n = strlen(word), m = strlen(suffix);
  return n > m && !strcmp(word + n - m, suffix);
}

static bool add_word(Inputs *inputs, const char *word) {
  wick_value *value = NULL;
  if (has_suffix(word, ".npy") || has_suffix(word, ".npz") || has_suffix(word, ".pt") || has_suffix(word, ".pth")) {
    wick_error *error;
    if (wick_load_value(NULL, word, &VALUE_OPTIONS, &value, &error)) {
      complain_error(word, error);
      return false;
    }
    if (wick_value_kind(value) != WICK_TUPLE) return add(inputs, value);
    bool fine = true; /* a tuple is all arguments */
    for (size_t i = 0; fine && i < wick_value_length(value); i++) fine = add(inputs, wick_value_item(value, i));
    wick_value_release(value);
    return fine;
  }
  Reader reader = {.start = word, .at = word};
  value = read_value(&reader);
  skip_spaces(&reader);
  if (value && !*reader.at) return add(inputs, value);
  if (value) fail(&reader, "something is left over");
  wick_value_release(value);
  complain(NULL,
           "'%s' is no input: %s (literals, .npy, .npz or .pt files, randn(1,3), zeros(...), ones(...), arange(...), "
           "randint(...))",
           word, reader.problem[0] ? reader.problem : "it has no value");
  return false;
}

bool inputs_read(Inputs *inputs, int count, char **words) {
  *inputs = (Inputs){0};
  for (int i = 0; i < count; i++)
    if (!add_word(inputs, words[i])) {
      inputs_dispose(inputs);
      return false;
    }
  return true;
}

void inputs_dispose(Inputs *inputs) {
  for (size_t i = 0; i < inputs->count; i++) wick_value_release(inputs->values[i]);
  free(inputs->values);
  *inputs = (Inputs){0};
}
