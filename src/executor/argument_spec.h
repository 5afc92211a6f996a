/* ArgumentSpec: what a plan assumes, as words that are equal for calls that may share it: grad mode and precision,
 * which optional inputs are None, the values of attributes that the graph only reads, and, for the specializing
 * executor, dtype, rank, requires_grad, device and definedness of every tensor in inputs, in tuples and in those
 * attributes.
 *
 * Attributes are reached from the first input through submodules; paths are walked anew unless a Snapshot says that
 * nobody has written to them, so that a submodule that was replaced is noticed. */
#pragma once

#include <assert.h>

#include "call/exec.h"
#include "executor/attribute_paths.h"

/* What plans of a graph differ in whatever the arguments are, as a number below CALL_TERMS. */
enum { CALL_TERMS = 2 * PRECISION_LIMIT };
static inline uint32_t call_terms(bool grad_enabled, Precision precision) {
  assert((int)precision < (int)PRECISION_LIMIT);
  return (uint32_t)grad_enabled | (uint32_t)precision << 1;
}
static inline uint32_t call_terms_of(const Exec *exec) {
  return call_terms(exec->grad_enabled, exec->work.precision);
}

enum { SPEC_FEW_WORDS = 96 };
typedef struct ArgumentSpec {
  uint32_t count, capacity;
  bool failed; /* out of memory, or an attribute is not where the paths say: there is no plan for this call */
  bool grad_enabled, tensors;
  Precision precision;
  uint64_t *words; /* `few` until they are too many */
  uint64_t few[SPEC_FEW_WORDS];
} ArgumentSpec;
/* What the call and its arguments say; tensors: look at them too. Disposed of by the caller. */
void argument_spec_inputs(ArgumentSpec *spec, const Exec *exec, bool tensors, const Graph *graph,
                          const IValue *arguments, uint32_t count);
static inline uint32_t argument_spec_terms(const ArgumentSpec *spec) {
  return call_terms(spec->grad_enabled, spec->precision);
}
/* What the attributes say comes after it. */
void argument_spec_attributes(ArgumentSpec *spec, const AttributePaths *paths, const IValue *arguments);
bool argument_spec_begins_with(const ArgumentSpec *spec, const ArgumentSpec *beginning);
void argument_spec_dispose(ArgumentSpec *spec);

/* The leaves' values, retained, None for tensors; false: they are not what the spec says any more. */
bool argument_spec_values(const ArgumentSpec *spec, const AttributePaths *paths, IValue self, IValue *values);
/* What the spec says of a graph. */
typedef struct SpecWriter {
  const ArgumentSpec *spec;
  const AttributePaths *paths; /* may be NULL */
  const IValue *values;        /* of the paths' leaves */
  Exec *exec;                  /* computes what follows */
} SpecWriter;
/* Inlines a copy of the graph that the paths were found in; attributes become constants and Ifs that these decide one
 * of their branches before anything is inlined into it. */
void argument_spec_inline(const SpecWriter *writer, Graph *graph);
/* Writes the rest into it: types of tensors, None for optional inputs. Both throw to the graph's catch point. */
void argument_spec_apply(const SpecWriter *writer, Graph *graph);
