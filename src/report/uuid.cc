// SPDX-License-Identifier: Apache-2.0
#include "report/hex.h"
#include "report/report.h"

namespace cairn::report {
namespace {

bool DashBefore(size_t byte) {
  return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

}  // namespace

std::string UuidText(const Uuid& uuid) {
  std::string text;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (DashBefore(i)) {
      text += '-';
    }
    text += HexBytes(&uuid[i], 1);
  }
  return text;
}

std::optional<Uuid> ParseUuid(const std::string& text) {
  if (text.size() != 36) {
    return std::nullopt;
  }
  Uuid uuid{};
  size_t at = 0;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (DashBefore(i) && text[at++] != '-') {
      return std::nullopt;
    }
    const int high = HexDigit(text[at]);
    const int low = HexDigit(text[at + 1]);
    if (high < 0 || low < 0) {
      return std::nullopt;
    }
    uuid[i] = static_cast<uint8_t>(high * 16 + low);
    at += 2;
  }
  return uuid;
}

}  // namespace cairn::report
