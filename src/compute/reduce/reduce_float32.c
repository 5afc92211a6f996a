/* Which form of the rows of float32 this processor takes. */
#include "compute/reduce/reduce_float32.h"

#include <assert.h>
#include <stddef.h>

#include "base/processor.h"

/* None: conversion and SSE2 would be no faster. */
const ReduceRowsTable reduce_rows_portable = {0};

const ReduceRowsForms *reduce_rows(ReduceFloat32 kind) {
  assert(kind >= REDUCE_FLOAT32_NONE && kind < REDUCE_FLOAT32_COUNT);
  const ReduceRowsForms *rows = &(*PROCESSOR_FORM(reduce_rows))[kind];
  return rows->along ? rows : NULL;
}
