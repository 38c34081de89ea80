// SPDX-License-Identifier: Apache-2.0
#include "system_image.h"

#include <sys/mman.h>

#include <cstring>
#include <stdexcept>

#include "macho_file.h"

// rax: the function, r11: its name. Saves what arguments travel in, asks, goes
// on.
asm(R"(
.text
.globl mach_host_stub_common
.type mach_host_stub_common, @function
mach_host_stub_common:
  .cfi_startproc
  push %rbp
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rbp, 0
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  and $-16, %rsp
  sub $208, %rsp
  mov %rdi, 128(%rsp)
  mov %rsi, 136(%rsp)
  mov %rdx, 144(%rsp)
  mov %rcx, 152(%rsp)
  mov %r8, 160(%rsp)
  mov %r9, 168(%rsp)
  mov %rax, 176(%rsp)
  mov %r10, 184(%rsp)
  movaps %xmm0, 0(%rsp)
  movaps %xmm1, 16(%rsp)
  movaps %xmm2, 32(%rsp)
  movaps %xmm3, 48(%rsp)
  movaps %xmm4, 64(%rsp)
  movaps %xmm5, 80(%rsp)
  movaps %xmm6, 96(%rsp)
  movaps %xmm7, 112(%rsp)
  mov 8(%r11), %rax
  mov %rax, 192(%rsp)
  mov 0(%r11), %rdi
  mov %rdi, 200(%rsp)
  call mach_host_on_call
  mov 192(%rsp), %r11
  test %r11, %r11
  jz 1f
  mov 128(%rsp), %rdi
  mov 136(%rsp), %rsi
  mov 144(%rsp), %rdx
  mov 152(%rsp), %rcx
  mov 160(%rsp), %r8
  mov 168(%rsp), %r9
  mov 176(%rsp), %rax
  mov 184(%rsp), %r10
  movaps 0(%rsp), %xmm0
  movaps 16(%rsp), %xmm1
  movaps 32(%rsp), %xmm2
  movaps 48(%rsp), %xmm3
  movaps 64(%rsp), %xmm4
  movaps 80(%rsp), %xmm5
  movaps 96(%rsp), %xmm6
  movaps 112(%rsp), %xmm7
  mov %rbp, %rsp
  pop %rbp
  .cfi_def_cfa %rsp, 8
  jmp *%r11
1:
  .cfi_def_cfa %rbp, 16
  mov 200(%rsp), %rdi
  call mach_host_missing
  .cfi_endproc
)");
extern "C" void mach_host_stub_common();

namespace mach_host {
namespace {

constexpr std::uint64_t kFirstStub = 0x1000;
constexpr char kName[] = "/usr/lib/libSystem.B.dylib";

struct Target {
  const char* name;
  std::uint64_t function;
};

template <typename T>
void Put(std::uint8_t** to, const T& value) {
  std::memcpy(*to, &value, sizeof value);
  *to += sizeof value;
}

}  // namespace

SystemImage::SystemImage() {
  void* place = mmap(nullptr,
                     kText + kLinkEdit,
                     PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS,
                     -1,
                     0);
  if (place == MAP_FAILED)
    throw std::runtime_error("no room for libSystem");
  base_ = reinterpret_cast<std::uint64_t>(place);
  next_ = base_ + kFirstStub;
  call_ = Stub("___mach_host_in_system_call", 0);
}

// mov $target, %r11; push of nothing: `movabs r11, &Target; movabs r10?` is not
// needed, as r11 alone reaches both words; then an indirect jump.
std::uint64_t SystemImage::Stub(const std::string& name,
                                std::uint64_t function) {
  for (const Named& known : names_)
    if (known.name == name)
      return known.address;
  if (next_ + 32 > base_ + kText)
    throw std::runtime_error("libSystem is full");
  auto* kept = new std::string(name);
  const auto* target = new Target{kept->c_str(), function};
  auto* at = reinterpret_cast<std::uint8_t*>(next_);
  const std::uint64_t stub = next_;
  Put(&at, std::uint16_t{0xbb49});  // movabs $target, %r11
  Put(&at, reinterpret_cast<std::uint64_t>(target));
  Put(&at, std::uint16_t{0x25ff});  // jmp *0(%rip)
  Put(&at, std::uint32_t{0});
  Put(&at, reinterpret_cast<std::uint64_t>(&mach_host_stub_common));
  next_ += 32;
  names_.push_back({name, stub});
  return stub;
}

// Commands: __TEXT, __LINKEDIT, LC_ID_DYLIB, LC_SYMTAB, LC_UUID. Linked at 0,
// so the slide is the address.
void SystemImage::Finish() {
  auto* start = reinterpret_cast<std::uint8_t*>(base_);
  std::uint8_t* at = start + sizeof(macho::Header);
  const auto segment = [&](const char* name,
                           std::uint64_t address,
                           std::uint64_t size,
                           int protection) {
    macho::SegmentCommand command = {};
    command.kind = macho::kSegment64;
    command.command_size = sizeof command;
    std::memcpy(command.name, name, std::strlen(name));
    command.address = address, command.size = size;
    command.file_offset = address, command.file_size = size;
    command.max_protection = command.protection = protection;
    Put(&at, command);
  };
  segment("__TEXT", 0, kText, 5);
  segment("__LINKEDIT", kText, kLinkEdit, 1);
  constexpr std::uint32_t kPadded = (sizeof kName + 7) & ~7u;
  const std::uint32_t id[] = {macho::kIdDylib, 24 + kPadded, 24, 2, 0, 0};
  Put(&at, id);
  std::memcpy(at, kName, sizeof kName);
  at += kPadded;
  macho::UuidCommand uuid = {
      macho::kUuid, sizeof uuid, {0xca, 0x17, 0x40, 0x05}};
  Put(&at, uuid);
  macho::SymbolTableCommand table = {
      macho::kSymbolTable, sizeof table, 0, 0, 0, 0};
  table.symbols_offset = kText;
  table.symbol_count = static_cast<std::uint32_t>(names_.size());
  table.strings_offset =
      static_cast<std::uint32_t>(kText + names_.size() * sizeof(macho::Symbol));
  std::uint8_t* symbols = start + kText;
  std::uint8_t* strings = start + table.strings_offset;
  std::uint8_t* first = strings;
  *strings++ = ' ';
  for (const Named& named : names_) {
    const auto offset = static_cast<std::uint32_t>(strings - first);
    Put(&symbols, macho::Symbol{offset, 0x0f, 1, 0, named.address - base_});
    std::memcpy(strings, named.name.c_str(), named.name.size() + 1);
    strings += named.name.size() + 1;
  }
  table.strings_size = static_cast<std::uint32_t>(strings - first);
  Put(&at, table);
  macho::Header header = {
      macho::kMagic64, macho::kCpuX86_64, 3, macho::kDylib, 5, 0, 0, 0};
  header.commands_size = static_cast<std::uint32_t>(at - start - sizeof header);
  std::memcpy(start, &header, sizeof header);
  mprotect(start, kText, PROT_READ | PROT_EXEC);
  mprotect(start + kText, kLinkEdit, PROT_READ);
}

}  // namespace mach_host
