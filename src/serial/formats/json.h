/* Json: the text of model.json and of safetensors headers as a tree of values, read by cJSON, which is opened on first
 * use. Whoever asks names the type he expects; NULL or false is the answer when it is another. */
#pragma once

#include "base/str.h"

typedef struct Json Json; /* a value of the tree, which owns it */

/* The text, terminated by a zero byte (not counted); ERROR_UNSUPPORTED without cJSON. The caller frees *out. */
Status json_parse(Str text, Json **out) MUST_CHECK;
void json_free(Json *root);

const Json *json_get(const Json *object, const char *key);   /* NULL: no object, or it has no such key */
const Json *json_array(const Json *object, const char *key); /* the same, of arrays only */
/* The elements of an array, the members of an object. */
const Json *json_first(const Json *parent);
const Json *json_next(const Json *element);
size_t json_count(const Json *parent);
Str json_key(const Json *member); /* of an object's member */
bool json_is_object(const Json *value);
bool json_is_array(const Json *value);
bool json_string(const Json *value, Str *out);
bool json_int(const Json *value, int64_t *out); /* a whole number, or a string of one as protocol buffers write it */
bool json_bool(const Json *value, bool *out);
