/* hello.c in C++11: handles that release themselves, errors as exceptions.
 * c++ hello.cpp $(pkg-config --cflags --libs wick) -o hello && ./hello linear.pt */
#include <cstdio>
#include <memory>
#include <stdexcept>

#include <wick/wick.h>

struct Release {
  void operator()(wick_module *module) const { wick_module_release(module); }
  void operator()(wick_value *value) const { wick_value_release(value); }
  void operator()(wick_error *error) const { wick_error_free(error); }
  void operator()(char *text) const { wick_text_free(text); }
};
template <typename T>
using Owned = std::unique_ptr<T, Release>;

/* The error is given by reference: it is set before this looks at it, in whatever order arguments are evaluated. */
static void check(wick_status status, wick_error *&error) {
  if (status == WICK_OK) return;
  Owned<wick_error> owned(error);
  throw std::runtime_error(owned ? wick_error_message(owned.get()) : "out of memory");
}

int main(int count, char **words) try {
  float numbers[] = {1, 2, 3, 4, 5, 6};
  const int64_t sizes[] = {2, 3};
  wick_error *error = nullptr;

  wick_module *loaded = nullptr;
  check(wick_load(nullptr, count > 1 ? words[1] : "model.pt", nullptr, &loaded, &error), error);
  Owned<wick_module> module(loaded);

  wick_value *borrowed = nullptr;
  check(wick_tensor_borrow(numbers, WICK_FLOAT32, 2, sizes, nullptr, nullptr, nullptr, &borrowed, &error), error);
  Owned<wick_value> input(borrowed);

  const wick_value *inputs[] = {input.get()}; /* an array with a name: C++ has no compound literals */
  wick_value *result = nullptr;
  check(wick_run(module.get(), "forward", inputs, 1, nullptr, 0, nullptr, &result, &error), error);
  Owned<wick_value> output(result);

  char *printed = nullptr;
  check(wick_value_print(output.get(), &printed, &error), error);
  Owned<char> text(printed);
  std::puts(text.get());
} catch (const std::exception &failure) {
  std::puts(failure.what());
  return 1;
}
