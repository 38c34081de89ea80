// SPDX-License-Identifier: Apache-2.0
//
// A rename that never takes the place of another file.
//
// Ordinary code, any thread.
#ifndef CAIRN_UPLOAD_NO_REPLACE_H_
#define CAIRN_UPLOAD_NO_REPLACE_H_

namespace cairn::upload {

// Both names in `directory`. False with errno; EINVAL, ENOSYS or ENOTSUP where
// the file system cannot promise it.
bool RenameNoReplace(int directory, const char* from, const char* to);

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_NO_REPLACE_H_
