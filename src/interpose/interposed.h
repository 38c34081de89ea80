// SPDX-License-Identifier: Apache-2.0
//
// The functions of other libraries that Cairn stands in front of, and what is
// lost where it cannot (a fully static program, a library bound with
// -Bsymbolic):
//
//   pthread_create    the new thread gets an alternate stack    its overflow is
//   unseen dlopen, dlclose   the image table is brought up to date     an image
//   that was
//                     before the call                           loaded and
//                     unloaded
//                                                               since is
//                                                               unknown
//
// Each calls the next definition and changes nothing of its result, its errors
// or, for dlopen, of who the loader thinks the caller is.
#ifndef CAIRN_INTERPOSE_INTERPOSED_H_
#define CAIRN_INTERPOSE_INTERPOSED_H_

namespace cairn::interpose {

// Looks the next definitions up. Called by install; the interposed functions
// work before, too.
void PrepareInterposition();

// False where the program's own calls do not come through us.
bool IsInterposed();

}  // namespace cairn::interpose

#endif  // CAIRN_INTERPOSE_INTERPOSED_H_
