/* safetensors: a file of tensors by name. Eight bytes of length, a header in JSON, the tensors' bytes. */
#pragma once

#include "ivalue/ivalue.h"
#include "serial/archive/byte_source.h"

bool safetensors_is(ByteSource *source); /* looks at the first bytes only */
/* A dict of tensors. */
Status safetensors_read(ByteSource *source, IValue *out) MUST_CHECK;
