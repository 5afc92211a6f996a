/* Loads a model and calls it with ones. Compile: cc call.c $(pkg-config --cflags --libs wick) -o call; run: ./call
 * model.pt 1 3 224 224 */
#include <stdio.h>
#include <stdlib.h>

#include <wick/wick.h>

int main(int count, char **words) {
  wick_module *module;
  wick_value *input = NULL, *output = NULL;
  wick_error *error = NULL;
  int64_t sizes[8];
  int32_t ndim = 0;
  char *text = NULL;
  if (count < 2) return 2;
  while (ndim < 8 && ndim + 2 < count) sizes[ndim] = atol(words[ndim + 2]), ndim++;
  if (wick_load(NULL, words[1], NULL, &module, &error)) {
    fprintf(stderr, "%s\n", wick_error_message(error));
    wick_error_free(error);
    return 1;
  }
  int failed = wick_tensor_new(WICK_FLOAT32, ndim, sizes, &input, &error);
  if (!failed) {
    wick_tensor_view view = {.size = sizeof view};
    int64_t n = 1;
    wick_tensor_view_of(input, &view, NULL);
    for (int i = 0; i < ndim; i++) n *= sizes[i];
    for (int64_t i = 0; i < n; i++) ((float *)view.data)[i] = 1;
    failed = wick_forward(module, &input, 1, &output, &error);
  }
  if (!failed) failed = wick_value_print(output, &text, &error);
  if (failed) {
    fprintf(stderr, "%s\n%s", wick_error_message(error), wick_error_trace(error));
  } else {
    puts(text);
  }
  wick_error_free(error);
  wick_text_free(text);
  wick_value_release(output);
  wick_value_release(input);
  wick_module_release(module);
  return failed != 0;
}
