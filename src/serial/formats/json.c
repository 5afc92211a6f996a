/* JSON by cJSON. Its parser bounds nesting, and the length of what it gets is bounded here, since its tree takes some
 * thirty times the text's space. */
#include "serial/formats/json.h"

#ifdef WICK_HAVE_CJSON
#include <cjson/cJSON.h>
#include <pthread.h>

#include "base/library.h"

#define MAX_TEXT ((size_t)16 << 20)

static __typeof__(cJSON_ParseWithLengthOpts) *parse;
static __typeof__(cJSON_Delete) *delete_tree;
static char failure[128];

static void open_library(void) {
  static const char *const names[] = {"libcjson.so.1"};
  const LibrarySymbol symbols[] = {{"cJSON_ParseWithLengthOpts", &parse}, {"cJSON_Delete", &delete_tree}};
  library_open(names, 1, symbols, 2, failure, sizeof failure);
}

Status json_parse(Str text, Json **out) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, open_library);
  if (!parse) return status_new(ERROR_UNSUPPORTED, "JSON can't be read: %s", failure);
  if (text.length > MAX_TEXT)
    return status_new(ERROR_DATA, "JSON of %zu bytes exceeds the limit of %zu", text.length, MAX_TEXT);
  const char *end = text.data;
  cJSON *root = parse(text.data, text.length, &end, false);
  if (!root)
    return status_new(ERROR_DATA, "damaged JSON near byte %zu",
                      end >= text.data && end <= text.data + text.length ? (size_t)(end - text.data) : 0);
  for (; end < text.data + text.length; end++) {
    if (*end == ' ' || *end == '\n' || *end == '\r' || *end == '\t' || !*end) continue;
    delete_tree(root);
    return status_new(ERROR_DATA, "damaged JSON: more text follows at byte %zu", (size_t)(end - text.data));
  }
  *out = (Json *)root;
  return OK;
}
void json_free(Json *root) {
  if (root) delete_tree((cJSON *)root);
}

static const cJSON *node(const Json *value) {
  return (const cJSON *)value;
}
static bool has_type(const Json *value, int type) {
  return value && (node(value)->type & 0xff) == type;
}

const Json *json_get(const Json *object, const char *key) {
  if (!json_is_object(object)) return NULL;
  for (const cJSON *member = node(object)->child; member; member = member->next)
    if (member->string && !strcmp(member->string, key)) return (const Json *)member;
  return NULL;
}
const Json *json_first(const Json *parent) {
  return json_is_object(parent) || json_is_array(parent) ? (const Json *)node(parent)->child : NULL;
}
const Json *json_next(const Json *element) {
  return (const Json *)node(element)->next;
}
Str json_key(const Json *member) {
  return node(member)->string ? str_from(node(member)->string) : STR("");
}
bool json_is_object(const Json *value) {
  return has_type(value, cJSON_Object);
}
bool json_is_array(const Json *value) {
  return has_type(value, cJSON_Array);
}
bool json_string(const Json *value, Str *out) {
  if (!has_type(value, cJSON_String) || !node(value)->valuestring) return false;
  *out = str_from(node(value)->valuestring);
  return true;
}
bool json_int(const Json *value, int64_t *out) {
  Str text;
  if (json_string(value, &text)) return str_to_int64(text, 10, out);
  if (!has_type(value, cJSON_Number)) return false;
  double number = node(value)->valuedouble;
  if (!(number >= -0x1p53 && number <= 0x1p53) || number != (double)(int64_t)number) return false;
  *out = (int64_t)number;
  return true;
}
bool json_bool(const Json *value, bool *out) {
  *out = has_type(value, cJSON_True);
  return *out || has_type(value, cJSON_False);
}
#else
Status json_parse(Str text, Json **out) {
  (void)text, (void)out;
  return status_new(ERROR_UNSUPPORTED, "JSON can't be read: wick was built without cJSON");
}
void json_free(Json *root) {
  (void)root;
}
const Json *json_get(const Json *object, const char *key) {
  (void)object, (void)key;
  return NULL;
}
const Json *json_first(const Json *parent) {
  (void)parent;
  return NULL;
}
const Json *json_next(const Json *element) {
  (void)element;
  return NULL;
}
Str json_key(const Json *member) {
  (void)member;
  return STR("");
}
bool json_is_object(const Json *value) {
  (void)value;
  return false;
}
bool json_is_array(const Json *value) {
  (void)value;
  return false;
}
bool json_string(const Json *value, Str *out) {
  (void)value, (void)out;
  return false;
}
bool json_int(const Json *value, int64_t *out) {
  (void)value, (void)out;
  return false;
}
bool json_bool(const Json *value, bool *out) {
  (void)value, (void)out;
  return false;
}
#endif

const Json *json_array(const Json *object, const char *key) {
  const Json *value = json_get(object, key);
  return json_is_array(value) ? value : NULL;
}
size_t json_count(const Json *parent) {
  size_t count = 0;
  for (const Json *element = json_first(parent); element; element = json_next(element)) count++;
  return count;
}
