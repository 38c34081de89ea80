// SPDX-License-Identifier: Apache-2.0
//
// cairn-format --markdown|--schema|--example: prints what the documents say of
// the report's format, from its definition. For developers; not installed.
#include <cstdio>
#include <string>

#include "format_members.h"

int main(int argc, char** argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  if (what == "--markdown") {
    cairn::tools::PrintMarkdown();
  } else if (what == "--schema") {
    cairn::tools::PrintSchema();
  } else if (what == "--example") {
    cairn::tools::PrintExample();
  } else {
    std::fprintf(stderr, "usage: cairn-format --markdown|--schema|--example\n");
    return 2;
  }
  return 0;
}
