/* Fuzz target: pickles. An input is the length of a code text (two bytes, low first), that text and a pickle. The
 * pickle is read on its own, and as the data.pkl of an archive whose classes are the code's. What is read is printed,
 * copied, compared and pickled again. */
#include "fuzz_archive.h"
#include "serial/pickle/pickle.h"
#include "serial/pickle/pickler.h"

static Exec exec;

static void check_value(IValue value) {
  StrBuf text = {.max_length = 1 << 20};
  may_fail(ivalue_print(value, &text));
  strbuf_dispose(&text);
  IValue copy;
  Status status = ivalue_deep_copy(value, &copy);
  if (!status) ivalue_release(copy);
  may_fail(status);
  Pickler pickler;
  pickler_init(&pickler, &exec);
  status = pickler_write(&pickler, value);
  if (!status && !pickler.storages.length) {
    IValue again;
    static const PickleHost host;
    status = pickle_read(pickler.out.data, pickler.out.length, &host, &again, NULL);
    if (!status) ivalue_release(again);
  }
  may_fail(status);
  pickler_dispose(&pickler);
}

static void load_archive(Str code, Str pickle) {
  Packed zip = {0};
  fuzz_add_record(&zip, "m/data.pkl", pickle.data, pickle.length);
  fuzz_add_record(&zip, "m/code/__torch__.py", code.data, code.length);
  wick_module *module = fuzz_load(&zip);
  wick_value *object = module ? wick_module_object(module) : NULL;
  if (object) check_value(object->value);
  wick_value_release(object);
  wick_module_release(module);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  IValue value;
  wick_value *boxed;
  wick_error *error;
  static const PickleHost host;
  if (size < 2) return 0;
  api_exec_init(&exec, NULL);
  exec.work.threads = 1;
  size_t code_length = (size_t)data[0] | (size_t)data[1] << 8;
  if (code_length > size - 2) code_length = size - 2;
  Str code = {(const char *)data + 2, code_length}, pickle = {code.data + code_length, size - 2 - code_length};
  Status status = pickle_read(pickle.data, pickle.length, &host, &value, NULL);
  if (!status) {
    check_value(value);
    ivalue_release(value);
  }
  may_fail(status);
  wick_load_options options = {.size = sizeof options, .max_bytes = 16 << 20};
  if (!wick_load_value_memory(NULL, pickle.data, pickle.length, &options, &boxed, &error)) {
    check_value(boxed->value);
    wick_value_release(boxed);
  } else {
    wick_error_free(error);
  }
  load_archive(code, pickle);
  return 0;
}
