/* Python literals as values. */
#include "cli/literal.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITEMS = 1 << 16, MAX_NESTING = 200 };

wick_value *reader_fail(Reader *r, const char *what) {
  assert(r->at >= r->start);
  if (!r->problem[0]) snprintf(r->problem, sizeof r->problem, "%s at character %d", what, (int)(r->at - r->start) + 1);
  return NULL;
}
wick_value *reader_fail_error(Reader *r, wick_error *error) {
  if (!r->problem[0])
    snprintf(r->problem, sizeof r->problem, "%.*s", (int)sizeof r->problem - 1, wick_error_message(error));
  wick_error_free(error);
  return NULL;
}
static void skip_spaces(Reader *r) {
  while (isspace((unsigned char)*r->at)) r->at++;
}
bool reader_accept(Reader *r, char c) {
  skip_spaces(r);
  if (*r->at != c) return false;
  r->at++;
  return true;
}
bool reader_accept_word(Reader *r, const char *word) {
  size_t n = strlen(word);
  skip_spaces(r);
  if (strncmp(r->at, word, n) != 0 || isalnum((unsigned char)r->at[n]) || r->at[n] == '_') return false;
  r->at += n;
  return true;
}

bool items_push(Items *items, wick_value *value) {
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
void items_dispose(Items *items) {
  for (size_t i = 0; i < items->count; i++) wick_value_release(items->values[i]);
  free(items->values);
}

static wick_value *read_number(Reader *r) {
  char *end_int, *end_float;
  errno = 0;
  long long i = strtoll(r->at, &end_int, 10);
  bool overflow = errno != 0;
  double f = strtod(r->at, &end_float);
  if (end_float == r->at) return reader_fail(r, "a value is missing");
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
  if (!text) return reader_fail(r, "out of memory");
  while (*r->at && *r->at != quote) {
    char c = *r->at++;
    if (c == '\\' && *r->at) {
      c = *r->at++;
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    text[length++] = c;
  }
  wick_value *value = *r->at ? wick_value_string(text, length) : reader_fail(r, "a text does not end");
  if (*r->at) r->at++;
  free(text);
  return value;
}

/* Items up to `close`; *trailing says whether a comma stood before it. */
static bool read_items(Reader *r, char close, Items *items, bool *trailing) {
  *trailing = false;
  while (!reader_accept(r, close)) {
    if (items->count && !*trailing) return reader_fail(r, "a comma is missing") != NULL;
    if (!items_push(items, reader_value(r))) return reader_fail(r, "a value is missing") != NULL;
    *trailing = reader_accept(r, ',');
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
  while (fine && !reader_accept(r, '}')) {
    fine = items_push(&keys, reader_value(r)) && reader_accept(r, ':') && items_push(&values, reader_value(r));
    if (fine && !reader_accept(r, ',') && *r->at != '}') fine = false;
  }
  if (!fine) {
    reader_fail(r, "a malformed dict");
  } else {
    wick_value_dict((const wick_value *const *)keys.values, (const wick_value *const *)values.values, keys.count,
                    &value, NULL);
  }
  items_dispose(&keys);
  items_dispose(&values);
  return value;
}

static wick_value *read_inner(Reader *r) {
  skip_spaces(r);
  if (reader_accept(r, '[')) return read_list(r, ']');
  if (reader_accept(r, '(')) return read_list(r, ')');
  if (reader_accept(r, '{')) return read_dict(r);
  if (*r->at == '"' || *r->at == '\'') return read_text(r);
  if (reader_accept_word(r, "None")) return wick_value_none();
  if (reader_accept_word(r, "True")) return wick_value_bool(1);
  if (reader_accept_word(r, "False")) return wick_value_bool(0);
  const Maker *maker = maker_at(r);
  return maker ? maker_read(maker, r) : read_number(r);
}
wick_value *reader_value(Reader *r) {
  assert(r->nesting >= 0 && r->nesting <= MAX_NESTING);
  if (r->nesting == MAX_NESTING) return reader_fail(r, "nested too deeply");
  r->nesting++;
  wick_value *value = read_inner(r);
  r->nesting--;
  return value;
}

wick_value *literal_read(Reader *r, const char *word) {
  *r = (Reader){.start = word, .at = word};
  wick_value *value = reader_value(r);
  skip_spaces(r);
  if (value && !*r->at) return value;
  reader_fail(r, value ? "something is left over" : "it has no value");
  wick_value_release(value);
  return NULL;
}
