// SPDX-License-Identifier: Apache-2.0
//
// What a server's answer means for a report.
#ifndef CAIRN_UPLOAD_VERDICT_H_
#define CAIRN_UPLOAD_VERDICT_H_

#include <string>

#include "upload/transport.h"
#include "upload/uploader.h"

namespace cairn::upload {

struct Verdict {
  Outcome outcome = Outcome::kRetryLater;
  bool again = false;  // worth another attempt in this call
  bool stop = false;   // the next report would fare no better
  std::string message;
};

// Only 201 and 200 acknowledge, and not with a page of HTML: that is some
// network's log-in page, and the report would be gone.
Verdict Judge(const Answer& answer);

}  // namespace cairn::upload

#endif  // CAIRN_UPLOAD_VERDICT_H_
