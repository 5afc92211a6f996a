/* Pt2Builder: a graph on its way. Everything here throws to the graph's arena: what a file has wrong is ERROR_DATA,
 * what wick lacks ERROR_UNSUPPORTED. */
#pragma once

#include "ir/ir.h"
#include "serial/formats/json.h"

/* The values of a graph by the names that nodes have for them; a graph within another sees its own alone. */
typedef struct Pt2Scope {
  Map values; /* name -> Value */
  struct Pt2Scope *outer;
} Pt2Scope;

/* Of the region that is being built. */
typedef struct Pt2Autocast {
  bool is_on;
  uint8_t dtype; /* DType that float32 is reduced to */
} Pt2Autocast;

typedef struct Pt2Builder {
  Graph *graph;
  CompilationUnit *unit;
  Exec *exec;
  Map places; /* "12:net.py" -> Source, of the unit */
  Pt2Scope *scope;
  const char *where; /* what is being built, for messages: "node add_1 (torch.ops.aten.add.Tensor)"; NULL: the whole */
  Pt2Autocast autocast;
  uint32_t condition_depth; /* of loops' conditions, within each other */
} Pt2Builder;

_Noreturn void pt2_fail(const Pt2Builder *b, ErrorCode code, const char *format, ...) PRINTF_LIKE(3, 4);
/* What may fail otherwise; throws. */
void pt2_try(const Pt2Builder *b, Status status);

/* ---- values by name ---- */
void pt2_scope_init(Pt2Builder *b, Pt2Scope *scope);
Value *pt2_value(const Pt2Builder *b, Str name);
void pt2_define(Pt2Builder *b, Str name, Value *value); /* the value is called so in the graph, too */
/* A text that must be there. */
Str pt2_text(const Pt2Builder *b, const Json *object, const char *key);
/* A name as messages show it: not all of a long one. */
#define PT2_SHORT(name) STR_ARG(str_slice((name), 0, (name).length < 200 ? (name).length : 200))

/* ---- making nodes ---- */
Value *pt2_constant(Pt2Builder *b, IValue value); /* takes over the reference */
Value *pt2_string(Pt2Builder *b, Str text);
/* The operators of that name, matched with the arguments as in a program; several results as a tuple. */
Value *pt2_emit(Pt2Builder *b, const char *name, uint32_t count, Value *const *arguments);
#define PT2_EMIT(b, name, ...) \
  pt2_emit((b), (name), sizeof((Value *[]){__VA_ARGS__}) / sizeof(Value *), (Value *[]){__VA_ARGS__})
/* `if condition: raise RuntimeError(format.format(*values))`; at most PT2_MAX_VALUES of them. */
enum { PT2_MAX_VALUES = 4 };
void pt2_raise_if(Pt2Builder *b, Value *condition, Str format, uint32_t count, Value *const *values);
