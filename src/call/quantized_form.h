/* Operators on quantized tensors. An operator whose row is written for plain tensors may have a form for quantized
 * ones, as PyTorch has kernels by backend: it runs in place of the row's kernel when an input is quantized, and makes
 * its results itself (call_set). In-place and .out forms derive from it as from the row. */
#pragma once

#include "call/operator.h"

typedef struct QuantizedForm {
  const char *name; /* "aten::add.Tensor" */
  Kernel *kernel;   /* NULL: the row's own kernel takes quantized tensors */
} QuantizedForm;
typedef struct QuantizedForms {
  const QuantizedForm *rows;
  size_t count;
} QuantizedForms;
#define QUANTIZED_FORMS(name, array) const QuantizedForms name = {array, sizeof(array) / sizeof *(array)}
/* Every table of forms, ended by NULL: src/api/op_tables.c. */
extern const QuantizedForms *const quantized_form_tables[];
/* NULL: there is none. */
const QuantizedForm *quantized_form_find(Str name, Str overload);

/* ---- the engine: whose arithmetic packed operators follow ---- */
typedef enum QuantizedEngine {
  ENGINE_DEFAULT, /* of the processor: onednn on x86, qnnpack elsewhere */
  ENGINE_QNNPACK,
  ENGINE_ONEDNN
} QuantizedEngine;
QuantizedEngine quantized_engine(const Exec *exec);        /* never ENGINE_DEFAULT */
void quantized_engine_set_default(QuantizedEngine engine); /* of the process */
const char *quantized_engine_name(QuantizedEngine engine);
/* "qnnpack", "onednn"; "fbgemm" and "x86" mean onednn, whose arithmetic theirs is. false: unknown. */
bool quantized_engine_parse(Str name, QuantizedEngine *out);
