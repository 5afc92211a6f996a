/* The modules of a program: what they hold, how the numbers in their tensors lie, the sources of their methods. */
#include "cli/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wick/tensor.h"

typedef struct Modules {
  Json *json;
  const ModelOptions *model;
  Interner classes; /* whose sources were put already, into: */
  Json sources;
} Modules;

/* ---- what is in a tensor ---- */

enum { BINS = 32 };
typedef struct Spread {
  double least, most, mean, deviation;
  long long count, zeros, others; /* others: no numbers, or infinite */
  long long bins[BINS];
} Spread;

/* As float32, row-major. */
static wick_status floats_of(const wick_value *tensor, uint32_t dtype, wick_value **out, wick_error **error) {
  if (dtype == WICK_FLOAT32) return wick_tensor_contiguous(tensor, out, error);
  bool is_quantized = dtype == WICK_QINT8 || dtype == WICK_QUINT8 || dtype == WICK_QINT32;
  if (is_quantized) return wick_op_call(NULL, "aten::dequantize", "self", &tensor, 1, NULL, 0, out, error);
  wick_value *to = wick_value_int(WICK_FLOAT32), *no = wick_value_bool(0), *converted = NULL;
  const wick_value *arguments[] = {tensor, to, no, no};
  wick_status status = wick_op_call(NULL, "aten::to", "dtype", arguments, 4, NULL, 0, &converted, error);
  if (!status) status = wick_tensor_contiguous(converted, out, error);
  wick_value_release(converted);
  wick_value_release(to);
  wick_value_release(no);
  return status;
}
static void spread_floats(const float *data, size_t count, Spread *s) {
  double sum = 0, squares = 0;
  *s = (Spread){.least = INFINITY, .most = -INFINITY};
  for (size_t i = 0; i < count; i++) {
    double x = (double)data[i];
    if (!isfinite(x)) {
      s->others++;
      continue;
    }
    sum += x;
    s->zeros += x == 0;
    if (x < s->least) s->least = x;
    if (x > s->most) s->most = x;
  }
  s->count = (long long)count - s->others;
  if (!s->count) return;
  s->mean = sum / (double)s->count;
  double width = (s->most - s->least) / BINS;
  for (size_t i = 0; i < count; i++) {
    double x = (double)data[i];
    if (!isfinite(x)) continue;
    squares += (x - s->mean) * (x - s->mean);
    int bin = width > 0 ? (int)((x - s->least) / width) : 0;
    s->bins[bin < BINS ? bin : BINS - 1]++;
  }
  s->deviation = sqrt(squares / (double)s->count);
}
/* Not of what a few bytes of a file claim to be gigabytes of: more elements than there is memory for them. */
static bool is_worth_reading(const wick_value *tensor, uint32_t dtype) {
  wick_tensor_info info = {.size = sizeof info};
  bool is_complex = dtype == WICK_COMPLEX32 || dtype == WICK_COMPLEX64 || dtype == WICK_COMPLEX128;
  return !is_complex && !wick_tensor_info_of(tensor, &info, NULL) && info.count > 0 &&
         (uint64_t)info.count <= info.storage_bytes;
}
/* [least, most, mean, deviation, zeros, no numbers, [bins]]; null where the elements can't be read as real numbers. */
static void put_spread(Json *json, const wick_value *tensor, uint32_t dtype) {
  Spread s;
  wick_value *floats = NULL;
  wick_error *error = NULL;
  bool fine = is_worth_reading(tensor, dtype) && !floats_of(tensor, dtype, &floats, &error);
  wick_error_free(error);
  const float *data = fine ? wick_tensor_data(floats) : NULL;
  if (data) spread_floats(data, (size_t)wick_tensor_count(floats), &s);
  wick_value_release(floats);
  if (!data || !s.count) {
    json_put_text(json, NULL);
    return;
  }
  json_put_begin(json, '[');
  double numbers[] = {s.least, s.most, s.mean, s.deviation};
  char text[40];
  for (int i = 0; i < 4; i++) {
    snprintf(text, sizeof text, "%.6g", numbers[i]);
    json_put_verbatim(json, text);
  }
  json_put_int(json, s.zeros);
  json_put_int(json, s.others);
  json_put_begin(json, '[');
  for (int i = 0; i < BINS; i++) json_put_int(json, s.bins[i]);
  json_put_end(json, ']');
  json_put_end(json, ']');
}

/* ---- sources of methods ---- */

static void put_method(Modules *m, wick_module *module, const char *name) {
  wick_function *function;
  char *code = NULL;
  if (wick_function_of(module, name, &function, NULL)) return;
  wick_function_print(function, WICK_PRINT_CODE, &code, NULL);
  json_put_key(&m->sources, name);
  json_put_text(&m->sources, code ? code : "");
  wick_text_free(code);
  wick_function_release(function);
}
/* Of a class that is met for the first time. */
static void put_class(Modules *m, const char *class_name, wick_module *module) {
  size_t known = m->classes.count;
  intern(&m->classes, class_name, strlen(class_name));
  if (m->classes.count == known) return;
  json_put_key(&m->sources, class_name);
  json_put_begin(&m->sources, '{');
  for (size_t i = 0; i < wick_module_method_count(module); i++)
    put_method(m, module, wick_module_method_name(module, i));
  json_put_end(&m->sources, '}');
}

/* ---- entries: [name, type, kind, ...], kind: m module, p parameter, b buffer, a attribute ---- */

static void put_tensor(Json *json, const wick_value *tensor, const wick_tensor_spec *spec) {
  json_put_text(json, wick_dtype_name(spec->dtype));
  json_put_begin(json, '[');
  for (int i = 0; i < spec->ndim; i++) json_put_int(json, spec->sizes[i]);
  json_put_end(json, ']');
  json_put_int(json, (long long)wick_tensor_count(tensor) * (long long)wick_dtype_bytes(spec->dtype));
  put_spread(json, tensor, spec->dtype);
}
static int visit(void *user, const char *name, uint32_t kind, const char *type, const wick_value *value) {
  Modules *m = user;
  Json *json = m->json;
  wick_tensor_spec spec;
  wick_module *module = NULL;
  bool is_tensor = wick_value_kind(value) == WICK_TENSOR && !wick_tensor_spec_of(value, &spec, NULL);
  bool is_module =
      wick_value_kind(value) == WICK_OBJECT && !wick_module_of_object(value, m->model->runtime, &module, NULL);
  if (is_module) put_class(m, type, module);
  wick_module_release(module);
  json_put_begin(json, '[');
  json_put_text(json, name);
  json_put_text(json, type);
  json_put_text(json, is_module                             ? "m"
                      : is_tensor && kind == WICK_PARAMETER ? "p"
                      : is_tensor && kind == WICK_BUFFER    ? "b"
                                                            : "a");
  if (is_tensor) {
    put_tensor(json, value, &spec);
  } else if (!is_module) {
    char *text = NULL;
    wick_value_print_short(value, &text, NULL);
    if (text && strlen(text) > 200) text[200] = 0;
    json_put_text(json, text ? text : "");
    wick_text_free(text);
  }
  json_put_end(json, ']');
  return 0;
}

bool view_put_modules(const wick_module *module, const ModelOptions *model, Json *json) {
  Modules m = {.json = json, .model = model};
  wick_error *error = NULL;
  if (!json_out_open(&m.sources)) return false;
  json_put_begin(&m.sources, '{');
  json_put_key(json, "class"), json_put_text(json, wick_module_class_name(module));
  json_put_key(json, "mode"), json_put_text(json, mode_name(module));
  put_class(&m, wick_module_class_name(module), (wick_module *)module);
  json_put_key(json, "modules");
  json_put_begin(json, '[');
  bool fine = !wick_module_each(module, visit, &m, &error);
  json_put_end(json, ']');
  json_put_end(&m.sources, '}');
  if (error) complain_error(NULL, error);
  fine = json_out_close(&m.sources) && fine && !m.classes.failed;
  json_put_key(json, "sources");
  json_put_verbatim(json, fine ? m.sources.text : "{}");
  json_out_dispose(&m.sources);
  interner_dispose(&m.classes);
  return fine;
}
