/* Generators of random numbers as values. */
#include "api/handles.h"
#include "tensor/random.h"

static Status generator_of(const wick_value *value, Generator **out) {
  if (value->value.tag != TAG_GENERATOR) return status_new(ERROR_INVALID_ARGUMENT, "the value is no generator");
  *out = value->value.generator;
  return OK;
}

static IValue ivalue_of(Generator *generator) {
  return (IValue){.tag = TAG_GENERATOR, .generator = generator};
}

wick_status wick_generator_new(uint64_t seed, wick_value **out, wick_error **error) {
  Generator *generator;
  API_OUT(out);
  API_TRY(generator_new(seed, &generator));
  return api_status(value_box(ivalue_of(generator), out), error);
}

wick_status wick_generator_default(wick_value **out, wick_error **error) {
  Exec exec;
  API_OUT(out);
  api_exec_init(&exec, NULL);
  if (!exec.generator) return api_status(status_out_of_memory(), error);
  return api_status(value_box(ivalue_retain(ivalue_of(exec.generator)), out), error);
}

wick_status wick_generator_seed(const wick_value *generator, uint64_t *out_seed, wick_error **error) {
  Generator *g;
  API_OUT(out_seed);
  API_NEED(generator);
  API_TRY(generator_of(generator, &g));
  generator_lock();
  *out_seed = g->seed;
  generator_unlock();
  return api_status(OK, error);
}

wick_status wick_generator_set_seed(wick_value *generator, uint64_t seed, wick_error **error) {
  Generator *g;
  API_NEED(generator);
  API_TRY(generator_of(generator, &g));
  generator_lock();
  generator_seed(g, seed);
  generator_unlock();
  return api_status(OK, error);
}

wick_status wick_generator_state(const wick_value *generator, void *bytes, wick_error **error) {
  Generator *g;
  API_NEED(generator);
  API_NEED(bytes);
  API_TRY(generator_of(generator, &g));
  generator_lock();
  generator_state_get(g, bytes);
  generator_unlock();
  return api_status(OK, error);
}

wick_status wick_generator_set_state(wick_value *generator, const void *bytes, size_t count, wick_error **error) {
  Generator *g;
  API_NEED(generator);
  API_NEED(bytes);
  API_TRY(generator_of(generator, &g));
  generator_lock();
  Status status = generator_state_set(g, bytes, count);
  generator_unlock();
  return api_status(status, error);
}
