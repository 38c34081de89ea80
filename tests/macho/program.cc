// SPDX-License-Identifier: Apache-2.0
//
// What tests/macho looks into: functions of every linkage, in one source.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace sample {
namespace {

// Local symbols.
__attribute__((noinline)) int Hidden(int value) {
  std::printf("%d\n", value);
  return value * 3;
}

}  // namespace

template <typename T>
__attribute__((noinline)) T Largest(const std::vector<T>& values) {
  T best = values.at(0);
  for (const T& value : values) {
    best = value < best ? best : value;
  }
  return best;
}

struct Shape {
  virtual ~Shape() = default;
  virtual double Area() const { return 0; }
};
struct Square : Shape {
  explicit Square(double side) : side_(side) {}
  double Area() const override;
  double side_;
};
double Square::Area() const {
  return side_ * side_;
}

__attribute__((visibility("hidden"), noinline)) int Private(int value) {
  return Hidden(value + 1) - 1;
}
__attribute__((noinline)) std::string Public(int value) {
  if (value < 0) {
    throw std::runtime_error("negative");
  }
  return std::to_string(Private(value));
}

}  // namespace sample

extern "C" {

// A large frame: its size does not fit into a compact encoding's byte.
__attribute__((noinline)) int cairn_large_frame(int value) {
  volatile int room[4096];
  for (int i = 0; i < 4096; ++i) {
    room[i] = value + i;
  }
  return room[value & 4095];
}

// A leaf without a frame.
__attribute__((noinline)) int cairn_leaf(int value) {
  return value ^ 0x55;
}

// Many registers that calls keep, and a frame whose size is not known before.
__attribute__((noinline)) int cairn_registers(int count) {
  int a = cairn_leaf(count), b = cairn_leaf(a), c = cairn_leaf(b);
  int d = cairn_leaf(c), e = cairn_leaf(d), f = cairn_leaf(e);
  auto* room = static_cast<char*>(__builtin_alloca(static_cast<size_t>(count)));
  room[0] = static_cast<char>(a);
  std::printf("%s %d %d\n", room, b, c);
  return a + b + c + d + e + f + cairn_large_frame(f);
}

__attribute__((weak)) int cairn_weak(int value) {
  return cairn_leaf(value) + 1;
}

}  // extern "C"

#ifndef CAIRN_SAMPLE_LIBRARY
int main(int argc, char**) {
  std::vector<int> values = {argc, 2, 3};
  std::vector<std::string> words = {"a", "b"};
  sample::Square square(argc);
  std::printf("%s %s %f\n",
              sample::Public(sample::Largest(values)).c_str(),
              sample::Largest(words).c_str(),
              square.Area());
  return cairn_registers(argc) + cairn_weak(argc);
}
#endif
