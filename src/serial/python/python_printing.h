/* What the files of the Python printer share while one function is printed. */
#pragma once

#include "serial/python/python_print.h"
#include "serial/python/python_text.h"

typedef struct Printing {
  PythonPrinter *printer;
  Arena *arena;
  PythonText out;
  int level;
  PtrMap expressions;        /* Value -> PythonPiece: its name, or the expression it stands for */
  PtrMap inlined;            /* nodes */
  VEC(const Node *) pending; /* of those, in order: what has an expression that no other holds yet */
  Map used, next;            /* names; the next number to try after one */
} Printing;

_Noreturn void printing_fail(Printing *p, Status status);

/* What stands for a value. */
const PythonPiece *printed(Printing *p, const Value *value);
static inline Str printed_text(Printing *p, const Value *value) {
  return printed(p, value)->text;
}

static inline void put(PythonText *out, const char *text) {
  strbuf_puts(python_text_at(out), text);
}
static inline void put_str(PythonText *out, Str text) {
  strbuf_str(python_text_at(out), text);
}
static inline void put_value(Printing *p, PythonText *out, const Value *value) {
  python_text_put(out, printed(p, value));
}
void put_type(Printing *p, PythonText *out, const Type *type);
/* begin, the node's inputs separated by commas, end */
void put_inputs(Printing *p, PythonText *out, const Node *node, const char *begin, const char *end);

/* python_expression.c: what a node computes. */
void put_expression(Printing *p, const Node *node, PythonText *out);
