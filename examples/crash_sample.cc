// SPDX-License-Identifier: Apache-2.0
//
// A program with Cairn in it: imports photos, and dies on the third if asked.
//
//   crash_sample --directory DIR --crash null_write    dies, leaves a report
//   crash_sample --directory DIR --upload-url URL      the next launch:
//   symbolicates
//                                                      and sends that report
#include <cairn/cairn.h>

#include <cstdio>
#include <string>

#include "crash_kinds.h"
#include "workers.h"

namespace {

struct Options {
  std::string directory;
  std::string upload_url;
  std::string crash;
  bool good = true;
};

void PrintUsage() {
  std::fprintf(stderr,
               "Usage: crash_sample --directory DIR [--upload-url URL] "
               "[--crash KIND]\nKinds:");
  for (const std::string& kind : sample::CrashKinds()) {
    std::fprintf(stderr, " %s", kind.c_str());
  }
  std::fprintf(stderr, "\n");
}

bool IsKnown(const std::string& kind) {
  for (const std::string& known : sample::CrashKinds()) {
    if (known == kind) {
      return true;
    }
  }
  return kind.empty();
}

Options ReadOptions(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--directory") {
      options.directory = value;
    } else if (name == "--upload-url") {
      options.upload_url = value;
    } else if (name == "--crash") {
      options.crash = value;
    } else {
      options.good = false;
    }
    options.good = options.good && !value.empty();
  }
  options.good = options.good && IsKnown(options.crash);
  return options;
}

bool Install(const Options& options) {
  cairn_config config;
  cairn_config_init(&config);
  config.directory = options.directory.c_str();
  config.app_id = "org.example.photos";
  config.app_version = "1.4.2";
  config.app_build = "2207";
  config.environment = "sample";
  config.upload_url = options.upload_url.c_str();
  const cairn_status status = cairn_install(&config);
  if (status != CAIRN_OK) {
    std::fprintf(stderr, "cairn: %s\n", cairn_status_text(status));
  }
  return status == CAIRN_OK;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = ReadOptions(argc, argv);
  if (!options.good) {
    PrintUsage();
    return 2;
  }
  if (!Install(options)) {
    return 1;
  }
  if (cairn_last_run() == CAIRN_LAST_RUN_CRASHED) {
    std::printf("The last run crashed; its report is taken care of.\n");
  }
  const sample::Workers workers(
      {"decoder-1", "decoder-2", "thumbnailer", "network"});
  cairn_set_key("album", "Holidays");
  cairn_add_breadcrumb("ui", "import started");
  std::printf("%d photos imported.\n", sample::ImportAlbum(options.crash));
  // Lets a running upload end.
  cairn_uninstall();
  return 0;
}
