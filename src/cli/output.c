/* Where a result goes. */
#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/json.h"
#include "cli/media.h"
#include "wick/archive.h"

/* ---- files ---- */

static wick_status write_npy(const Output *output, const wick_value *value, wick_error **error) {
  return wick_tensor_save_npy(value, output->path, error);
}

/* Arrays of a .npz by dotted names; a value that stands alone is arr_0, as NumPy calls it. */
static wick_status add_array(wick_value *arrays, const char *name, const wick_value *value, wick_error **error);
static wick_status add_members(wick_value *arrays, const char *prefix, const wick_value *value, wick_error **error) {
  wick_status status = WICK_OK;
  bool is_dict = wick_value_kind(value) == WICK_DICT;
  for (size_t i = 0; !status && i < wick_value_length(value); i++) {
    wick_value *key = is_dict ? wick_value_key(value, i) : NULL, *item = wick_value_item(value, i);
    char *text = NULL, *name = NULL;
    if (key) status = wick_value_print(key, &text, error);
    const char *point = *prefix ? "." : "";
    if (!status &&
        (text ? asprintf(&name, "%s%s%s", prefix, point, text) : asprintf(&name, "%s%s%zu", prefix, point, i)) < 0)
      status = media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
    if (!status) status = add_array(arrays, name, item, error);
    free(name);
    wick_text_free(text);
    wick_value_release(key);
    wick_value_release(item);
  }
  return status;
}
static wick_status add_array(wick_value *arrays, const char *name, const wick_value *value, wick_error **error) {
  uint32_t kind = wick_value_kind(value);
  if (kind == WICK_LIST || kind == WICK_TUPLE || kind == WICK_DICT) return add_members(arrays, name, value, error);
  wick_value *array = NULL, *key = NULL;
  wick_status status = WICK_OK;
  double number = wick_value_to_double(value);
  int64_t whole = wick_value_to_int(value);
  if (kind == WICK_TENSOR) {
    array = wick_value_retain((wick_value *)value);
  } else if (kind == WICK_INT || kind == WICK_DOUBLE || kind == WICK_BOOL) {
    uint32_t dtype = kind == WICK_INT ? WICK_INT64 : kind == WICK_DOUBLE ? WICK_FLOAT64 : WICK_BOOL8;
    bool truth = wick_value_to_bool(value);
    const void *data = kind == WICK_INT ? (const void *)&whole : kind == WICK_DOUBLE ? (const void *)&number : &truth;
    status = wick_tensor_new(dtype, 0, NULL, &array, error);
    if (!status) status = wick_tensor_copy_from(array, data, wick_dtype_bytes(dtype), error);
  } else {
    char *type = NULL;
    wick_value_type(value, &type, NULL);
    status = media_error(error, WICK_UNSUPPORTED, "a .npz holds no %s (%s); .pt and .json do",
                         type ? type : "such value", *name ? name : "the result");
    wick_text_free(type);
  }
  if (!*name) name = "arr_0";
  if (!status && !(key = wick_value_string(name, strlen(name))))
    status = media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  if (!status) status = wick_dict_set(arrays, key, array, error);
  wick_value_release(key);
  wick_value_release(array);
  return status;
}
static wick_status write_npz(const Output *output, const wick_value *value, wick_error **error) {
  /* a first entry gives the dict its types */
  wick_value *key = wick_value_string("", 0), *item = NULL, *arrays = NULL;
  wick_status status = wick_tensor_new(WICK_BOOL8, 0, NULL, &item, error);
  if (!status)
    status = wick_value_dict((const wick_value *const[]){key}, (const wick_value *const[]){item}, 1, &arrays, error);
  if (!status) status = wick_dict_remove(arrays, key, error);
  if (!status) status = add_array(arrays, "", value, error);
  if (!status) status = wick_tensors_save_npz(arrays, output->path, error);
  wick_value_release(arrays);
  wick_value_release(item);
  wick_value_release(key);
  return status;
}
static wick_status write_pt(const Output *output, const wick_value *value, wick_error **error) {
  return wick_save_value(NULL, value, output->path, error);
}
static wick_status write_json(const Output *output, const wick_value *value, wick_error **error) {
  Json json;
  if (!json_out_open(&json)) return media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  wick_status status = json_put_value(&json, value, error);
  fputc('\n', json.to);
  if (!json_out_close(&json) && !status) status = media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  if (!status) status = wick_file_write(output->path, json.text, json.length, error);
  json_out_dispose(&json);
  return status;
}
static wick_status write_wav(const Output *output, const wick_value *value, wick_error **error) {
  return sound_write_wav(value, output->rate, output->path, error);
}
static wick_status write_png(const Output *output, const wick_value *value, wick_error **error) {
  return image_write_png(value, output->path, error);
}

static wick_status write_jpeg(const Output *output, const wick_value *value, wick_error **error) {
  return image_write_jpeg(value, output->path, error);
}
static wick_status write_csv(const Output *output, const wick_value *value, wick_error **error) {
  return table_write(value, output->path, error);
}
static wick_status write_txt(const Output *output, const wick_value *value, wick_error **error) {
  char *text = NULL, *lines = NULL;
  wick_status status = wick_value_print(value, &text, error);
  if (!status && asprintf(&lines, "%s\n", text) < 0) {
    lines = NULL;
    status = media_error(error, WICK_OUT_OF_MEMORY, "out of memory");
  }
  if (!status) status = wick_file_write(output->path, lines, strlen(lines), error);
  free(lines);
  wick_text_free(text);
  return status;
}

static const struct Kind {
  const char *suffix;
  bool tensor_only;
  wick_status (*write)(const Output *output, const wick_value *value, wick_error **error);
} kinds[] = {
    {".npy", true, write_npy},  {".npz", false, write_npz},  {".pt", false, write_pt},  {".json", false, write_json},
    {".txt", false, write_txt}, {".csv", true, write_csv},   {".wav", true, write_wav}, {".png", true, write_png},
    {".jpg", true, write_jpeg}, {".jpeg", true, write_jpeg},
};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };
/* A name without a dot, such as a pipe's, gets a .npy. */
static const struct Kind *kind_of(const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  if (!dot) return &kinds[0];
  for (size_t i = 0; i < KIND_COUNT; i++)
    if (!strcmp(dot, kinds[i].suffix)) return &kinds[i];
  return NULL;
}

bool output_holds_tensor(const Output *output) {
  return output->path && kind_of(output->path)->tensor_only;
}

/* ---- before the run ---- */

/* Whether a tensor may come of it: types that say too little pass. */
static bool may_return_tensor(const wick_module *module, const char *method, char *type, size_t size) {
  static const char *const others[] = {"List", "Dict", "Tuple", "int", "float", "bool", "str", "None", "(", "complex"};
  char *schema = NULL;
  if (!method || wick_module_schema(module, method, &schema, NULL)) return true;
  const char *arrow = NULL;
  for (const char *at = schema; (at = strstr(at, " -> ")); at += 4) arrow = at + 4;
  snprintf(type, size, "%s", arrow ? arrow : "");
  wick_text_free(schema);
  size_t length = strlen(type);
  if (length > 2 && !strcmp(type + length - 2, "[]")) return false;
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strncmp(type, others[i], strlen(others[i]))) return false;
  return true;
}
static bool folder_is_writable(const char *path) {
  const char *slash = strrchr(path, '/');
  struct stat info;
  if (!stat(path, &info)) {
    if (!S_ISDIR(info.st_mode)) return true;
    complain(path, "is a folder");
    return false;
  }
  char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
  bool fine = folder && !access(folder, W_OK | X_OK);
  if (!fine) complain(path, "can't be written: %s", folder ? strerror(errno) : "out of memory");
  free(folder);
  return fine;
}
bool output_check(const Output *output, const wick_module *module, const char *method) {
  char type[200] = "";
  if (output->labels && !output->topk) {
    complain(NULL, "--labels is for --topk");
    return false;
  }
  if (output->topk && !may_return_tensor(module, method, type, sizeof type)) {
    complain(NULL, "--topk is of a tensor: %s gives %s", method, type);
    return false;
  }
  if (!output->path) return true;
  const struct Kind *kind = kind_of(output->path);
  if (!kind) {
    char known[100] = "";
    for (size_t i = 0, at = 0; i < KIND_COUNT; i++)
      at += (size_t)snprintf(known + at, sizeof known - at, " %s", kinds[i].suffix);
    complain(output->path, "no kind of file that results are written to (%s)", known + 1);
    return false;
  }
  if (kind->tensor_only && !may_return_tensor(module, method, type, sizeof type)) {
    complain(output->path, "%s holds one tensor: %s gives %s (.npz, .pt and .json hold it)", kind->suffix, method,
             type);
    return false;
  }
  if (output->rate < 1 || output->rate > 1 << 24) {
    complain(NULL, "--sample-rate %ld", output->rate);
    return false;
  }
  return folder_is_writable(output->path);
}

/* ---- the largest elements ---- */

typedef struct Labels {
  char *text;
  char **lines;
  size_t count;
} Labels;
static bool labels_read(const char *path, Labels *labels) {
  size_t length, capacity = 0;
  *labels = (Labels){0};
  if (!path) return true;
  if (!(labels->text = file_read(path, &length))) return false;
  for (char *rest = labels->text, *line; (line = strsep(&rest, "\n"));) {
    if (!rest && !*line) break;
    if (labels->count == capacity) {
      capacity = 2 * capacity + 64;
      char **more = realloc(labels->lines, capacity * sizeof *more);
      if (!more) {
        complain(path, "out of memory");
        return false;
      }
      labels->lines = more;
    }
    line[strcspn(line, "\r")] = 0;
    labels->lines[labels->count++] = line;
  }
  return true;
}
/* `best`: the tuple of values and indices, each [rows, k], row-major, float64 and int64. */
static bool print_best(const Output *output, const double *values, const int64_t *indices, int64_t rows, int64_t k,
                       const Labels *labels) {
  Json json;
  if (output->json && !json_out_open(&json)) return false;
  if (output->json) json_put_begin(&json, '{'), json_put_key(&json, "topk"), json_put_begin(&json, '[');
  for (int64_t row = 0; row < rows; row++) {
    if (output->json) json_put_begin(&json, '[');
    if (!output->json && row) show("\n");
    for (int64_t i = row * k; i < (row + 1) * k; i++) {
      const char *label = (size_t)indices[i] < labels->count ? labels->lines[indices[i]] : NULL;
      if (!output->json) {
        show("%12.6g  %5lld%s%s\n", values[i], (long long)indices[i], label ? "  " : "", label ? label : "");
        continue;
      }
      json_put_begin(&json, '{');
      json_put_key(&json, "index"), json_put_int(&json, indices[i]);
      json_put_key(&json, "value"), json_put_real(&json, values[i]);
      if (label) json_put_key(&json, "label"), json_put_text(&json, label);
      json_put_end(&json, '}');
    }
    if (output->json) json_put_end(&json, ']');
  }
  if (!output->json) return true;
  json_put_end(&json, ']'), json_put_end(&json, '}');
  return json_out_print(&json);
}
static wick_status find_best(const wick_value *result, long k, wick_value **out, wick_error **error) {
  static const char program[] =
      "def best(x: Tensor, k: int) -> Tuple[Tensor, Tensor]:\n"
      "    if x.dim() == 0:\n"
      "        x = x.reshape(1)\n"
      "    x = x.reshape(-1, x.size(-1)).to(torch.double)\n"
      "    values, indices = x.topk(min(k, x.size(1)))\n"
      "    return values.contiguous(), indices.contiguous()\n";
  wick_module *module = NULL;
  wick_value *count = wick_value_int(k);
  wick_status status = wick_compile(NULL, program, strlen(program), "wick", &module, error);
  if (!status)
    status = wick_run(module, "best", (const wick_value *const[]){result, count}, 2, NULL, 0, NULL, out, error);
  wick_value_release(count);
  wick_module_release(module);
  return status;
}
static bool write_best(const Output *output, const wick_value *result) {
  wick_value *best = NULL;
  wick_error *error;
  Labels labels = {0};
  wick_tensor_spec spec;
  bool fine = false;
  if (wick_value_kind(result) != WICK_TENSOR) {
    complain(NULL, "--topk is of a tensor");
  } else if (find_best(result, output->topk, &best, &error)) {
    complain_error("--topk", error);
  } else if (labels_read(output->labels, &labels)) {
    wick_value *values = wick_value_item(best, 0), *indices = wick_value_item(best, 1);
    fine =
        !wick_tensor_spec_of(values, &spec, NULL) &&
        print_best(output, wick_tensor_data(values), wick_tensor_data(indices), spec.sizes[0], spec.sizes[1], &labels);
    wick_value_release(values);
    wick_value_release(indices);
  }
  free(labels.lines);
  free(labels.text);
  wick_value_release(best);
  return fine;
}

/* ---- printing ---- */

static bool print_json(const wick_value *result) {
  Json json;
  char *type = NULL;
  wick_error *error = NULL;
  if (!json_out_open(&json)) return false;
  json_put_begin(&json, '{');
  wick_value_type(result, &type, NULL);
  json_put_key(&json, "type");
  json_put_text(&json, type);
  json_put_key(&json, "result");
  wick_status status = json_put_value(&json, result, &error);
  json_put_end(&json, '}');
  wick_text_free(type);
  if (!status) return json_out_print(&json);
  complain_error(NULL, error);
  json_out_dispose(&json);
  return false;
}
bool output_write_line(const Output *output, const wick_value *result) {
  enum { MOST_NUMBERS = 64 };
  wick_tensor_spec spec;
  wick_error *error = NULL;
  int64_t count = 1;
  Json json;
  uint32_t kind = wick_value_kind(result);
  bool is_small = kind == WICK_TENSOR ? !wick_tensor_spec_of(result, &spec, NULL) : kind != WICK_STRING;
  for (int i = 0; kind == WICK_TENSOR && is_small && i < spec.ndim; i++)
    if (__builtin_mul_overflow(count, spec.sizes[i], &count)) count = INT64_MAX;
  if (output->topk || output->full || !is_small || count > MOST_NUMBERS) return output_write(output, result);
  if (!json_out_open(&json)) return complain(NULL, "out of memory"), false;
  wick_status status = json_put_value(&json, result, &error);
  bool fine = json_out_close(&json) && !status;
  if (fine)
    show("%s\n", json.text);
  else if (status)
    wick_error_free(error);
  json_out_dispose(&json);
  return fine || output_write(output, result); /* what JSON has no form of */
}
bool output_write(const Output *output, const wick_value *result) {
  char *text;
  wick_error *error;
  if (output->path) {
    if (!kind_of(output->path)->write(output, result, &error)) return true;
    complain_error(output->path, error);
    return false;
  }
  if (output->topk) return write_best(output, result);
  if (output->json) return print_json(result);
  if ((output->full ? wick_value_print : wick_value_print_short)(result, &text, &error)) {
    complain_error(NULL, error);
    return false;
  }
  if (wick_value_kind(result) == WICK_STRING)
    fputs(text, stdout), fputc('\n', stdout); /* the program's own words, as what it prints */
  else
    show("%s\n", text);
  wick_text_free(text);
  return true;
}
