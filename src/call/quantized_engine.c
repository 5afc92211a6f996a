/* The engine of quantized operators: its names, and which is chosen. */
#include "call/quantized_engine.h"

static const struct {
  const char *name;
  QuantizedEngine engine;
} engines[] = {
    {"qnnpack", ENGINE_QNNPACK}, {"onednn", ENGINE_ONEDNN}, {"fbgemm", ENGINE_ONEDNN}, {"x86", ENGINE_ONEDNN}};

bool quantized_engine_parse(Str name, QuantizedEngine *out) {
  for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
    if (!str_is(name, engines[i].name)) continue;
    *out = engines[i].engine;
    return true;
  }
  return false;
}

const char *quantized_engine_name(QuantizedEngine engine) {
  return engine == ENGINE_QNNPACK ? "qnnpack" : "onednn";
}

static _Atomic uint8_t default_engine; /* of the process, for calls without a runtime; set by its owner alone */

void quantized_engine_set_default(QuantizedEngine engine) {
  atomic_store(&default_engine, (uint8_t)engine);
}

QuantizedEngine quantized_engine(const Exec *exec) {
  if (exec->quantized_engine != ENGINE_DEFAULT) return (QuantizedEngine)exec->quantized_engine;
  if (atomic_load(&default_engine) != ENGINE_DEFAULT) return (QuantizedEngine)atomic_load(&default_engine);
#if defined(__x86_64__) || defined(__i386__)
  return ENGINE_ONEDNN;
#else
  return ENGINE_QNNPACK;
#endif
}
