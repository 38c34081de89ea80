// SPDX-License-Identifier: Apache-2.0
#include "writer/near_memory.h"

#include "format/register_names.h"
#include "safe/bytes.h"

namespace cairn::writer {
namespace {

using format::Field;

// No system maps what is below; on Linux vm.mmap_min_addr, on macOS
// __PAGEZERO.
constexpr uint64_t kLeastAddress = 4096;
// The smallest page of any target: readability changes at its multiples alone.
constexpr uint64_t kPageBytes = 4096;

struct Windows {
  capture::StackBounds at[kMaxNearWindows];
  size_t count;
};

bool Within(const capture::StackBounds& bounds, uint64_t address) {
  return address >= bounds.low && address < bounds.high;
}

bool IsTold(const Windows& windows, uint64_t address) {
  for (size_t i = 0; i < windows.count; ++i) {
    if (Within(windows.at[i], address)) {
      return true;
    }
  }
  return false;
}

// The readable part of the window around `address` that holds it; 0: none.
size_t ReadAround(const safe::MemoryReader& memory,
                  uint64_t address,
                  uint64_t* from,
                  uint8_t* out) {
  *from = (address & ~uint64_t{15}) - kNearBeforeBytes;
  const uint64_t end = *from + kNearBytes;
  size_t got = memory.ReadSome(*from, out, kNearBytes);
  if (*from + got > address) {
    return got;
  }
  // The page before the address is not there.
  *from = address & ~(kPageBytes - 1);
  if (end - *from >= kNearBytes) {
    return 0;
  }
  got = memory.ReadSome(*from, out, static_cast<size_t>(end - *from));
  return *from + got > address ? got : 0;
}

bool PutWindow(RecordWriter* records,
               uint64_t from,
               const uint8_t* bytes,
               size_t count,
               const char* reason) {
  if (!records->BeginGroup(Field::kMemory)) {
    return false;
  }
  if (!records->PutAddress(Field::kMemoryAddress, from) ||
      !records->PutString(
          Field::kMemoryReason, reason, safe::Length(reason, 16)) ||
      !records->PutBytes(Field::kMemoryBytes, bytes, count)) {
    records->DropGroup();
    return false;
  }
  records->EndGroup();
  records->Commit();
  return true;
}

void PutOne(RecordWriter* records,
            const NearMemory& near,
            const safe::MemoryReader& memory,
            uint64_t address,
            const char* reason,
            Windows* windows,
            uint64_t* kept) {
  if (address < kLeastAddress || Within(near.told, address) ||
      windows->count >= kMaxNearWindows || IsTold(*windows, address)) {
    return;
  }
  uint8_t bytes[kNearBytes];
  uint64_t from = 0;
  const size_t count = ReadAround(memory, address, &from, bytes);
  if (count != 0 && PutWindow(records, from, bytes, count, reason)) {
    windows->at[windows->count++] = {from, from + count};
    *kept += count;
  }
}

}  // namespace

size_t PutNearMemory(RecordWriter* records,
                     const NearMemory& near,
                     const safe::MemoryReader& memory,
                     uint64_t* kept) {
  const capture::Registers& registers = *near.registers;
  const format::RegisterNames names =
      format::RegisterNamesOf(registers.architecture);
  const capture::RegisterRoles roles = capture::RolesOf(registers.architecture);
  Windows windows;
  windows.count = 0;
  if (near.has_fault_address) {
    PutOne(records, near, memory, near.fault_address, "fault", &windows, kept);
  }
  for (int i = 0; i <= roles.program_counter; ++i) {
    if (i != roles.stack_pointer && registers.Has(i)) {
      PutOne(records,
             near,
             memory,
             registers.values[i],
             names.names[i],
             &windows,
             kept);
    }
  }
  return windows.count;
}

}  // namespace cairn::writer
