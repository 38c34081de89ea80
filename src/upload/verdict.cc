// SPDX-License-Identifier: Apache-2.0
#include "upload/verdict.h"

namespace cairn::upload {
namespace {

// The server's own words, one line of them.
std::string Said(const Answer& answer) {
  std::string text = " (HTTP " + std::to_string(answer.status);
  if (!answer.is_page && !answer.body.empty()) {
    text += ": ";
    for (char c : answer.body.substr(0, 300)) {
      text += c >= 0 && c < ' ' ? ' ' : c;
    }
  }
  return text + ")";
}

Verdict NoAnswer(const Answer& answer) {
  return {Outcome::kRetryLater,
          answer.possible,
          !answer.possible,
          "no answer: " + answer.error};
}

Verdict Success(const Answer& answer) {
  if (answer.is_page) {
    return {Outcome::kRetryLater,
            false,
            true,
            "answered by a web page, not by a Cairn server; log in to the "
            "network, or check the address" +
                Said(answer)};
  }
  return {Outcome::kSent,
          false,
          false,
          answer.status == 201 ? "sent" : "the server had it already"};
}

}  // namespace

Verdict Judge(const Answer& answer) {
  const long status = answer.status;
  switch (status) {
    case 0:
      return NoAnswer(answer);
    case 200:
    case 201:
      return Success(answer);
    case 400:
      return {Outcome::kRefused,
              false,
              false,
              "the server cannot read it; `cairn show` tells what is wrong" +
                  Said(answer)};
    case 409:
      return {Outcome::kRefused,
              false,
              false,
              "the server has other bytes under this uuid and keeps those" +
                  Said(answer)};
    case 413:
      return {Outcome::kRefused,
              false,
              false,
              "too large for the server; raise its limit and move the file "
              "back to send it" +
                  Said(answer)};
    case 401:
    case 403:
      return {Outcome::kUnauthorized,
              false,
              true,
              "the token is missing or wrong; set upload_token or "
              "CAIRN_UPLOAD_TOKEN" +
                  Said(answer)};
    case 429:
      return {Outcome::kRetryLater,
              true,
              true,
              "the server asks to wait" + Said(answer)};
    case 408:
    case 502:
    case 503:
    case 504:
    case 507:
      return {Outcome::kRetryLater,
              true,
              true,
              "the server cannot take it now" + Said(answer)};
    default:
      break;
  }
  if (status >= 500) {
    return {Outcome::kRetryLater,
            true,
            false,
            "the server failed on it" + Said(answer)};
  }
  if (status >= 300 && status < 400) {
    return {Outcome::kRetryLater,
            false,
            true,
            "the server is elsewhere; set upload_url to " + answer.location +
                Said(answer)};
  }
  return {Outcome::kRetryLater,
          false,
          true,
          "no Cairn server answers at this address; check upload_url" +
              Said(answer)};
}

}  // namespace cairn::upload
