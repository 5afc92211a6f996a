/* The reader goes over the text once, with a stack of the arrays and objects that are open, and recurses nowhere. */
#include "serial/formats/json.h"

#include <assert.h>
#include <math.h>

enum { MAX_DEPTH = 256, MAX_VALUES = 8 << 20 };
#define MAX_TEXT ((size_t)256 << 20)

typedef enum JsonKind { JSON_NULL, JSON_BOOL, JSON_INT, JSON_DOUBLE, JSON_STRING, JSON_ARRAY, JSON_OBJECT } JsonKind;

struct Json {
  uint8_t kind;    /* JsonKind */
  uint32_t count;  /* of elements or members */
  const char *key; /* of a member: terminated by its length, which stands in key_length */
  size_t key_length;
  Json *next;
  union {
    bool b;
    int64_t i;
    double d;
    Str text;
    struct {
      Json *first, *last;
    };
  };
};
typedef struct JsonTree {
  Json root; /* first: what the caller holds */
  Arena arena;
} JsonTree;

typedef struct Reader {
  Str text;
  size_t at;
  JsonTree *tree;
  Json *open[MAX_DEPTH]; /* innermost last */
  uint32_t depth, values;
} Reader;

static _Noreturn void fail(const Reader *r, const char *what) {
  catch_throw(r->tree->arena.catch_point, status_new(ERROR_DATA, "damaged JSON near byte %zu: %s", r->at, what));
}

static int peek(const Reader *r) {
  return r->at < r->text.length ? (unsigned char)r->text.data[r->at] : -1;
}
static int skip_blanks(Reader *r) {
  int c;
  while ((c = peek(r)) == ' ' || c == '\n' || c == '\r' || c == '\t') r->at++;
  return c;
}
static bool take(Reader *r, const char *word) {
  size_t length = strlen(word);
  if (r->text.length - r->at < length || memcmp(r->text.data + r->at, word, length) != 0) return false;
  r->at += length;
  return true;
}

/* ---- strings ---- */

static uint32_t read_hex(Reader *r) {
  uint32_t code = 0;
  for (int i = 0; i < 4; i++) {
    int c = peek(r), digit = c >= '0' && c <= '9'                     ? c - '0'
                             : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                                      : -1;
    if (c < 0 || digit < 0) fail(r, "a malformed \\u");
    code = code * 16 + (uint32_t)digit;
    r->at++;
  }
  return code;
}
/* After a backslash: what it stands for at `to`; how many bytes. */
static size_t read_escape(Reader *r, char to[4]) {
  static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  int c = peek(r);
  const char *letter = c > 0 ? strchr(letters, c) : NULL;
  if (letter) return r->at++, to[0] = meant[letter - letters], 1;
  if (c != 'u') fail(r, "an unknown escape");
  r->at++;
  uint32_t code = read_hex(r);
  if (code >= 0xd800 && code < 0xdc00 && take(r, "\\u")) {
    uint32_t low = read_hex(r);
    code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
  }
  return utf8_encode(code >= 0xd800 && code < 0xe000 ? 0xfffd : code, to);
}
static Str read_string(Reader *r) {
  if (peek(r) != '"') fail(r, "a string is missing");
  size_t begin = ++r->at, end = begin;
  while (end < r->text.length && r->text.data[end] != '"') end += r->text.data[end] == '\\' ? 2 : 1;
  if (end >= r->text.length) fail(r, "a string does not end");
  char *to = arena_alloc_uncleared(&r->tree->arena, end - begin + 1); /* escapes are longer than what they mean */
  size_t length = 0;
  while (r->at < end) {
    char c = r->text.data[r->at++];
    if ((unsigned char)c < 0x20) fail(r, "a control character in a string");
    if (c == '\\')
      length += read_escape(r, to + length);
    else
      to[length++] = c;
  }
  if (r->at != end) fail(r, "a malformed escape");
  r->at++;
  to[length] = 0;
  return (Str){to, length};
}

/* ---- numbers ---- */

static size_t skip_digits(Reader *r) {
  size_t begin = r->at;
  while (peek(r) >= '0' && peek(r) <= '9') r->at++;
  return r->at - begin;
}
static void read_number(Reader *r, Json *out) {
  size_t begin = r->at;
  bool is_whole = true, is_negative = take(r, "-");
  if (take(r, "Infinity")) {
    *out = (Json){.kind = JSON_DOUBLE, .key = out->key, .key_length = out->key_length};
    out->d = is_negative ? -(double)INFINITY : (double)INFINITY;
    return;
  }
  if (!skip_digits(r)) fail(r, "a number is malformed");
  if (take(r, ".")) {
    is_whole = false;
    if (!skip_digits(r)) fail(r, "a number is malformed");
  }
  if (peek(r) == 'e' || peek(r) == 'E') {
    is_whole = false;
    r->at++;
    if (peek(r) == '+' || peek(r) == '-') r->at++;
    if (!skip_digits(r)) fail(r, "a number is malformed");
  }
  Str digits = str_slice(r->text, begin, r->at);
  out->kind = JSON_INT;
  if (is_whole && str_to_int64(digits, 10, &out->i)) return;
  out->kind = JSON_DOUBLE;
  if (!str_to_double(digits, &out->d)) out->d = is_negative ? -(double)INFINITY : (double)INFINITY;
}

/* ---- values ---- */

static void read_scalar(Reader *r, Json *out) {
  int c = peek(r);
  if (c == '"') {
    Str text = read_string(r);
    out->kind = JSON_STRING;
    out->text = text;
  } else if (take(r, "true") || take(r, "false")) {
    out->kind = JSON_BOOL;
    out->b = c == 't';
  } else if (take(r, "null")) {
    out->kind = JSON_NULL;
  } else if (take(r, "NaN")) {
    out->kind = JSON_DOUBLE;
    out->d = (double)NAN;
  } else {
    read_number(r, out);
  }
}
/* A value at its beginning: all of a scalar, the bracket of a container, which is open from now on. */
static void read_value(Reader *r, Json *out) {
  int c = skip_blanks(r);
  if (++r->values > MAX_VALUES) fail(r, "more values than the limit");
  if (c != '[' && c != '{') {
    read_scalar(r, out);
    return;
  }
  if (r->depth == MAX_DEPTH) fail(r, "nested too deeply");
  r->at++;
  out->kind = c == '[' ? JSON_ARRAY : JSON_OBJECT;
  r->open[r->depth++] = out;
}

/* The next element of the innermost container, or its end. */
static void read_element(Reader *r) {
  Json *parent = r->open[r->depth - 1];
  int close = parent->kind == JSON_ARRAY ? ']' : '}', c = skip_blanks(r);
  if (c == close) {
    r->at++;
    r->depth--;
    return;
  }
  if (parent->count) {
    if (!take(r, ",")) fail(r, "a comma is missing");
    if (skip_blanks(r) == close) fail(r, "nothing follows a comma");
  }
  Json *element = ARENA_NEW(&r->tree->arena, Json);
  if (parent->kind == JSON_OBJECT) {
    Str key = read_string(r);
    element->key = key.data;
    element->key_length = key.length;
    if (skip_blanks(r) != ':') fail(r, "a colon is missing");
    r->at++;
  }
  parent->count++;
  *(parent->last ? &parent->last->next : &parent->first) = element;
  parent->last = element;
  read_value(r, element);
}

static void read_text(void *argument) {
  Reader *r = argument;
  read_value(r, &r->tree->root);
  while (r->depth) read_element(r);
  skip_blanks(r);
  while (peek(r) == 0) r->at++;
  if (r->at < r->text.length) fail(r, "more text follows");
}

Status json_parse(Str text, Json **out) {
  if (text.length > MAX_TEXT)
    return status_new(ERROR_DATA, "JSON of %zu bytes exceeds the limit of %zu", text.length, MAX_TEXT);
  JsonTree *tree = mem_calloc(1, sizeof *tree);
  if (!tree) return status_out_of_memory();
  arena_init(&tree->arena, NULL);
  Reader reader = {.text = text, .tree = tree};
  Status status = arena_protect(&tree->arena, read_text, &reader);
  if (status)
    json_free(&tree->root);
  else
    *out = &tree->root;
  return status;
}
void json_free(Json *root) {
  if (!root) return;
  JsonTree *tree = (JsonTree *)root;
  arena_dispose(&tree->arena);
  mem_free(tree);
}

/* ---- asking ---- */

static bool has_kind(const Json *value, JsonKind kind) {
  return value && value->kind == kind;
}
const Json *json_get(const Json *object, const char *key) {
  if (!json_is_object(object)) return NULL;
  for (const Json *member = object->first; member; member = member->next)
    if (str_is(json_key(member), key)) return member;
  return NULL;
}
const Json *json_array(const Json *object, const char *key) {
  const Json *value = json_get(object, key);
  return json_is_array(value) ? value : NULL;
}
const Json *json_object(const Json *object, const char *key) {
  const Json *value = json_get(object, key);
  return json_is_object(value) ? value : NULL;
}
const Json *json_first(const Json *parent) {
  return json_is_object(parent) || json_is_array(parent) ? parent->first : NULL;
}
const Json *json_next(const Json *element) {
  assert(element);
  return element->next;
}
size_t json_count(const Json *parent) {
  return json_is_object(parent) || json_is_array(parent) ? parent->count : 0;
}
Str json_key(const Json *member) {
  return (Str){member->key, member->key_length};
}
bool json_is_object(const Json *value) {
  return has_kind(value, JSON_OBJECT);
}
bool json_is_array(const Json *value) {
  return has_kind(value, JSON_ARRAY);
}
bool json_string(const Json *value, Str *out) {
  if (!has_kind(value, JSON_STRING)) return false;
  *out = value->text;
  return true;
}
bool json_int(const Json *value, int64_t *out) {
  if (has_kind(value, JSON_STRING)) return str_to_int64(value->text, 10, out);
  if (has_kind(value, JSON_INT)) return *out = value->i, true;
  if (!has_kind(value, JSON_DOUBLE) || !(value->d >= -0x1p63 && value->d < 0x1p63) || value->d != floor(value->d))
    return false;
  *out = (int64_t)value->d;
  return true;
}
bool json_double(const Json *value, double *out) {
  static const struct {
    const char *text;
    double value;
  } names[] = {{"Infinity", (double)INFINITY}, {"-Infinity", -(double)INFINITY}, {"NaN", (double)NAN}};
  if (has_kind(value, JSON_DOUBLE)) return *out = value->d, true;
  if (has_kind(value, JSON_INT)) return *out = (double)value->i, true;
  if (!has_kind(value, JSON_STRING)) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (str_is(value->text, names[i].text)) return *out = names[i].value, true;
  return str_to_double(value->text, out);
}
bool json_bool(const Json *value, bool *out) {
  if (!has_kind(value, JSON_BOOL)) return false;
  *out = value->b;
  return true;
}
