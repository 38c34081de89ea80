// SPDX-License-Identifier: Apache-2.0
//
// A whole file as bytes, for files that others may have put there.
#ifndef CAIRN_REPORT_READ_FILE_H_
#define CAIRN_REPORT_READ_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::report {

// Reads the open file from its start, whatever the file offset is. Regular
// files of at most `limit` bytes. Returns "" or what went wrong.
std::string ReadAll(int descriptor, uint64_t limit, std::vector<uint8_t>* out);

// Opens `path` without following a symbolic link in its last part, and without
// waiting on a pipe. `write`: for reading and writing. -1 and errno on failure.
int OpenRegular(const std::string& path, bool write);

// "PATH: MESSAGE", with the remedy where there is one.
std::string DescribeErrno(const std::string& path, int error);

}  // namespace cairn::report

#endif  // CAIRN_REPORT_READ_FILE_H_
