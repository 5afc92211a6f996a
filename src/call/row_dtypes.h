/* The dtypes that an operator's row takes (OpRow's `dtypes`). */
#pragma once

#include "call/row.h"

/* A bit for each DType that the row takes, and the highest for `promoted`; all of them when it says nothing. Quantized
 * tensors are checked where they are taken, limited dtypes by the row's flags (chooser.c). */
uint64_t row_dtypes_taken(const OpRow *row);
/* The name PyTorch's refusals call the operator by, empty when the row says nothing. */
Str row_dtypes_name(const OpRow *row);
/* Whether the text has a name and known kinds of dtypes only. */
bool row_dtypes_is_valid(const OpRow *row);
/* Refuses a call whose dtype the row does not take: see OpRow. Sizes have been checked, as in PyTorch. Rows with a
 * formula are left to pointwise_run, which finds the dtype they compute in: it asks the second. */
Status call_check_dtype(const Call *call) MUST_CHECK;
Status call_check_computed_dtype(const Call *call, DType dtype) MUST_CHECK;
