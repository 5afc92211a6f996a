/* auto_functionalized: an operator that writes to its arguments, called without that. It is given copies, which are
 * results besides its own. */
#pragma once

#include "serial/pt2/target.h"

/* auto_functionalized(operator, arguments by name...): gives what the operator gives, then each argument that it writes
 * to, in the order of its schema. Up to PyTorch 2.5. */
void pt2_build_functionalized(Pt2Builder *b, const Pt2Target *target, const Json *node);
/* auto_functionalized_v2(operator, arguments by name..., _all_bases=[...]): gives what the operator gives, then the
 * bases. What it writes to is described: _NAME_base_index says which base, and other arguments of that form which part
 * of it. */
void pt2_build_functionalized_views(Pt2Builder *b, const Pt2Target *target, const Json *node);
