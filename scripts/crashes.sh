# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Crashes programs for scripts/demo, and shows what was run. Sourced after
# lib.sh; `work` is a folder for files of the moment.
: "${work:=}"

# shown COMMAND…: prints the command, runs it, indents what it says.
shown() {
  # shellcheck disable=SC2154
  say "${bold}\$ ${*//$PWD\//}$plain"
  "$@" 2>&1 | sed 's/^/  /'
}

# died CODE: says by which signal; a shell's code for that is 128 + number.
died() {
  sed 's/^/  /' "$work/output" | head -n 5
  [ "$1" -gt 128 ] || die "it should have died by a signal, but ended with code $1"
  say "  died by SIG$(kill -l $(($1 - 128)))"
}

# dies COMMAND…: in the background, where bash's own word on the death can be
# kept from the terminal.
dies() {
  local code=0
  say "${bold}\$ ${*//$PWD\//}$plain"
  "$@" >"$work/output" 2>&1 </dev/null &
  wait $! 2>/dev/null || code=$?
  died "$code"
}

# dies_from_outside COMMAND…: waits at its standard input until a signal comes.
dies_from_outside() {
  local code=0 pid
  say "${bold}\$ $* &   kill -SEGV \$!$plain"
  mkfifo "$work/input"
  exec 9<>"$work/input"
  "$@" <&9 >"$work/output" 2>&1 &
  pid=$!
  # Until it waits for input in the kernel.
  local tries=50
  until grep -q '^State:.S' "/proc/$pid/status" || [ $((tries -= 1)) = 0 ]; do sleep 0.1; done
  kill -SEGV "$pid"
  wait "$pid" 2>/dev/null || code=$?
  exec 9>&-
  died "$code"
}

# A loadable extension for sqlite3 that faults three calls deep.
build_faulty_extension() {
  cat >"$work/faulty.c" <<'END'
__attribute__((noinline)) int StoreRow(volatile int* row) {
  *row = 1;
  return *row;
}
__attribute__((noinline)) int FillTable(volatile int* rows) {
  return StoreRow(rows) + 1;
}
int sqlite3_faulty_init(void* database, char** error, const void* api) {
  (void)database;
  (void)error;
  (void)api;
  return FillTable((volatile int*)0) + 1;
}
END
  gcc -g -O1 -shared -fPIC -o "$work/faulty.so" "$work/faulty.c"
}

# crash_program NAME DIRECTORY: an installed program that knows nothing of Cairn,
# through the preload; its report goes into DIRECTORY.
crash_program() {
  local preload=(env "LD_PRELOAD=$PWD/build/lib/libcairn-preload.so"
    "CAIRN_DIRECTORY=$2" "CAIRN_APP_ID=$1")
  case $1 in
    sqlite3)
      build_faulty_extension
      dies "${preload[@]}" sqlite3 :memory: ".load $work/faulty"
      ;;
    python3) dies "${preload[@]}" python3 -c 'import ctypes; ctypes.string_at(0)' ;;
    perl) dies "${preload[@]}" perl -e 'kill SEGV => $$; sleep 1' ;;
    git) dies_from_outside "${preload[@]}" git hash-object --stdin-paths ;;
    *) dies_from_outside "${preload[@]}" "$1" ;;
  esac
}
