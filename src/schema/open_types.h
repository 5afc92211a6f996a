/* The types that a schema leaves open: those of what stands at `Any` and after `...`, in order, and of results that are
 * `Any` or `...`. A kernel reads such a value as one of a type all the same, so the operator's row says which
 * (OpRow.open), and whoever matches a call against the schema compares: programs and graphs by types, callers and
 * operator_call by values.
 *
 *   "Tensor... int"                          any number of tensors, then an int
 *   "Tensor {Tensor Tensor?}... -> Tensor..."  a tensor, then pairs; the results are tensors
 *   "Any..."                                 the kernel takes whatever there is                                      */
#pragma once

#include "schema/schema.h"

/* Throws at the arena's catch point on errors. */
const OpenTypes *open_types_parse(Arena *arena, TypeStore *store, const FunctionSchema *schema, Str text);
/* Whether an operator of the schema may have so many inputs, as far as its open types say it. */
bool schema_takes_count(const FunctionSchema *schema, uint32_t count);
/* The type of input i of `count`, as open types complete the schema. `count` was taken, i is below it. */
const Type *schema_input_type(const FunctionSchema *schema, uint32_t i, uint32_t count);
/* Of output i of `count`; NULL: nothing is known of it, or there is no such output. */
const Type *schema_output_type(const FunctionSchema *schema, uint32_t i, uint32_t count);

/* Whether a value of type `actual` may stand at an open input of type `formal`. What may be anything is compared by
 * itself when it is there. */
static inline bool open_type_takes(const Type *formal, const Type *actual) {
  return actual->kind == TYPE_ANY || type_is_subtype(actual, formal, NULL);
}

/* Whether the schema says nothing of what stands at input i. */
static inline bool schema_input_is_open(const FunctionSchema *schema, uint32_t i) {
  return i >= schema->argument_count || schema->arguments[i].type->kind == TYPE_ANY;
}
