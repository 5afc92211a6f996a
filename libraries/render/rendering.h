/* What the texts of kernels have in common: elements, constants, operands, operations. */
#ifndef RENDERING_H
#define RENDERING_H

#include "render/render.h"

typedef struct Rendering {
  const Dialect *dialect;
  const wick_kernel_ir *kernel;
  const char *name;
  RenderLayout layout;
  Text *out;
} Rendering;

extern const char *const value_types[4]; /* by WICK_KERNEL_... */
/* $a, $b and $c become names[0], [1] and [2]. */
void print_expression(Text *out, const char *expression, const char names[][32]);
bool is_tensor(const wick_kernel_operand *operand);
const char *element_type(const wick_kernel_operand *operand);
uint32_t value_type(const wick_kernel_ir *k, uint32_t value);
void print_constants(const Rendering *r);
/* The first ones are `counts`: "const place n". Layouts, the last parameter, are `struct NAME_layout l`. */
void print_parameters(const Rendering *r, const char *counts);
/* What is one for all elements. */
void print_uniform_arguments(const Rendering *r);
/* The element, an expression, of argument i as its value. */
void print_loaded(const Rendering *r, uint32_t i, const char *element);
/* Value i, an output's, as an element of its. */
void print_stored(const Rendering *r, uint32_t output);
void print_operation(const Rendering *r, uint32_t value, const wick_kernel_operation *operation);

/* Kernels with operations over lines (lines.c). */
bool line_is_known(const wick_kernel_operation *operation);
bool has_lines(const wick_kernel_ir *kernel);
void render_lines(Rendering *r);
extern const char *const line_functions;

#endif
