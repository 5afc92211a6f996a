/* hello.c in C++17: c++ -std=c++17 hello.cpp $(pkg-config --cflags --libs wick) -o hello && ./hello linear.pt */
#include <iostream>
#include <wick/wick.hpp>

int main(int count, char **words) try {
  const wick::Module model = wick::load(count > 1 ? words[1] : "model.pt");
  const wick::Tensor input = wick::Tensor::of<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  std::cout << model(input) << '\n';
} catch (const wick::Error &error) {
  std::cerr << error.what() << '\n';
  return 1;
}
