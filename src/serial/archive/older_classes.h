/* Older classes: quantized layers of PyTorch 1.3 to 1.5, whose packed weights were Tensors to programs. */
#pragma once

#include "frontend/frontend.h"

/* The definition of a class as it is to be compiled: `class_def` itself, or, for such a layer, with the native class of
 * the packed weights in the place of Tensor. Throws. */
const Tree *older_class_definition(Compilation *c, const Tree *class_def, Str qualified);
