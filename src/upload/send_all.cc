// SPDX-License-Identifier: Apache-2.0
//
// SendAll: for each report, newest first → SendOne → attempts with growing
// delays → Judge → move to sent/ or refused/, or leave.
#include "upload/send_all.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <random>
#include <thread>

#include "format/report_format.h"
#include "report/reader.h"
#include "upload/gzip.h"
#include "upload/pause.h"
#include "upload/transport.h"
#include "upload/verdict.h"

namespace cairn::upload {
namespace {

using std::chrono::milliseconds;

constexpr const char* kSentFolder = "sent";
constexpr const char* kRefusedFolder = "refused";
constexpr int kMaxDelayMs = 60000;
constexpr int kPollMs = 20;
// So many reports in a row without an answer: the server is out of reach, not
// one report to blame.
constexpr int kMaxSilent = 2;

bool Stopped(const std::atomic<bool>* stop) {
  return stop != nullptr && stop->load();
}

// False when stopped meanwhile.
bool Wait(int64_t wait_ms, const std::atomic<bool>* stop) {
  const auto end = std::chrono::steady_clock::now() + milliseconds(wait_ms);
  while (std::chrono::steady_clock::now() < end) {
    if (Stopped(stop)) {
      return false;
    }
    std::this_thread::sleep_for(milliseconds(kPollMs));
  }
  return !Stopped(stop);
}

std::string Url(const Options& options, const std::vector<uint8_t>& bytes) {
  std::string root = options.url;
  while (!root.empty() && root.back() == '/') {
    root.pop_back();
  }
  report::Uuid uuid{};
  std::copy_n(bytes.begin() + offsetof(format::FileHeader, report_uuid),
              uuid.size(),
              uuid.begin());
  return root + "/api/v1/reports/" + report::UuidText(uuid);
}

bool IsPlain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return c > ' ' && c != 0x7f;
  });
}

// Why nothing can be sent with these options; "" when it can.
std::string ProblemWith(const Options& options) {
  if (!options.url.starts_with("https://") &&
      !options.url.starts_with("http://")) {
    return "the server's address must begin with https:// or http://; set "
           "upload_url or CAIRN_UPLOAD_URL";
  }
  if (!IsPlain(options.url) || !IsPlain(options.token)) {
    return "the server's address or token holds blanks or control characters";
  }
  return "";
}

class Sender {
 public:
  Sender(const Directory& directory,
         const Options& options,
         const std::atomic<bool>* stop)
      : directory_(directory), options_(options), stop_(stop) {}

  // Set once no further report is worth a try, with the reason.
  bool ended() const { return ended_; }
  void End(Outcome outcome, std::string message) {
    ended_ = true;
    end_outcome_ = outcome;
    end_message_ = std::move(message);
  }

  Result Send(const std::string& name) {
    Result result;
    result.path = directory_.PathOf(name);
    if (ended_ || Stopped(stop_)) {
      result.outcome = ended_ ? end_outcome_ : Outcome::kRetryLater;
      result.message = ended_ ? end_message_ : "not tried: stopped";
      return result;
    }
    std::vector<uint8_t> bytes;
    if (!directory_.Read(name, report::kMaxReportBytes, &bytes)) {
      result.outcome = Outcome::kRetryLater;
      result.message = "cannot be read; check its owner and size";
      return result;
    }
    const auto length = report::ReportLength(bytes.data(), bytes.size());
    if (!length || bytes.size() < sizeof(format::FileHeader)) {
      result.outcome = Outcome::kRefused;
      result.message = "not a Cairn report; moved to refused/";
      directory_.Move(name, kRefusedFolder);
      return result;
    }
    bytes.resize(*length);
    Attempt(bytes, &result);
    File(name, &result);
    return result;
  }

 private:
  void Attempt(const std::vector<uint8_t>& bytes, Result* result) {
    const auto packed = Gzip(bytes.data(), bytes.size());
    Request request;
    request.url = Url(options_, bytes);
    request.token = options_.token;
    request.gzip = packed.has_value();
    request.body = packed ? &*packed : &bytes;
    request.timeout_ms = options_.timeout_ms;
    for (int attempt = 1;; ++attempt) {
      const Answer answer = Put(request, stop_);
      const Verdict verdict = Judge(answer);
      result->outcome = verdict.outcome;
      result->http_status = answer.status;
      result->message = verdict.message;
      if (verdict.outcome == Outcome::kSent) {
        silent_ = 0;
        return;
      }
      const int64_t wait_ms = DelayMs(attempt, answer);
      if (!verdict.again || attempt >= options_.attempts ||
          wait_ms > kMaxDelayMs || !Wait(wait_ms, stop_)) {
        return Conclude(answer, verdict);
      }
    }
  }

  // Doubled each time, by chance half to all of it, so that clients that lost
  // the server together do not come back together. At least what it asked for.
  int64_t DelayMs(int attempt, const Answer& answer) {
    const int64_t full = std::min<int64_t>(
        kMaxDelayMs,
        static_cast<int64_t>(std::max(1, options_.first_delay_ms))
            << std::min(attempt - 1, 16));
    std::uniform_int_distribution<int64_t> jitter(full / 2, full);
    return std::max(jitter(random_), answer.retry_after_s * 1000);
  }

  void Conclude(const Answer& answer, const Verdict& verdict) {
    if (answer.retry_after_s > 0) {
      SetPause(directory_, std::time(nullptr), answer.retry_after_s);
    }
    silent_ = answer.status == 0 ? silent_ + 1 : 0;
    if (verdict.stop || silent_ >= kMaxSilent) {
      End(verdict.outcome == Outcome::kUnauthorized ? verdict.outcome
                                                    : Outcome::kRetryLater,
          "not tried: " + verdict.message);
    }
  }

  void File(const std::string& name, Result* result) {
    const char* folder = result->outcome == Outcome::kSent      ? kSentFolder
                         : result->outcome == Outcome::kRefused ? kRefusedFolder
                                                                : nullptr;
    if (folder != nullptr && !directory_.Move(name, folder)) {
      result->message += "; it cannot be moved to " + std::string(folder) +
                         "/ and will be sent again";
    }
  }

  const Directory& directory_;
  const Options& options_;
  const std::atomic<bool>* stop_;
  std::mt19937_64 random_{std::random_device{}()};
  int silent_ = 0;
  bool ended_ = false;
  Outcome end_outcome_ = Outcome::kRetryLater;
  std::string end_message_;
};

}  // namespace

size_t KeepNewest(const Directory& directory,
                  const std::string& folder,
                  size_t keep) {
  const Directory place(folder.empty() ? directory.path()
                                       : directory.PathOf(folder));
  if (!place.valid()) {
    return 0;
  }
  const auto files = place.List(format::kReportSuffix);
  size_t removed = 0;
  for (size_t i = keep; i < files.size(); ++i) {
    removed += place.Remove(files[i].name) ? 1 : 0;
  }
  return removed;
}

std::vector<Result> SendAll(const Directory& directory,
                            const Options& options,
                            const std::atomic<bool>* stop,
                            const Progress& progress,
                            const Prepare& prepare) {
  Sender sender(directory, options, stop);
  const std::string problem = ProblemWith(options);
  const int64_t pause = PauseLeft(directory, std::time(nullptr));
  if (!problem.empty()) {
    sender.End(Outcome::kRetryLater, problem);
  } else if (pause > 0) {
    sender.End(Outcome::kRetryLater,
               "not tried: the server asked to wait another " +
                   std::to_string(pause) + " s");
  }
  std::vector<Result> results;
  for (const FileEntry& file : directory.List(format::kReportSuffix)) {
    if (prepare && !Stopped(stop)) {
      prepare(file.name);
    }
    results.push_back(sender.Send(file.name));
    if (progress) {
      progress(results.back());
    }
  }
  KeepNewest(directory, kSentFolder, options.keep_sent);
  KeepNewest(directory, kRefusedFolder, options.keep_sent);
  return results;
}

}  // namespace cairn::upload
