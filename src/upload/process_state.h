// SPDX-License-Identifier: Apache-2.0
//
// Is the process that made or took a slot still there?
//
// Ordinary code, any thread.
#ifndef CAIRN_UPLOAD_PROCESS_STATE_H_
#define CAIRN_UPLOAD_PROCESS_STATE_H_

#include "format/report_format.h"

namespace cairn::upload {

enum class ProcessState {
  kAlive,
  kDead,
  kUnknown,  // of another pid namespace, or /proc tells nothing
};

// Of another boot: dead. Of this boot and pid namespace: process id and start
// time decide, since an id alone is used again. A zombie is dead once its last
// thread is. Everything else is unknown.
ProcessState StateOf(const format::ProcessIdentity& identity);

// This process, as its slots name it. Fields that cannot be had are zero.
format::ProcessIdentity OwnIdentity();

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_PROCESS_STATE_H_
