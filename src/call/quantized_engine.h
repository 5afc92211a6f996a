/* The engine of quantized operators: whose arithmetic those with packed weights follow. */
#pragma once

#include "call/exec.h"
#include "call/runtime.h"

typedef enum QuantizedEngine {
  ENGINE_DEFAULT, /* of the processor: onednn on x86, qnnpack elsewhere */
  ENGINE_QNNPACK,
  ENGINE_ONEDNN
} QuantizedEngine;
QuantizedEngine quantized_engine_of(const Runtime *runtime); /* never ENGINE_DEFAULT */
QuantizedEngine quantized_engine(const Exec *exec);          /* that of its runtime */
const char *quantized_engine_name(QuantizedEngine engine);
/* "qnnpack", "onednn"; "fbgemm" and "x86" mean onednn, whose arithmetic theirs is. false: unknown. */
bool quantized_engine_parse(Str name, QuantizedEngine *out);
