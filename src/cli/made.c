/* Made inputs: tensors by a function's name and arguments, pictures and sound made fit for a model. */
#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/literal.h"
#include "cli/media.h"
#include "wick/tensor.h"

enum { MAX_KEYWORDS = 4, MAX_NAME = 24 };

typedef struct Arguments {
  Items items;
  char names[MAX_KEYWORDS][MAX_NAME];
  wick_value *keywords[MAX_KEYWORDS];
  size_t keyword_count;
  const char *file; /* of those that read one, owned */
} Arguments;
struct Maker {
  const char *name;
  bool reads_file; /* the first argument is a path, which needs no quotes */
  wick_value *(*make)(Reader *r, const Maker *maker, Arguments *arguments);
  size_t leading; /* arguments before the sizes; what is left over is sizes, or one list of them */
};

/* ---- tensors, by the operator of the same name ---- */

static wick_value *call_operator(Reader *r, const char *name, const char *overload, wick_value **arguments,
                                 size_t count, const Arguments *from) {
  char op[40];
  const char *names[MAX_KEYWORDS];
  wick_value *all[16], *result;
  wick_error *error;
  assert(count + MAX_KEYWORDS <= sizeof all / sizeof *all);
  for (size_t i = 0; i < count; i++) all[i] = arguments[i];
  for (size_t i = 0; i < from->keyword_count; i++) {
    names[i] = from->names[i];
    all[count + i] = from->keywords[i];
  }
  snprintf(op, sizeof op, "aten::%s", name);
  return wick_op_call(NULL, op, overload, (const wick_value *const *)all, count + from->keyword_count, names,
                      from->keyword_count, &result, &error)
             ? reader_fail_error(r, error)
             : result;
}

/* Sizes are the arguments themselves, or one list or tuple of them. */
static wick_value *sizes_from(wick_value **values, size_t count) {
  wick_value *sizes = NULL;
  if (count == 1 && (wick_value_kind(values[0]) == WICK_LIST || wick_value_kind(values[0]) == WICK_TUPLE))
    return wick_value_retain(values[0]);
  wick_value_list((const wick_value *const *)values, count, &sizes, NULL);
  return sizes;
}
static wick_value *make_sized(Reader *r, const Maker *maker, Arguments *a) {
  wick_value *arguments[4];
  size_t leading = maker->leading, count = 0;
  const char *overload = "";
  if (!strcmp(maker->name, "randint")) { /* randint(high, sizes) or randint(low, high, sizes) */
    bool has_low = a->items.count >= 3 && wick_value_kind(a->items.values[1]) == WICK_INT;
    if (has_low) overload = "low", leading = 2;
  }
  if (a->items.count < leading) return reader_fail(r, "arguments are missing");
  for (size_t i = 0; i < leading; i++) arguments[count++] = a->items.values[i];
  wick_value *sizes = sizes_from(a->items.values + leading, a->items.count - leading);
  if (!sizes) return reader_fail(r, "no sizes");
  arguments[count++] = sizes;
  wick_value *result = call_operator(r, maker->name, overload, arguments, count, a);
  wick_value_release(sizes);
  return result;
}
/* full(sizes, value) */
static wick_value *make_plain(Reader *r, const Maker *maker, Arguments *a) {
  const char *overload = NULL;
  if (a->items.count > 8) return reader_fail(r, "too many arguments");
  if (!strcmp(maker->name, "arange")) overload = a->items.count < 2 ? "" : a->items.count == 2 ? "start" : "start_step";
  return call_operator(r, maker->name, overload, a->items.values, a->items.count, a);
}

/* tensor([[1, 2], [3, 4]]), tensor(numbers.json) */
static bool flatten(const wick_value *value, int depth, wick_tensor_spec *spec, Items *numbers) {
  uint32_t kind = wick_value_kind(value);
  if (kind != WICK_LIST && kind != WICK_TUPLE)
    return (kind == WICK_INT || kind == WICK_DOUBLE || kind == WICK_BOOL) && depth == spec->ndim &&
           items_push(numbers, wick_value_retain((wick_value *)value));
  size_t length = wick_value_length(value);
  if (depth >= spec->ndim || spec->sizes[depth] != (int64_t)length) return false;
  bool fine = true;
  for (size_t i = 0; fine && i < length; i++) {
    wick_value *item = wick_value_item(value, i);
    fine = flatten(item, depth + 1, spec, numbers);
    wick_value_release(item);
  }
  return fine;
}
static void measure(const wick_value *value, wick_tensor_spec *spec) {
  wick_value *at = wick_value_retain((wick_value *)value);
  while ((wick_value_kind(at) == WICK_LIST || wick_value_kind(at) == WICK_TUPLE) && spec->ndim < 32) {
    spec->sizes[spec->ndim++] = (int64_t)wick_value_length(at);
    wick_value *first = wick_value_item(at, 0);
    wick_value_release(at);
    at = first;
  }
  wick_value_release(at);
}
/* Of numbers as they are written: float32, or float64 where another dtype is made of it. */
static wick_value *tensor_of(const Items *numbers, const wick_tensor_spec *spec, bool as_double) {
  bool is_float = false, is_bool = numbers->count > 0;
  for (size_t i = 0; i < numbers->count; i++) {
    is_float = is_float || wick_value_kind(numbers->values[i]) == WICK_DOUBLE;
    is_bool = is_bool && wick_value_kind(numbers->values[i]) == WICK_BOOL;
  }
  uint32_t real = as_double ? WICK_FLOAT64 : WICK_FLOAT32;
  uint32_t dtype = is_bool ? WICK_BOOL8 : is_float || !numbers->count ? real : WICK_INT64;
  wick_value *tensor = NULL;
  if (wick_tensor_new(dtype, spec->ndim, spec->sizes, &tensor, NULL)) return NULL;
  void *data = wick_tensor_mutable_data(tensor);
  for (size_t i = 0; i < numbers->count; i++) {
    const wick_value *number = numbers->values[i];
    if (is_bool)
      ((bool *)data)[i] = wick_value_to_bool(number);
    else if (is_float && as_double)
      ((double *)data)[i] = wick_value_to_double(number);
    else if (is_float)
      ((float *)data)[i] = (float)wick_value_to_double(number);
    else
      ((int64_t *)data)[i] = wick_value_to_int(number);
  }
  return tensor;
}
static wick_value *make_from_list(Reader *r, const Maker *maker, Arguments *a) {
  (void)maker;
  wick_value *list = NULL, *tensor = NULL;
  if (a->file) {
    if (!input_file_read(a->file, &list)) return reader_fail(r, "the file can't be read");
  } else if (a->items.count == 1) {
    list = wick_value_retain(a->items.values[0]);
  } else {
    return reader_fail(r, "one list, or a file");
  }
  wick_tensor_spec spec = {0};
  Items numbers = {0};
  measure(list, &spec);
  if (wick_value_kind(list) == WICK_TENSOR)
    tensor = wick_value_retain(list);
  else if (flatten(list, 0, &spec, &numbers))
    tensor = tensor_of(&numbers, &spec, a->keyword_count > 0);
  if (tensor && a->keyword_count) {
    wick_value *plain = tensor;
    wick_value *arguments[] = {plain, a->keywords[0]};
    Arguments none = {0};
    tensor = !strcmp(a->names[0], "dtype") ? call_operator(r, "to", "dtype", arguments, 2, &none)
                                           : reader_fail(r, "the only keyword is dtype");
    wick_value_release(plain);
  }
  items_dispose(&numbers);
  wick_value_release(list);
  return tensor ? tensor : reader_fail(r, "not lists of numbers, all of one length");
}

/* ---- files made fit ---- */

/* The keyword as a positive number; 0: it is not there. false: it is something else. */
static bool number_of(const Arguments *a, const char *name, int64_t *out) {
  *out = 0;
  for (size_t i = 0; i < a->keyword_count; i++)
    if (!strcmp(a->names[i], name)) {
      *out = wick_value_to_int(a->keywords[i]);
      return wick_value_kind(a->keywords[i]) == WICK_INT && *out > 0 && *out <= 1 << 20;
    }
  return true;
}
static bool keywords_are_among(const Arguments *a, const char *const *known) {
  for (size_t i = 0; i < a->keyword_count; i++) {
    size_t k = 0;
    while (known[k] && strcmp(known[k], a->names[i]) != 0) k++;
    if (!known[k]) return false;
  }
  return true;
}
static wick_value *make_image(Reader *r, const Maker *maker, Arguments *a) {
  (void)maker;
  ImageOptions options = {0};
  int64_t imagenet;
  wick_value *picture = NULL, *result = NULL;
  wick_error *error;
  if (!a->file || a->items.count || !keywords_are_among(a, (const char *const[]){"size", "crop", "imagenet", NULL}) ||
      !number_of(a, "size", &options.size) || !number_of(a, "crop", &options.crop) ||
      !number_of(a, "imagenet", &imagenet))
    return reader_fail(r, "image(FILE, size=224, crop=224, imagenet)");
  options.imagenet = imagenet != 0;
  if (options.imagenet && options.size && !options.crop) { /* as such networks are evaluated: 224 of 256 */
    options.crop = options.size;
    options.size = options.size * 256 / 224;
  }
  if (complain_missing_file(a->file)) return reader_fail(r, "its file is missing");
  if (image_read(a->file, &picture, &error)) return reader_fail_error(r, error);
  wick_status status = image_prepare(picture, &options, &result, &error);
  wick_value_release(picture);
  return status ? reader_fail_error(r, error) : result;
}
static wick_value *make_audio(Reader *r, const Maker *maker, Arguments *a) {
  (void)maker;
  int64_t rate, wanted = 0;
  wick_value *sound = NULL, *result = NULL;
  wick_error *error;
  if (a->items.count == 1 && wick_value_kind(a->items.values[0]) == WICK_INT)
    wanted = wick_value_to_int(a->items.values[0]);
  if (!a->file || a->keyword_count || a->items.count > 1 || (a->items.count && (wanted < 1 || wanted > 1 << 24)))
    return reader_fail(r, "audio(FILE, RATE)");
  if (complain_missing_file(a->file)) return reader_fail(r, "its file is missing");
  if (sound_read(a->file, &sound, &rate, &error)) return reader_fail_error(r, error);
  wick_status status = sound_prepare(sound, rate, wanted ? wanted : rate, &result, &error);
  wick_value_release(sound);
  return status ? reader_fail_error(r, error) : result;
}

/* ---- reading the call ---- */

static const Maker makers[] = {
    {"randn", false, make_sized},     {"rand", false, make_sized},       {"zeros", false, make_sized},
    {"ones", false, make_sized},      {"randint", false, make_sized, 1}, {"full", false, make_plain},
    {"eye", false, make_plain},       {"arange", false, make_plain},     {"linspace", false, make_plain},
    {"tensor", true, make_from_list}, {"image", true, make_image},       {"audio", true, make_audio},
};
enum { MAKER_COUNT = sizeof makers / sizeof *makers };

const Maker *maker_at(const Reader *r) {
  for (size_t i = 0; i < MAKER_COUNT; i++) {
    size_t length = strlen(makers[i].name);
    if (!strncmp(r->at, makers[i].name, length) && r->at[length] == '(') return &makers[i];
  }
  return NULL;
}
/* dtype=float64, dtype=torch.float64, dtype=f64 */
static wick_value *read_dtype(Reader *r) {
  static const struct {
    const char *name;
    uint32_t dtype;
  } shorts[] = {{"f16", WICK_FLOAT16}, {"bf16", WICK_BFLOAT16}, {"f32", WICK_FLOAT32},   {"f64", WICK_FLOAT64},
                {"u8", WICK_UINT8},    {"i8", WICK_INT8},       {"i16", WICK_INT16},     {"i32", WICK_INT32},
                {"i64", WICK_INT64},   {"half", WICK_FLOAT16},  {"float", WICK_FLOAT32}, {"double", WICK_FLOAT64},
                {"int", WICK_INT32},   {"long", WICK_INT64}};
  if (!strncmp(r->at, "torch.", 6)) r->at += 6;
  for (uint32_t dtype = 0; dtype < WICK_DTYPE_LIMIT; dtype++)
    if (*wick_dtype_name(dtype) && reader_accept_word(r, wick_dtype_name(dtype))) return wick_value_int(dtype);
  for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++)
    if (reader_accept_word(r, shorts[i].name)) return wick_value_int(shorts[i].dtype);
  return reader_fail(r, "no dtype");
}

/* A name, for a keyword: `size=224`, or `imagenet` alone, which means 1. */
static bool read_keyword(Reader *r, Arguments *a, bool *out_is_keyword) {
  size_t length = 0;
  const char *at = r->at;
  while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
  const char *after = at + length + strspn(at + length, " ");
  bool has_value = *after == '=', is_flag = *after == ',' || *after == ')';
  bool is_word = length && !isdigit((unsigned char)*at) && strncmp(at, "True", 4) != 0 &&
                 strncmp(at, "False", 5) != 0 && strncmp(at, "None", 4) != 0 && strncmp(at, "inf", 3) != 0 &&
                 strncmp(at, "nan", 3) != 0;
  *out_is_keyword = is_word && (has_value || is_flag) && length < MAX_NAME;
  if (!*out_is_keyword) return true;
  if (a->keyword_count == MAX_KEYWORDS) return reader_fail(r, "too many keywords") != NULL;
  char *name = a->names[a->keyword_count];
  snprintf(name, MAX_NAME, "%.*s", (int)length, at);
  r->at = has_value ? after + 1 : after;
  while (*r->at == ' ') r->at++;
  wick_value *value = !has_value ? wick_value_int(1) : !strcmp(name, "dtype") ? read_dtype(r) : reader_value(r);
  a->keywords[a->keyword_count] = value;
  a->keyword_count += value != NULL;
  return value != NULL;
}

static bool is_number(const char *text) {
  char *end;
  strtod(text, &end);
  return end > text && (*end == ')' || *end == ',' || *end == ' ');
}
/* A path without quotes ends at the comma or the bracket; what begins as a list is none. */
static bool read_file(Reader *r, Arguments *a) {
  while (*r->at == ' ') r->at++;
  char quote = *r->at == '"' || *r->at == '\'' ? *r->at : 0;
  if (*r->at == '[' || *r->at == '(' || is_number(r->at)) return true;
  if (quote) r->at++;
  size_t length = quote ? strcspn(r->at, quote == '"' ? "\"" : "'") : strcspn(r->at, ",)");
  while (!quote && length && r->at[length - 1] == ' ') length--;
  if (!length || (quote && !r->at[length])) return reader_fail(r, "a file is missing") != NULL;
  a->file = strndup(r->at, length);
  r->at += length + (quote != 0);
  if (!a->file) return reader_fail(r, "out of memory") != NULL;
  return reader_accept(r, ',') || *r->at == ')' || reader_fail(r, "a comma is missing");
}

static bool read_arguments(Reader *r, const Maker *maker, Arguments *a) {
  r->at += strlen(maker->name) + 1;
  if (maker->reads_file && !read_file(r, a)) return false;
  while (!reader_accept(r, ')')) {
    bool is_keyword;
    if (!read_keyword(r, a, &is_keyword)) return false;
    if (!is_keyword && a->keyword_count) return reader_fail(r, "a value after keywords") != NULL;
    if (!is_keyword && !items_push(&a->items, reader_value(r))) return reader_fail(r, "a malformed call") != NULL;
    if (!reader_accept(r, ',') && *r->at != ')') return reader_fail(r, "a malformed call") != NULL;
  }
  return true;
}
wick_value *maker_read(const Maker *maker, Reader *r) {
  Arguments arguments = {0};
  wick_value *value = NULL;
  if (read_arguments(r, maker, &arguments)) value = maker->make(r, maker, &arguments);
  for (size_t i = 0; i < arguments.keyword_count; i++) wick_value_release(arguments.keywords[i]);
  items_dispose(&arguments.items);
  free((char *)arguments.file);
  return value;
}
