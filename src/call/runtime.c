/* The runtime of the process, and others that begin like it. */
#include "call/runtime.h"

static Runtime process;

Runtime *runtime_of_process(void) {
  return &process;
}

void runtime_init(Runtime *runtime) {
  *runtime = (Runtime){.executor = atomic_load_explicit(&process.executor, memory_order_acquire),
                       .quantized_engine = atomic_load_explicit(&process.quantized_engine, memory_order_relaxed)};
  for (size_t i = 0; i < sizeof runtime->fusers; i++)
    runtime->fusers[i] = atomic_load_explicit(&process.fusers[i], memory_order_relaxed);
}
