/* SPDX-License-Identifier: Apache-2.0
 *
 * Cairn: a crash reporter. The whole public C API.
 *
 *   cairn_config config;
 *   cairn_config_init(&config);
 *   config.directory = "/var/lib/myapp/crashes";
 *   config.app_id = "com.example.myapp";
 *   config.app_version = "1.4.2";
 *   cairn_status status = cairn_install(&config);
 *   if (status != CAIRN_OK) fprintf(stderr, "%s\n", cairn_status_text(status));
 *
 * Unless a function says otherwise it may be called from any thread, not from a
 * signal handler, and returns without having changed anything when it fails.
 * Strings are UTF-8, terminated, and copied before the call returns.
 */
#ifndef CAIRN_CAIRN_H_
#define CAIRN_CAIRN_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define CAIRN_API __attribute__((visibility("default")))
#else
#define CAIRN_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define CAIRN_VERSION "0.1.0"

/* What a call answers. Values are never reused; cairn_status_text() tells the
 * remedy of each. */
typedef enum cairn_status {
  CAIRN_OK = 0,
  CAIRN_ALREADY_INSTALLED = 1, /* second install; the first stays in force */
  CAIRN_DISABLED = 2,          /* CAIRN_DISABLE is set in the environment */
  CAIRN_NOT_INSTALLED = 3,
  CAIRN_BAD_CONFIG = 4,        /* null, struct_size wrong, or no directory */
  CAIRN_DIRECTORY_MISSING = 5, /* cannot be made: parent missing or a file */
  CAIRN_DIRECTORY_NOT_WRITABLE = 6,
  CAIRN_DIRECTORY_UNSAFE = 7, /* another user's, or others may write it */
  CAIRN_DISK_FULL = 8,        /* no room, or over quota, for the slots */
  CAIRN_FILE_SIZE_LIMIT = 9,  /* RLIMIT_FSIZE is below the size of a slot */
  CAIRN_NO_MEMORY = 10,       /* address space or locked-memory limit */
  CAIRN_NO_DESCRIPTORS = 11,  /* RLIMIT_NOFILE reached */
  CAIRN_SIGNALS_REFUSED =
      12, /* sigaction failed, or was undone by another library */
  CAIRN_UNSUPPORTED = 13, /* this kernel or architecture */
  CAIRN_LIMIT = 14,       /* rate or size limit reached; try later or less */
  CAIRN_IO_ERROR = 15     /* any other failure of the file system */
} cairn_status;

/* One sentence: what happened and what to do. Never null; static storage. May
 * be called at any time. */
CAIRN_API const char* cairn_status_text(cairn_status status);

/* What a callback at the crash is told. Pointers are good until it returns. */
typedef struct cairn_crash_info {
  size_t struct_size;
  int signal_number;      /* 0 for a hang or a capture */
  int signal_code;        /* si_code */
  uint64_t fault_address; /* 0 when there is none */
  const void* ucontext;   /* of the handler, may be null */
} cairn_crash_info;

/* Called at most once, in the crashed thread on an alternate stack, after that
 * thread's own part of the report is safe and before other threads are frozen.
 * Crash-time rules: only async-signal-safe calls, no allocation, no lock, at
 * most a few kilobytes of stack. If it faults or hangs, the report is written
 * all the same. */
typedef void (*cairn_crash_callback)(const cairn_crash_info* info,
                                     void* context);

typedef struct cairn_config {
  size_t struct_size; /* set by cairn_config_init */

  /* Where reports are kept; made with mode 0700 if missing (its parent must
   * exist). Empty: $CAIRN_DIRECTORY. Required. */
  const char* directory;
  const char* app_id;      /* empty: $CAIRN_APP_ID, else the program's name */
  const char* app_version; /* empty: $CAIRN_APP_VERSION */
  const char* app_build;
  const char* environment;
  /* Server's address, "https://…". Empty: $CAIRN_UPLOAD_URL; empty too: nothing
   * is sent and no thread is started for it. */
  const char* upload_url;
  const char* upload_token; /* empty: $CAIRN_UPLOAD_TOKEN */

  cairn_crash_callback on_crash;
  void* on_crash_context;

  /* Limits; 0 means the default given here. */
  uint32_t crash_limit_ms; /* 2000, plus crash_limit_ms_per_thread each */
  uint32_t crash_limit_ms_per_thread; /* 20 */
  uint32_t stack_bytes; /* 32768: of the crashed thread, kept in the report */
  uint32_t max_frames;  /* 512 a thread: half innermost, half outermost */
  uint32_t max_unsent_reports; /* 20; older ones are removed */
  uint32_t slot_bytes;         /* 262144, at least 65536 */
  uint32_t slot_count; /* 2: made at install; more are made when needed */

  /* Switches: 0 is the default. */
  uint8_t no_stack_bytes;   /* 1: keep no bytes of any stack, nor of what
                               registers point at (privacy) */
  uint8_t no_symbolication; /* 1: leave names to the server at next launch */
  uint8_t no_next_launch;   /* 1: do not look for earlier runs' reports */
  uint8_t chain_first; /* 1: earlier handlers run before any state is taken, for
                          runtimes that turn SIGSEGV into exceptions */
  uint8_t lazy_slots;  /* 1: make the slot at the crash, nothing at install */
  uint8_t reserved[3];
} cairn_config;

/* Fills `config` with defaults. Call it first. */
CAIRN_API void cairn_config_init(cairn_config* config);

/* Installs the crash handlers, makes the report slots, and starts, in the
 * background, the handling of reports of earlier runs. Call it early in main,
 * once per process; a forked child is covered by its parent's install. Costs
 * microseconds. On failure nothing is installed. */
CAIRN_API cairn_status cairn_install(const cairn_config* config);

/* Restores the earlier handlers where ours are still in place, removes unused
 * slots, waits for a running upload for at most five seconds. */
CAIRN_API cairn_status cairn_uninstall(void);

/* Sets a key that goes into every later report; a null value removes it. At
 * most 64 keys, names of 63 and values of 255 bytes; longer ones are cut. Never
 * blocks. */
CAIRN_API cairn_status cairn_set_key(const char* name, const char* value);

/* Adds a breadcrumb to a ring of the newest 64; messages of 191, categories of
 * 31 bytes. `category` may be null. Never blocks; usable from any thread. */
CAIRN_API cairn_status cairn_add_breadcrumb(const char* category,
                                            const char* message);

/* Writes a non-fatal report with the stacks of all threads; the process goes
 * on. `kind` is "capture" or a word of the app's own, kept as the report's
 * message prefix. At most one a second and 20 a run. */
CAIRN_API cairn_status cairn_capture(const char* kind, const char* message);

/* Gives the calling thread an alternate stack, so that its stack overflow can
 * be reported. Needed only where threads are made without pthread_create: raw
 * clone, and programs linked with -static. */
CAIRN_API cairn_status cairn_register_thread(void);

/* How the previous run of this app ended, as far as its directory tells. */
typedef enum cairn_last_run_kind {
  CAIRN_LAST_RUN_UNKNOWN = 0,
  CAIRN_LAST_RUN_CRASHED =
      1, /* a crash report of an earlier run was found at install */
  CAIRN_LAST_RUN_NO_CRASH = 2
} cairn_last_run_kind;
CAIRN_API cairn_last_run_kind cairn_last_run(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* CAIRN_CAIRN_H_ */
