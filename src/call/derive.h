/* Schemas of the in-place and out forms of a functional row. */
#pragma once

#include "call/row.h"

/* "aten::add.Tensor(...)": its name and overload name, pieces of the text; false when there is no "space::name(" in it.
 */
bool schema_text_split(Str text, Str *out_name, Str *out_overload);
bool derive_has_form(const OpRow *row, OpVariant variant);
/* The overload name of the out form, in two pieces: "out" or "X_out" for X, unless the row says another. */
void derive_out_overload(const OpRow *row, Str overload, Str *out_stem, Str *out_ending);
/* That of the in-place form: the functional one's, unless the row says another. */
Str derive_inplace_overload(const OpRow *row, Str overload);
/* The schema text of a variant; false when the row has no such form (nothing it returns can be written). Out arguments
 * are `out`, or `out0`, `out1` and so on, unless the row names them. */
bool derive_schema(const OpRow *row, OpVariant variant, StrBuf *out);
/* Whether the out form leaves out `dtype, layout, device, pin_memory`, as the out tensor says them: their place, or -1.
 */
ptrdiff_t derive_dropped_options(Str functional);
