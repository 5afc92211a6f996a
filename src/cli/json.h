/* JSON as it is written: what --json prints and what -o FILE.json holds. Written in memory; shown when it is whole. */
#pragma once

#include "cli/cli.h"

typedef struct Json {
  FILE *to;
  char *text;    /* after json_out_close */
  size_t length; /* likewise */
  bool needs_comma;
} Json;
/* false: out of memory, which was complained about. */
bool json_out_open(Json *json);
void json_put_begin(Json *json, char bracket); /* '{' or '[' */
void json_put_end(Json *json, char bracket);   /* '}' or ']' */
void json_put_key(Json *json, const char *name);
void json_put_text(Json *json, const char *text); /* NULL: null */
void json_put_int(Json *json, long long value);
void json_put_real(Json *json, double value); /* infinite: 1e999, which every reader takes for it; no number: null */
void json_put_bool(Json *json, bool value);
void json_put_verbatim(Json *json, const char *text); /* JSON already */
/* Tensors as nested lists, complex numbers as [real, imaginary], objects as print() shows them. */
wick_status json_put_value(Json *json, const wick_value *value, wick_error **error);
/* The text is json->text, freed by json_out_dispose. false: out of memory, which was complained about. */
bool json_out_close(Json *json);
void json_out_dispose(Json *json);
/* Closes it, prints it as the command's one object and disposes of it. */
bool json_out_print(Json *json);

/* ---- --json of a whole command ---- */
void json_out_announce(void); /* the command was asked for an object */
/* What a command that printed none says in its place: {"error": "..."}. */
void json_out_finish(void);
