/* JSON as it is written. */
#include "cli/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wick/tensor.h"

static bool is_announced, is_printed;

bool json_out_open(Json *json) {
  *json = (Json){0};
  json->to = open_memstream(&json->text, &json->length);
  if (!json->to) complain(NULL, "out of memory");
  return json->to != NULL;
}

static void before_value(Json *json) {
  if (json->needs_comma) fputs(", ", json->to);
  json->needs_comma = true;
}
void json_put_begin(Json *json, char bracket) {
  before_value(json);
  assert(bracket == '{' || bracket == '[');
  fputc(bracket, json->to);
  json->needs_comma = false;
}
void json_put_end(Json *json, char bracket) {
  fputc(bracket, json->to);
  json->needs_comma = true;
}

/* The length of the UTF-8 sequence that begins there; 0: none does. */
static size_t sequence_length(const unsigned char *text, size_t left) {
  size_t n = *text < 0x80 ? 1 : *text >= 0xC2 && *text < 0xE0 ? 2 : (*text & 0xF0) == 0xE0 ? 3 : 0;
  if (*text >= 0xF0 && *text < 0xF5) n = 4;
  if (n > left) return 0;
  for (size_t i = 1; i < n; i++)
    if ((text[i] & 0xC0) != 0x80) return 0;
  bool is_overlong = (*text == 0xE0 && text[1] < 0xA0) || (*text == 0xF0 && text[1] < 0x90);
  bool is_outside = (*text == 0xED && text[1] >= 0xA0) || (*text == 0xF4 && text[1] >= 0x90);
  return is_overlong || is_outside ? 0 : n;
}
static void put_text(Json *json, const char *text, size_t length) {
  const unsigned char *bytes = (const unsigned char *)text;
  fputc('"', json->to);
  for (size_t i = 0, n; i < length; i += n ? n : 1) {
    unsigned char c = bytes[i];
    n = sequence_length(bytes + i, length - i);
    if (c == '"' || c == '\\')
      fprintf(json->to, "\\%c", c);
    else if (c == '\n' || c == '\t')
      fputs(c == '\n' ? "\\n" : "\\t", json->to);
    else if (c < 32 || c == 127)
      fprintf(json->to, "\\u%04x", c);
    else if (n == 2 && c == 0xC2 && bytes[i + 1] < 0xA0)
      fprintf(json->to, "\\u%04x", bytes[i + 1]); /* a control character, which terminals obey */
    else if (n)
      fwrite(bytes + i, 1, n, json->to);
    else
      fputs("\\ufffd", json->to); /* no UTF-8 */
  }
  fputc('"', json->to);
}
void json_put_key(Json *json, const char *name) {
  before_value(json);
  put_text(json, name, strlen(name));
  fputs(": ", json->to);
  json->needs_comma = false;
}
void json_put_text(Json *json, const char *text) {
  before_value(json);
  if (text)
    put_text(json, text, strlen(text));
  else
    fputs("null", json->to);
}
void json_put_int(Json *json, long long value) {
  before_value(json);
  fprintf(json->to, "%lld", value);
}
static void put_unsigned(Json *json, unsigned long long value) {
  before_value(json);
  fprintf(json->to, "%llu", value);
}
static void put_real(Json *json, double value, int digits) {
  before_value(json);
  if (isnan(value))
    fputs("null", json->to);
  else if (isinf(value))
    fputs(value < 0 ? "-1e999" : "1e999", json->to);
  else
    fprintf(json->to, "%.*g", digits, value);
}
void json_put_real(Json *json, double value) {
  put_real(json, value, 17);
}
void json_put_bool(Json *json, bool value) {
  before_value(json);
  fputs(value ? "true" : "false", json->to);
}
void json_put_verbatim(Json *json, const char *text) {
  before_value(json);
  fputs(text, json->to);
}

/* ---- values ---- */

typedef struct Elements {
  Json *json;
  const wick_tensor_view *view;
  const char *data;
  int digits;     /* that a number of the tensor's dtype needs */
  uint32_t dtype; /* that the tensor had */
} Elements;
static const char *put_elements(const Elements *e, int dim, const char *at) {
  assert(dim <= e->view->ndim);
  if (dim == e->view->ndim) {
    if (e->dtype == WICK_BOOL8)
      json_put_bool(e->json, *(const int64_t *)at);
    else if (e->dtype == WICK_UINT64)
      put_unsigned(e->json, *(const uint64_t *)at);
    else if (e->view->dtype == WICK_INT64)
      json_put_int(e->json, *(const int64_t *)at);
    else
      put_real(e->json, *(const double *)at, e->digits);
    return at + 8;
  }
  json_put_begin(e->json, '[');
  for (int64_t i = 0; i < e->view->sizes[dim]; i++) at = put_elements(e, dim + 1, at);
  json_put_end(e->json, ']');
  return at;
}

/* Replaces *value by what the operator makes of it. */
static wick_status apply(wick_value **value, const char *op, const char *overload, wick_value *argument,
                         wick_error **error) {
  wick_value *result = NULL;
  wick_status status = wick_op_call(NULL, op, overload, (const wick_value *const[]){*value, argument}, argument ? 2 : 1,
                                    NULL, 0, &result, error);
  wick_value_release(argument);
  if (status) return status;
  wick_value_release(*value);
  *value = result;
  return WICK_OK;
}
static bool is_integral(uint32_t dtype) {
  return dtype <= WICK_INT64 || dtype == WICK_BOOL8 || (dtype >= WICK_UINT16 && dtype <= WICK_UINT64);
}
/* *value becomes int64 or float64, strided; complex numbers get a last dimension of two. */
static wick_status make_plain(wick_value **value, const wick_tensor_spec *spec, wick_error **error) {
  uint32_t dtype = spec->dtype;
  wick_status status = WICK_OK;
  wick_tensor_view view = {.size = sizeof view};
  wick_tensor_info info = {.size = sizeof info};
  if (!wick_tensor_info_of(*value, &info, NULL) && info.device_type != WICK_DEVICE_CPU) {
    wick_value *here = value_on_device(*value, "cpu", error);
    if (!here) return wick_error_status(*error);
    wick_value_release(*value);
    *value = here;
  }
  if (dtype == WICK_QINT8 || dtype == WICK_QUINT8 || dtype == WICK_QINT32)
    status = apply(value, "aten::dequantize", "self", NULL, error);
  else if (wick_tensor_view_of(*value, &view, NULL))
    status = apply(value, "aten::to_dense", NULL, NULL, error);
  if (!status && dtype >= WICK_COMPLEX32 && dtype <= WICK_COMPLEX128) {
    status = apply(value, "aten::resolve_conj", NULL, NULL, error);
    if (!status) status = apply(value, "aten::view_as_real", NULL, NULL, error);
  }
  if (status) return status;
  status = apply(value, "aten::to", "dtype", wick_value_int(is_integral(dtype) ? WICK_INT64 : WICK_FLOAT64), error);
  wick_value *dense = NULL;
  if (!status) status = wick_tensor_contiguous(*value, &dense, error);
  if (status) return status;
  wick_value_release(*value);
  *value = dense;
  return WICK_OK;
}
static wick_status put_tensor(Json *json, const wick_value *tensor, wick_error **error) {
  wick_tensor_spec spec;
  wick_tensor_view view = {.size = sizeof view};
  if (wick_tensor_spec_of(tensor, &spec, NULL)) return json_put_text(json, NULL), WICK_OK; /* undefined */
  wick_value *plain = wick_value_retain((wick_value *)tensor);
  wick_status status = make_plain(&plain, &spec, error);
  if (!status) status = wick_tensor_view_of(plain, &view, error);
  if (!status) {
    bool is_wide = spec.dtype == WICK_FLOAT64 || spec.dtype == WICK_COMPLEX128;
    Elements elements = {json, &view, view.data, is_wide ? 17 : 9, spec.dtype};
    put_elements(&elements, 0, view.data);
  }
  wick_value_release(plain);
  return status;
}

/* A dict with keys of text is an object; others are lists of pairs. */
static wick_status put_dict(Json *json, const wick_value *dict, wick_error **error) {
  wick_status status = WICK_OK;
  size_t count = wick_value_length(dict);
  bool is_object = true;
  for (size_t i = 0; i < count; i++) {
    wick_value *key = wick_value_key(dict, i);
    is_object = is_object && wick_value_kind(key) == WICK_STRING;
    wick_value_release(key);
  }
  json_put_begin(json, is_object ? '{' : '[');
  for (size_t i = 0; !status && i < count; i++) {
    wick_value *key = wick_value_key(dict, i), *item = wick_value_item(dict, i);
    if (is_object) {
      json_put_key(json, wick_value_to_string(key, NULL));
    } else {
      json_put_begin(json, '[');
      status = json_put_value(json, key, error);
    }
    if (!status) status = json_put_value(json, item, error);
    if (!is_object) json_put_end(json, ']');
    wick_value_release(key);
    wick_value_release(item);
  }
  json_put_end(json, is_object ? '}' : ']');
  return status;
}
static wick_status put_items(Json *json, const wick_value *value, wick_error **error) {
  wick_status status = WICK_OK;
  json_put_begin(json, '[');
  for (size_t i = 0; !status && i < wick_value_length(value); i++) {
    wick_value *item = wick_value_item(value, i);
    status = json_put_value(json, item, error);
    wick_value_release(item);
  }
  json_put_end(json, ']');
  return status;
}
static wick_status put_printed(Json *json, const wick_value *value, wick_error **error) {
  char *text;
  wick_status status = wick_value_print(value, &text, error);
  if (!status) json_put_text(json, text);
  wick_text_free(text);
  return status;
}

wick_status json_put_value(Json *json, const wick_value *value, wick_error **error) {
  double real, imaginary;
  size_t length;
  const char *text;
  switch (wick_value_kind(value)) {
    case WICK_NONE:
      return json_put_text(json, NULL), WICK_OK;
    case WICK_INT:
      return json_put_int(json, wick_value_to_int(value)), WICK_OK;
    case WICK_DOUBLE:
      return json_put_real(json, wick_value_to_double(value)), WICK_OK;
    case WICK_BOOL:
      return json_put_bool(json, wick_value_to_bool(value)), WICK_OK;
    case WICK_STRING:
      text = wick_value_to_string(value, &length);
      before_value(json);
      return put_text(json, text, length), WICK_OK;
    case WICK_COMPLEX:
      wick_value_to_complex(value, &real, &imaginary);
      json_put_begin(json, '[');
      json_put_real(json, real);
      json_put_real(json, imaginary);
      return json_put_end(json, ']'), WICK_OK;
    case WICK_TENSOR:
      return put_tensor(json, value, error);
    case WICK_LIST:
    case WICK_TUPLE:
      return put_items(json, value, error);
    case WICK_DICT:
      return put_dict(json, value, error);
    default: /* devices, enums, objects: as print() shows them */
      return put_printed(json, value, error);
  }
}

/* ---- done ---- */

bool json_out_close(Json *json) {
  bool failed = ferror(json->to) != 0;
  if (fclose(json->to)) failed = true;
  json->to = NULL;
  if (failed) complain(NULL, "out of memory");
  return !failed;
}
void json_out_dispose(Json *json) {
  if (json->to) fclose(json->to);
  free(json->text);
  *json = (Json){0};
}
bool json_out_print(Json *json) {
  bool fine = json_out_close(json);
  if (fine) fputs(json->text, stdout), fputc('\n', stdout);
  is_printed = is_printed || fine;
  json_out_dispose(json);
  return fine;
}

void json_out_announce(void) {
  is_announced = true;
}
void json_out_finish(void) {
  Json json;
  if (!is_announced || is_printed || !json_out_open(&json)) return;
  const char *why = complaint_at(0);
  json_put_begin(&json, '{');
  json_put_key(&json, "error");
  json_put_text(&json, why ? why : "nothing was done");
  json_put_end(&json, '}');
  json_out_print(&json);
}
