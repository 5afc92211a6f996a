/* JSON texts as values, by cJSON, whose parser bounds nesting. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/literal.h"
#include "cli/media.h"

#ifdef WICK_HAVE_CJSON
#include <cjson/cJSON.h>

static struct {
  __typeof__(cJSON_ParseWithLengthOpts) *parse;
  __typeof__(cJSON_Delete) *release;
} json;
#define MAX_TEXT ((size_t)64 << 20)

static wick_status open_json(wick_error **error) {
  static const char *const names[] = {"libcjson.so.1", NULL};
  const MediaSymbol symbols[] = {{"cJSON_ParseWithLengthOpts", &json.parse}, {"cJSON_Delete", &json.release}, {0}};
  return json.release ? WICK_OK : media_open(names, "libcjson1", symbols, error);
}

static wick_value *value_of(const cJSON *node);
/* Lists of JSON and dicts, both with the items in `children`. */
static wick_value *container_of(const cJSON *node) {
  Items keys = {0}, items = {0};
  wick_value *value = NULL;
  bool fine = true, is_dict = (node->type & 0xFF) == cJSON_Object;
  for (const cJSON *child = node->child; fine && child; child = child->next) {
    fine = items_push(&items, value_of(child));
    if (fine && is_dict) fine = items_push(&keys, wick_value_string(child->string, strlen(child->string)));
  }
  if (fine && is_dict)
    wick_value_dict((const wick_value *const *)keys.values, (const wick_value *const *)items.values, keys.count, &value,
                    NULL);
  else if (fine)
    wick_value_list((const wick_value *const *)items.values, items.count, &value, NULL);
  items_dispose(&keys);
  items_dispose(&items);
  return value;
}
static wick_value *value_of(const cJSON *node) {
  double number = node->valuedouble;
  switch (node->type & 0xFF) {
    case cJSON_False:
      return wick_value_bool(0);
    case cJSON_True:
      return wick_value_bool(1);
    case cJSON_Number:
      return number == floor(number) && fabs(number) < 0x1p53 ? wick_value_int((int64_t)number)
                                                              : wick_value_double(number);
    case cJSON_String:
      return wick_value_string(node->valuestring, strlen(node->valuestring));
    case cJSON_Array:
    case cJSON_Object:
      return container_of(node);
    default:
      return wick_value_none();
  }
}

wick_status json_read(const char *path, wick_value **out, wick_error **error) {
  char *text;
  size_t length;
  wick_status status = media_bytes(path, &text, &length, error);
  if (status) return status;
  const char *end = text;
  cJSON *root = NULL;
  status = length > MAX_TEXT ? media_error(error, WICK_DATA, "JSON of %zu bytes", length) : open_json(error);
  if (!status && !(root = json.parse(text, length + 1, &end, true)))
    status = media_error(error, WICK_DATA, "damaged JSON near byte %zu", end > text ? (size_t)(end - text) : 0);
  if (!status && !(*out = value_of(root)))
    status = media_error(error, WICK_DATA, "the items of a list have different types, or are too many");
  if (root) json.release(root);
  free(text);
  return status;
}
#else
wick_status json_read(const char *path, wick_value **out, wick_error **error) {
  (void)path, (void)out;
  return media_error(error, WICK_UNSUPPORTED, "this wick was built without cJSON");
}
#endif
