/* Elementary functions of one operand as vector code, with the bits of the interpreter's: float32, and the exponential
 * also of float64. */
#pragma once

#include "native/vector_code.h"

typedef struct VectorMath {
  VectorCode *code;
  VectorKind kind; /* VECTOR_F32 but for vector_exp */
} VectorMath;

VectorValue vector_exp(const VectorMath *math, VectorValue x);
VectorValue vector_tanh(const VectorMath *math, VectorValue x);
VectorValue vector_sigmoid(const VectorMath *math, VectorValue x);
VectorValue vector_erf(const VectorMath *math, VectorValue x);
VectorValue vector_gelu(const VectorMath *math, VectorValue x);
