// SPDX-License-Identifier: Apache-2.0
//
// UploadAll with something to do for each report before it is sent.
#ifndef CAIRN_UPLOAD_SEND_ALL_H_
#define CAIRN_UPLOAD_SEND_ALL_H_

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "upload/directory.h"
#include "upload/uploader.h"

namespace cairn::upload {

using Progress = std::function<void(const Result&)>;
// Gets a report's name. Runs under the directory's lock; may append to it.
using Prepare = std::function<void(const std::string& name)>;

// The caller holds the lock; slots are finished and the queue is pruned.
std::vector<Result> SendAll(const Directory& directory,
                            const Options& options,
                            const std::atomic<bool>* stop,
                            const Progress& progress,
                            const Prepare& prepare);

// Removes the oldest files of `folder` ("" is the directory itself) that end in
// .cairn, beyond `keep`. Returns how many went.
size_t KeepNewest(const Directory& directory,
                  const std::string& folder,
                  size_t keep);

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_SEND_ALL_H_
