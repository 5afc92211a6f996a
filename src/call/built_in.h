/* What the folders after this one bring to calls. It is handed over once, before anything runs (src/api/start.c), so
 * that no folder refers to a later one. */
#pragma once

#include "call/kind_form.h"
#include "call/native_class.h"
#include "call/row.h"

/* Lists end with NULL; each may be NULL. */
typedef struct BuiltIn {
  const OpTable *const *operators;
  const KindForms *const *quantized_forms, *const *sparse_forms;
  const NativeClass *const *native_classes;
  /* Formulas of rows (OpRow.lower) on a device: whether it computes any, and what computes one. */
  bool (*device_runs_formulas)(int device_type);
  Kernel *device_formula;
} BuiltIn;
void built_in_set(const BuiltIn *brought); /* kept by reference */
const BuiltIn *built_in(void);             /* never NULL */
