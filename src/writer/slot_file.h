// SPDX-License-Identifier: Apache-2.0
//
// What a slot needs of the file system: each a call or two of the system's.
//
// Crash time: yes, all of it. Every int is 0 or the errno. A directory of −1
// means that the name is a path.
#ifndef CAIRN_WRITER_SLOT_FILE_H_
#define CAIRN_WRITER_SLOT_FILE_H_

#include <cstddef>
#include <cstdint>

#include "format/report_format.h"

namespace cairn::writer {

inline constexpr int32_t kNoDirectory = -1;

struct FileIdentity {
  uint64_t device, inode;
};

// What this build's reports say of their system.
struct System {
  format::Architecture architecture;
  format::OperatingSystem operating_system;
};
System OwnSystem();

bool IdentifyFile(int32_t fd, FileIdentity* out);
// Below this many bytes a file may grow without SIGXFSZ.
uint64_t FileSizeLimit();
// A new file of this user alone; no link is followed.
int CreateFile(int32_t directory, const char* name, int32_t* fd);
// Real blocks for the first part, a sparse rest.
int SizeFile(int32_t fd, size_t first_bytes, size_t total_bytes);
// Held while the process lives; where locks are refused identity decides alone.
void LockFile(int32_t fd);
// Shared, writable; the first `ready_bytes` are mapped in where that can be
// asked for.
int MapFile(int32_t fd, size_t total_bytes, size_t ready_bytes, void** out);
void UnmapFile(void* map, size_t bytes);
void TruncateFile(int32_t fd, size_t bytes);
void TruncatePath(const char* path, size_t bytes);
bool RenameFile(int32_t directory, const char* from, const char* to);
void RemoveFile(int32_t directory, const char* name);
void CloseFile(int32_t fd);

// Blocks for [from, to) of a mapped file. False when the disk is full: touching
// the pages would raise SIGBUS.
bool PopulateFile(int32_t fd, void* map, size_t from, size_t to);

// Never waits. False where the system refuses.
bool FillRandom(void* out, size_t bytes);

}  // namespace cairn::writer

#endif  // CAIRN_WRITER_SLOT_FILE_H_
