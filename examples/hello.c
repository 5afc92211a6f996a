/* Loads a model and calls it with a 2 by 3 tensor:
 * cc hello.c $(pkg-config --cflags --libs wick) -o hello && ./hello linear.pt */
#include <stdio.h>
#include <wick/wick.h>

int main(int count, char **words) {
  float numbers[] = {1, 2, 3, 4, 5, 6};
  int64_t sizes[] = {2, 3};
  wick_module *module = NULL;
  wick_value *input = NULL, *output = NULL;
  wick_error *error = NULL;
  char *text = NULL;
  wick_status failed = wick_load(NULL, count > 1 ? words[1] : "model.pt", NULL, &module, &error);
  if (!failed) failed = wick_tensor_borrow(numbers, WICK_FLOAT32, 2, sizes, NULL, NULL, NULL, &input, &error);
  if (!failed) failed = wick_forward(module, &input, 1, &output, &error);
  if (!failed) failed = wick_value_print(output, &text, &error);
  puts(failed ? wick_error_message(error) : text);
  wick_error_free(error), wick_text_free(text);
  wick_value_release(output), wick_value_release(input);
  wick_module_release(module);
  return failed != WICK_OK;
}
