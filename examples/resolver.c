/* Compiles a function whose names come from the program around it: cc resolver.c $(pkg-config --cflags --libs wick) */
#include <stdio.h>
#include <string.h>
#include <wick/wick.h>

static const char text[] =
    "def f(x: Tensor) -> Tensor:\n"
    "    return torch.relu(x) * scale\n";

static wick_status resolve(void *user, const char *name, wick_name *out) {
  if (strcmp(name, "scale") == 0) {
    out->kind = WICK_NAME_VALUE;
    out->value = user;
  }
  return WICK_OK;
}

int main(void) {
  float numbers[] = {-1, 2, 3};
  int64_t sizes[] = {3};
  wick_value *scale = wick_value_double(0.5), *input = NULL, *output = NULL;
  wick_compile_options options = {0};
  wick_module *module = NULL;
  wick_error *error = NULL;
  char *printed = NULL;
  options.size = sizeof options;
  options.resolve = resolve;
  options.user = scale;
  wick_status failed = wick_compile_with(NULL, text, strlen(text), &options, &module, &error);
  if (!failed) failed = wick_tensor_borrow(numbers, WICK_FLOAT32, 1, sizes, NULL, NULL, NULL, &input, &error);
  if (!failed) failed = wick_run(module, "f", (const wick_value *const[]){input}, 1, NULL, 0, NULL, &output, &error);
  if (!failed) failed = wick_value_print(output, &printed, &error);
  puts(failed ? wick_error_message(error) : printed);
  wick_error_free(error), wick_text_free(printed);
  wick_value_release(output), wick_value_release(input), wick_value_release(scale);
  wick_module_release(module);
  return failed != WICK_OK;
}
