/* safetensors: a file of tensors by name. Eight bytes of length, a header in JSON, the tensors' bytes. */
#pragma once

#include "ivalue/ivalue.h"
#include "serial/archive/byte_source.h"

Status safetensors_is(ByteSource *source, bool *out) MUST_CHECK; /* looks at the first bytes only */
/* A dict of tensors. */
Status safetensors_read(ByteSource *source, IValue *out) MUST_CHECK;
