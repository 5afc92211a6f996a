/* Matching: arguments in a program against a schema, with the implicit conversions TorchScript makes. Conversions,
 * constants for defaults and lists for `int[2]` are inserted into the graph at its insertion point; an attempt that
 * fails takes its nodes out again. Works for operators and for schemas of functions and methods alike.
 *
 *   MatchedSchema m = schema_match(graph, function->schema, range, &call);   // throws with the reasons
 *   node = graph_create(graph, SYM_prim_CallFunction, ...m.inputs...)                                    */
#pragma once

#include "ir/graph.h"
#include "schema/schema.h"

typedef struct Exec Exec; /* call/exec.h */

typedef struct CallArguments {
  uint32_t count, keyword_count;
  const NamedValue *positional, *keywords; /* keyword arguments have names */
  const NamedValue *self;                  /* goes to the parameter named self; may be NULL */
} CallArguments;

typedef struct MatchedSchema {
  const FunctionSchema *schema;
  uint32_t input_count, return_count;
  Value **inputs;            /* in the order of the schema, converted, defaults filled in */
  const Type **return_types; /* type variables substituted */
} MatchedSchema;

/* One attempt; without allow_conversions only subtypes, broadcast lists and tuples fit. The reasons go to why (may be
 * NULL). Memory comes from the graph's arena. */
bool schema_try_match(Graph *graph, const FunctionSchema *schema, SourceRange range, const CallArguments *call,
                      bool allow_conversions, StrBuf *why, MatchedSchema *out);
/* Throws ERROR_COMPILE with the reasons. */
MatchedSchema schema_match(Graph *graph, const FunctionSchema *schema, SourceRange range, const CallArguments *call);
/* The first schema that fits without conversions, else the first that fits with them; its index. Throws with every
 * candidate's reasons. */
uint32_t schemas_match(Graph *graph, uint32_t count, const FunctionSchema *const *schemas, SourceRange range,
                       const CallArguments *call, MatchedSchema *out);
/* Matches the operators of that name and inserts a node; several results come packed in a tuple, none as None. Throws;
 * an unknown name with similar ones, and one of plans unless the range is of wick's own text. exec (may be NULL) is
 * needed for OP_BUILTIN rows, whose bodies are compiled and inlined. */
Value *operator_emit(Graph *graph, Exec *exec, Str name, SourceRange range, const CallArguments *call);

/* The node of a call that was matched. Throws ERROR_COMPILE where the kind has a form that the types do not have. */
Node *operator_insert_node(Graph *graph, const struct Operator *op, Symbol kind, SourceRange range,
                           const MatchedSchema *matched);

/* The value of an argument: inserts a constant where it is one. */
Value *named_value(Graph *graph, const NamedValue *argument);
/* Converts where TorchScript does it silently (tuple to list, Tensor to number, ...); otherwise the value itself: check
 * the subtype relation afterwards. */
Value *value_convert(Graph *graph, const Type *type, Value *value, bool allow_conversions, SourceRange range);
/* A tuple all of whose elements may stand in a list of that type, or a subtype of it. */
bool type_converts_to_list(const Type *type, const Type *list_type);
/* Nodes for containers; inserted, without range. */
Value *graph_insert_list(Graph *graph, const Type *element, uint32_t count, Value *const *values);
Value *graph_insert_tuple(Graph *graph, uint32_t count, Value *const *values, const Type *named_or_null);
/* prim::TupleUnpack; the elements in an array of the graph's arena. */
Value **graph_insert_tuple_unpack(Graph *graph, Value *tuple);
