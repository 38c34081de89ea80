// SPDX-License-Identifier: Apache-2.0
//
// AppendSection: LayOut finds the end of what is good → cut off the rest →
// write the section → flush.
#include "report/append.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

#include "report/file_layout.h"
#include "report/read_file.h"
#include "report/reader.h"
#include "safe/crc32c.h"

namespace cairn::report {
namespace {

using format::SectionHeader;
using format::SlotState;

std::vector<uint8_t> SectionBytes(const std::vector<uint8_t>& payload) {
  SectionHeader header{};
  std::memcpy(header.magic, format::kSectionMagic, sizeof(header.magic));
  header.version = 1;
  header.payload_bytes = payload.size();
  header.payload_crc = safe::Crc32c(0, payload.data(), payload.size());
  header.header_crc =
      safe::Crc32c(0, &header, offsetof(SectionHeader, header_crc));
  std::vector<uint8_t> bytes(sizeof(header) + payload.size());
  std::memcpy(bytes.data(), &header, sizeof(header));
  if (!payload.empty()) {
    std::memcpy(bytes.data() + sizeof(header), payload.data(), payload.size());
  }
  return bytes;
}

std::string WriteAt(int descriptor,
                    const std::vector<uint8_t>& bytes,
                    uint64_t offset) {
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t put = pwrite(descriptor,
                               bytes.data() + done,
                               bytes.size() - done,
                               static_cast<off_t>(offset + done));
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put <= 0) {
      return std::generic_category().message(put < 0 ? errno : ENOSPC);
    }
    done += static_cast<size_t>(put);
  }
  return "";
}

// Where the section goes, or why none can.
std::string PlaceFor(const std::vector<uint8_t>& file, uint64_t* place) {
  const std::optional<FileLayout> layout =
      LayOut(file.data(), file.size(), nullptr);
  if (!layout) {
    return "not a Cairn report";
  }
  if (layout->header.state < static_cast<uint32_t>(SlotState::kClaimed)) {
    return "a prepared slot; no crash has used it";
  }
  if (layout->records_end < layout->committed_bytes) {
    return "the file is cut; nothing can be appended to it";
  }
  *place = layout->used_bytes;
  return "";
}

std::string AppendTo(int descriptor, const std::vector<uint8_t>& payload) {
  std::vector<uint8_t> file;
  uint64_t place = 0;
  std::string error = ReadAll(descriptor, kMaxReportBytes, &file);
  if (error.empty()) {
    error = PlaceFor(file, &place);
  }
  if (!error.empty()) {
    return error;
  }
  const std::vector<uint8_t> section = SectionBytes(payload);
  if (place + section.size() > kMaxReportBytes) {
    return "the report would be larger than one may be";
  }
  if (ftruncate(descriptor, static_cast<off_t>(place)) != 0) {
    return std::generic_category().message(errno);
  }
  error = WriteAt(descriptor, section, place);
  if (!error.empty()) {
    // Best effort: the reader skips what is left of it.
    return ftruncate(descriptor, static_cast<off_t>(place)) == 0
               ? error
               : error + "; the report is unharmed";
  }
  return fsync(descriptor) == 0 ? "" : std::generic_category().message(errno);
}

}  // namespace

std::string AppendSection(const std::string& path,
                          const std::vector<uint8_t>& payload) {
  const int descriptor = OpenRegular(path, true);
  if (descriptor < 0) {
    return DescribeErrno(path, errno);
  }
  const std::string error = AppendTo(descriptor, payload);
  close(descriptor);
  return error.empty() ? "" : path + ": " + error;
}

}  // namespace cairn::report
