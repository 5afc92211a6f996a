/* One element at a time: combining two elements of a dtype in place, identities, one-element tensors. For operators
 * whose order of access rules out bulk conversion. */
#pragma once

#include "tensor/tensor.h"

typedef enum ElementReduction { ELEMENT_ADD, ELEMENT_MULTIPLY, ELEMENT_MAX, ELEMENT_MIN } ElementReduction;
/* *into = *into (+, *, max, min) *from; max and min keep NaN. */
typedef void ElementCombine(void *into, const void *from);
/* NULL: not for this dtype (max of complex). */
ElementCombine *element_combine(ElementReduction reduction, DType dtype);
/* A zero-dimensional tensor of the number that changes nothing. */
Status element_identity(ElementReduction reduction, DType dtype, Tensor **out) MUST_CHECK;
/* Of a tensor that must have one element, and data. */
Status element_truth(const Tensor *t, bool *out) MUST_CHECK;
