// SPDX-License-Identifier: Apache-2.0
#include "cairn/cairn.h"

extern "C" void cairn_config_init(cairn_config* config) {
  if (config != nullptr) {
    *config = cairn_config{};
    config->struct_size = sizeof(cairn_config);
  }
}

extern "C" const char* cairn_status_text(cairn_status status) {
  switch (status) {
    case CAIRN_OK:
      return "Done.";
    case CAIRN_ALREADY_INSTALLED:
      return "Cairn is installed in this process already; the first install "
             "stays in force. "
             "Call cairn_uninstall first to change the configuration.";
    case CAIRN_DISABLED:
      return "CAIRN_DISABLE is set in the environment; unset it to turn crash "
             "reports on.";
    case CAIRN_NOT_INSTALLED:
      return "Cairn is not installed in this process; call cairn_install "
             "first.";
    case CAIRN_BAD_CONFIG:
      return "The configuration is not usable: call cairn_config_init on it, "
             "then set "
             "directory (or CAIRN_DIRECTORY) to a path of at most 736 bytes.";
    case CAIRN_DIRECTORY_MISSING:
      return "The report directory does not exist and could not be made; "
             "create its parent "
             "directory, or choose another path.";
    case CAIRN_DIRECTORY_NOT_WRITABLE:
      return "The report directory is not writable for this user; change its "
             "owner or mode, "
             "or choose another path.";
    case CAIRN_DIRECTORY_UNSAFE:
      return "The report directory belongs to another user or others may write "
             "to it; use "
             "one of this user's own with mode 0700.";
    case CAIRN_DISK_FULL:
      return "There is no room on the disk, or within the quota, for the "
             "report slots; free "
             "some space or lower slot_bytes.";
    case CAIRN_FILE_SIZE_LIMIT:
      return "The file-size limit (ulimit -f) is below the size of a report "
             "slot; raise it or "
             "lower slot_bytes.";
    case CAIRN_NO_MEMORY:
      return "The memory for crash handling could not be mapped; raise the "
             "address-space "
             "limit (ulimit -v).";
    case CAIRN_NO_DESCRIPTORS:
      return "No file descriptor is left; raise the limit (ulimit -n) or "
             "install earlier.";
    case CAIRN_SIGNALS_REFUSED:
      return "The signal handlers could not be installed, or another library "
             "undid them at "
             "once; install Cairn after that library.";
    case CAIRN_UNSUPPORTED:
      return "This kernel or processor is not supported.";
    case CAIRN_LIMIT:
      return "A limit of rate, number or size is reached; try again later or "
             "with less.";
    case CAIRN_IO_ERROR:
      return "The file system refused an operation in the report directory; "
             "look at the "
             "disk's health and the mount's options.";
  }
  return "An unknown status: the library is newer than the header it was built "
         "with.";
}
