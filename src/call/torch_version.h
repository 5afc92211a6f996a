/* Which PyTorch's operators a program means (TorchVersion), by name and of a runtime. Where what a row says of an
 * operator changed between them, a second row says what it is in 2.x (OpRow.torch); kernels and engines whose checks or
 * rounding changed ask the call (Work.torch_version). */
#pragma once

#include "base/work.h"
#include "call/operator.h"
#include "call/runtime.h"

/* "1.13", "2", "2.14": the first number decides. false: no such PyTorch. */
bool torch_version_parse(Str text, TorchVersion *out);
/* Of calls and programs of a runtime that do not say; never TORCH_DEFAULT. */
TorchVersion torch_version_of(const Runtime *runtime);
/* What the operator is in that version. */
static inline const Operator *operator_in(const Operator *op, TorchVersion version) {
  return version == TORCH_2 && op && op->in_torch2 ? op->in_torch2 : op;
}
