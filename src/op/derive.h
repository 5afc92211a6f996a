/* Schemas of the in-place and out forms of a functional row. */
#pragma once

#include "op/op.h"

/* "aten::add.Tensor(...)": its name and overload name, pieces of the text; false when there is no "space::name(" in it.
 */
bool schema_text_split(Str text, Str *out_name, Str *out_overload);
/* What the out form of a functional overload is called: overload name and arguments (blank-separated, NULL by the
 * rule). */
void derive_out_name(Str name, Str overload, StrBuf *out_overload, const char **out_arguments);
/* The overload name of the in-place form: the functional one's but for a few. */
Str derive_inplace_overload(Str name, Str overload);
/* Whether that name is one of PyTorch's that the rule does not give. */
bool derive_has_known_out(Str functional);
/* The schema text of a variant; false when the row has no such form (nothing it returns can be written). */
bool derive_schema(Str functional, OpVariant variant, StrBuf *out);
/* Whether the out form leaves out `dtype, layout, device, pin_memory`, as the out tensor says them: their place, or -1.
 */
ptrdiff_t derive_dropped_options(Str functional);
