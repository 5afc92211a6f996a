/* ArgumentSpec: what a plan assumes, as words that are equal for calls that may share it: grad mode, which optional
 * inputs are None, the values of attributes that the graph only reads, and, for the specialising executor, dtype, rank,
 * requires_grad, device and definedness of every tensor in inputs, in tuples and in those attributes.
 *
 * Attributes are reached from the first input through submodules; paths are walked anew for each call, so that a
 * submodule that was replaced is noticed. */
#pragma once

#include "ir/ir.h"

typedef struct AttributeObject {
  uint32_t parent, slot; /* of an earlier object; object 0 is the first input */
  const ClassType *class_type;
} AttributeObject;
typedef struct AttributeLeaf {
  uint32_t object, slot;
  const Type *type; /* Tensor, int, float, bool, str, None or an Optional of these */
} AttributeLeaf;
/* What a graph reads by prim::GetAttr chains from its first input and nobody in it can write. */
typedef struct AttributePaths {
  VEC(AttributeObject) objects; /* none: nothing is read */
  VEC(AttributeLeaf) leaves;
} AttributePaths;
/* Of a graph with its calls inlined. */
Status attribute_paths_find(const Graph *graph, AttributePaths *out) MUST_CHECK;
void attribute_paths_dispose(AttributePaths *paths);

enum { SPEC_FEW_WORDS = 96 };
typedef struct ArgumentSpec {
  uint32_t count, capacity;
  bool failed; /* out of memory, or an attribute is not where the paths say: there is no plan for this call */
  bool grad_enabled, tensors;
  uint64_t *words; /* `few` until they are too many */
  uint64_t few[SPEC_FEW_WORDS];
} ArgumentSpec;
/* tensors: look at them too. paths may be NULL. Disposed of by the caller. */
void argument_spec_take(ArgumentSpec *spec, bool grad_enabled, bool tensors, const Graph *graph,
                        const AttributePaths *paths, const IValue *arguments, uint32_t count);
void argument_spec_dispose(ArgumentSpec *spec);
uint64_t argument_spec_hash(const ArgumentSpec *spec);

/* The leaves' values, retained, None for tensors; false: they are not what the spec says any more. */
bool argument_spec_values(const ArgumentSpec *spec, const AttributePaths *paths, IValue self, IValue *values);
/* Writes what the spec says into a copy of the graph that the paths were found in: types of tensors, None for optional
 * inputs, constants for attributes, whose values are given. Throws to the graph's catch point. */
void argument_spec_apply(const ArgumentSpec *spec, Graph *graph, const AttributePaths *paths, const IValue *values);
