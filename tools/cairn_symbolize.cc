// SPDX-License-Identifier: Apache-2.0
//
// `cairn symbolize`: names for addresses of one file, asked as addr2line is.
#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include "command.h"
#include "symbolicate/symbolicator.h"

namespace cairn::tools {
namespace {

using JsonWriter = rapidjson::Writer<rapidjson::StringBuffer>;

struct SymbolizeArguments {
  std::string object;
  std::string architecture;
  std::vector<std::string> addresses;
  bool json = false;
};

// Hexadecimal, with or without 0x, as addr2line reads it.
std::optional<uint64_t> ParseAddress(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
  }
  uint64_t address = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), address, 16);
  return error == std::errc() && end == text.data() + text.size()
             ? std::optional(address)
             : std::nullopt;
}

// Two lines a frame, innermost first: function, file:line.
void PrintText(const std::vector<report::SymbolFrame>& frames) {
  for (const report::SymbolFrame& frame : frames) {
    std::printf("%s\n%s:%u\n",
                frame.function.c_str(),
                frame.file.empty() ? "??" : frame.file.c_str(),
                frame.line);
  }
  if (frames.empty()) {
    std::printf("??\n??:0\n");
  }
}

void PutText(JsonWriter* writer, const char* key, const std::string& text) {
  writer->Key(key);
  writer->String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void PutFrame(JsonWriter* writer, const report::SymbolFrame& frame) {
  writer->StartObject();
  PutText(writer, "function", frame.function);
  if (!frame.file.empty()) {
    PutText(writer, "file", frame.file);
  }
  if (frame.line != 0) {
    writer->Key("line");
    writer->Uint(frame.line);
  }
  if (frame.column != 0) {
    writer->Key("column");
    writer->Uint(frame.column);
  }
  writer->Key("inlined");
  writer->Bool(frame.inlined);
  writer->EndObject();
}

void PrintJson(uint64_t address,
               const std::string& module,
               const std::vector<report::SymbolFrame>& frames) {
  char text[2 + 16 + 1];
  std::snprintf(
      text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
  rapidjson::StringBuffer buffer;
  JsonWriter writer(buffer);
  writer.StartObject();
  PutText(&writer, "address", text);
  PutText(&writer, "module", module);
  writer.Key("frames");
  writer.StartArray();
  for (const report::SymbolFrame& frame : frames) {
    PutFrame(&writer, frame);
  }
  writer.EndArray();
  writer.EndObject();
  std::printf("%s\n", buffer.GetString());
}

class Answers {
 public:
  explicit Answers(const SymbolizeArguments& arguments)
      : arguments_(arguments),
        module_(
            arguments.object.substr(arguments.object.find_last_of('/') + 1)),
        symbolicator_({.debug_directories = {},
                       .sysroot = "",
                       .architecture = arguments.architecture}) {}

  // Leaves the exit status in `status`.
  void Answer(const std::string& text, int* status) {
    const auto address = ParseAddress(text);
    if (!address) {
      Complain(text + ": not a hexadecimal address");
      *status = kUnusable;
      return;
    }
    std::string error;
    const auto frames =
        symbolicator_.LookupFile(arguments_.object, *address, &error);
    if (!error.empty() && !complained_) {
      complained_ = true;
      Complain(error);
      *status = kUnusable;
    }
    if (arguments_.json) {
      PrintJson(*address, module_, frames);
    } else {
      PrintText(frames);
    }
    std::fflush(stdout);  // somebody may wait at the other end
  }

 private:
  const SymbolizeArguments& arguments_;
  std::string module_;
  symbolicate::Symbolicator symbolicator_;
  bool complained_ = false;
};

void Symbolize(const SymbolizeArguments& arguments, int* status) {
  Answers answers(arguments);
  for (const std::string& address : arguments.addresses) {
    answers.Answer(address, status);
  }
  if (arguments.addresses.empty()) {
    for (std::string address; std::cin >> address;) {
      answers.Answer(address, status);
    }
  }
}

}  // namespace

void AddSymbolize(CLI::App* app, int* exit_status) {
  CLI::App* command = app->add_subcommand(
      "symbolize", "Name the functions at addresses of a program or library");
  auto arguments = std::make_shared<SymbolizeArguments>();
  command->add_option("--obj", arguments->object, "The file")->required();
  command->add_option("--arch",
                      arguments->architecture,
                      "Of a file for several architectures: which (arm64)");
  command->add_flag(
      "--json", arguments->json, "One JSON object a line for each address");
  command->add_option("ADDRESS",
                      arguments->addresses,
                      "As linked, hexadecimal; from standard input if absent");
  command->callback(
      [arguments, exit_status] { Symbolize(*arguments, exit_status); });
}

}  // namespace cairn::tools
