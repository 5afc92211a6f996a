/* Json: a JSON text as a tree of values: model.json, headers of safetensors, programs of torch.export. Whoever asks
 * names the type he expects; NULL or false is the answer when it is another. Python's NaN, Infinity and -Infinity are
 * numbers, too. Nesting, the length of the text and the number of values are bounded. */
#pragma once

#include "base/str.h"

typedef struct Json Json; /* a value of the tree, which owns it */

/* The tree keeps nothing of the text. The caller frees *out. */
Status json_parse(Str text, Json **out) MUST_CHECK;
void json_free(Json *root);

const Json *json_get(const Json *object, const char *key);    /* NULL: no object, or it has no such key */
const Json *json_array(const Json *object, const char *key);  /* the same, of arrays only */
const Json *json_object(const Json *object, const char *key); /* the same, of objects only */
/* The elements of an array, the members of an object. */
const Json *json_first(const Json *parent);
const Json *json_next(const Json *element);
size_t json_count(const Json *parent);
Str json_key(const Json *member); /* of an object's member */
bool json_is_object(const Json *value);
bool json_is_array(const Json *value);
bool json_string(const Json *value, Str *out);
bool json_int(const Json *value, int64_t *out);   /* a whole number, or a string of one as protocol buffers write it */
bool json_double(const Json *value, double *out); /* any number, or a string of one: "Infinity", "NaN" */
bool json_bool(const Json *value, bool *out);
