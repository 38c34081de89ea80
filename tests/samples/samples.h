// SPDX-License-Identifier: Apache-2.0
//
// Two reports made by hand, record by record. Their bytes are checked in
// (simple.cairn, rich.cairn) and stay as they are: every later reader must read
// them.
#ifndef CAIRN_TESTS_SAMPLES_SAMPLES_H_
#define CAIRN_TESTS_SAMPLES_SAMPLES_H_

#include <cstdint>
#include <vector>

namespace cairn::samples {

// A null read in crash_here, called from main; 3 threads; names appended.
std::vector<uint8_t> Simple();

// An uncaught exception in one of 41 threads, of which 40 share their tails;
// keys, breadcrumbs, cuts, memory, an unloaded image, fields of a later
// version, and names with an inlined call.
std::vector<uint8_t> Rich();
// The same as writers of today make it: the unloaded image stands in a group.
// Not checked in.
std::vector<uint8_t> RichOfToday();

}  // namespace cairn::samples

#endif  // CAIRN_TESTS_SAMPLES_SAMPLES_H_
