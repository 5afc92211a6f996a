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

QuantizedEngine quantized_engine_of(const Runtime *runtime) {
  uint8_t engine = atomic_load_explicit(&runtime->quantized_engine, memory_order_relaxed);
  if (engine != ENGINE_DEFAULT) return (QuantizedEngine)engine;
#if defined(__x86_64__) || defined(__i386__)
  return ENGINE_ONEDNN;
#else
  return ENGINE_QNNPACK;
#endif
}

QuantizedEngine quantized_engine(const Exec *exec) {
  return quantized_engine_of(exec->runtime);
}
