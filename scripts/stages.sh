# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# The stages of scripts/test. Each runs alone in a subshell with `set -euo
# pipefail`, its output in a log; scripts/count_checks counts the checks in it.
# A stage builds what it needs, which costs nothing when that is fresh.

list_stages() {
  cat <<'END'
format   every source file is laid out by clang-format 19
shell    scripts parse, and shellcheck finds nothing
layers   folders include only what cmake/layers.txt allows
build    GCC 12, RelWithDebInfo, warnings are errors
unit     unit tests, and the mechanical checks with their provoking tests
crash    real processes crash; each report is compared with the child's word
random   500 random crashes (20,000 with --full) in random surroundings
steps    200,000 single steps: the walk equals a shadow stack at each
e2e      crash, relaunch, upload, server: the whole road
browser  the viewer in Chromium finds the crashing function
apple    Mach-O for x86_64 and arm64: library, command, crasher, their checks; runs in mach_host
install  installed package used by find_package, pkg-config, add_subdirectory
asan     Clang 19, AddressSanitizer and UBSan over ordinary code, unit tests
tsan     Clang 19, ThreadSanitizer over ordinary code, threaded tests
fuzz     every fuzzer from its seed corpus, 5 s each (60 s with --full)
tidy     clang-tidy 19 over what changed (the whole tree with --full)
END
}

jobs=2

# tracked PATTERN…: files that git knows, one a line.
tracked() { git ls-files -- "$@"; }

# build_preset NAME [TARGET…]: configures and builds a preset of CMakePresets.json.
build_preset() {
  local name=$1
  shift
  cmake --preset "$name"
  cmake --build --preset "$name" -j "$jobs" ${1:+--target "$@"}
}

# run_ctest DIR ARGS…: every test must exist and run; a hung one is ended.
run_ctest() {
  local dir=$1
  shift
  ctest --test-dir "$dir" --verbose --no-tests=error --timeout 300 "$@"
}

# check_each COMMAND…: runs COMMAND FILE for each file on standard input, two at
# a time, and prints `N passed, N failed`. No file at all is a failure too.
check_each() {
  local outcome passed failed
  outcome=$(mktemp)
  # shellcheck disable=SC2016
  xargs -r -d '\n' -P "$jobs" -I {} bash -c '
    file=$1 outcome=$2
    shift 2
    if output=$("$@" "$file" 2>&1 </dev/null); then
      echo good >>"$outcome"
    else
      printf "== %s\n%s\n" "$file" "$output"
      echo bad >>"$outcome"
    fi' check {} "$outcome" "$@"
  passed=$(grep -c good "$outcome" || true)
  failed=$(grep -c bad "$outcome" || true)
  rm -f "$outcome"
  [ "$((passed + failed))" != 0 ] || failed=1
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}

stage_format() {
  tracked '*.cc' '*.h' '*.hpp' '*.c' | check_each clang-format-19 --dry-run --Werror
}

# shell_scripts: tracked files that a shell reads.
shell_scripts() {
  git grep -lI -e '^#!.*\bbash$' -e '^#!/bin/sh$' -- scripts .ci tests tools bench examples
  tracked 'scripts/*.sh'
}

check_shell() {
  bash -n "$1" && shellcheck -x "$1"
}

stage_shell() {
  export -f check_shell
  # shellcheck disable=SC2016
  shell_scripts | sort -u | check_each bash -c 'check_shell "$1"' check
}

stage_layers() { python3 tests/checks/layers.py .; }

stage_build() { build_preset test; }

stage_unit() {
  build_preset test
  run_ctest build-test -L '^unit$' -j "$jobs"
}

stage_crash() {
  build_preset test
  run_ctest build-test -L '^crash$' -j "$jobs"
}

stage_random() {
  build_preset test
  local seed=$RANDOM shard logs failed=0 pids=()
  logs=$(mktemp -d)
  for ((shard = 0; shard < jobs; ++shard)); do
    GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$shard \
      build-test/bin/random_crash_test --seed "$seed" >"$logs/$shard" 2>&1 &
    pids+=($!)
  done
  for shard in "${pids[@]}"; do
    wait "$shard" || failed=1
  done
  cat "$logs"/*
  rm -rf "$logs"
  return $failed
}

stage_steps() {
  build_preset test
  run_ctest build-test -L '^steps$'
}

stage_e2e() {
  build_preset test
  run_ctest build-test -L '^e2e$'
}

# Besides the samples the report of a crash of this moment.
stage_browser() {
  build_preset test
  local reports=build-test/browser-reports
  rm -rf "$reports"
  build-test/bin/crash_sample --directory "$reports" --crash null_write || [ $? = 139 ]
  build-test/bin/crash_sample --directory "$reports"  # the next launch: names
  tests/browser/run build-test "$PWD/$(ls "$reports"/*.cairn)" FirstPixel
}

stage_install() {
  build_preset test
  tests/consumer/run build-test
}

# One architecture after the other: each uses both cores.
stage_apple() {
  local arch
  scripts/apple_tools
  for arch in x86_64 arm64; do
    build_preset "apple-$arch"
    python3 -B tests/apple/objects.py "build/apple/$arch/crash_time_objects.txt" \
      tests/apple/crash_time_symbols.txt
    python3 -B tests/apple/programs.py "build/apple/$arch" "$arch"
  done
  build_preset test
  run_ctest build-test -L '^apple$'
}

# Checks of the build's own objects belong to the product's build alone.
stage_asan() {
  build_preset asan unit_tests
  run_ctest build-asan -L '^unit$' -LE '^(check|no_sanitizer)$' -j "$jobs"
}

stage_tsan() {
  build_preset tsan threaded_tests
  run_ctest build-tsan -L '^threads$' -j "$jobs"
}

# fuzz_one PROGRAM: from a copy of its seeds, so that the tree stays as it is.
fuzz_one() {
  local name seconds=5 work
  name=$(basename "$1" _fuzzer)
  [ "${CAIRN_TEST_FULL:-0}" = 0 ] || seconds=60
  work=build-asan/fuzz-runs/$name
  mkdir -p "$work/corpus" "fuzz/corpus/$name"
  "$1" -max_total_time=$seconds -timeout=10 -rss_limit_mb=1024 \
    -artifact_prefix="$work/" "$work/corpus" "fuzz/corpus/$name"
}

stage_fuzz() {
  build_preset asan fuzzers
  export -f fuzz_one
  # shellcheck disable=SC2016
  find build-asan/bin -name '*_fuzzer' -type f -perm -u+x | sort |
    check_each bash -c 'fuzz_one "$1"' check
}

# changed_sources: what differs from the branch this one will join, or from the
# commit before where it has joined.
changed_sources() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [ -z "$base" ] || [ "$base" = "$(git rev-parse HEAD)" ]; then
    base=$(git rev-parse -q --verify HEAD~ || git hash-object -t tree /dev/null)
  fi
  git diff --name-only --diff-filter=d "$base" -- '*.cc'
}

stage_tidy() {
  cmake --preset asan
  local sources
  sources=$(if [ "${CAIRN_TEST_FULL:-0}" = 0 ]; then changed_sources; else tracked '*.cc'; fi |
    python3 tests/checks/compiled.py build-asan)
  [ -n "$sources" ] || return 0
  local checks=()
  [ "${CAIRN_TEST_FULL:-0}" = 0 ] || checks=(--checks='clang-analyzer-*')
  check_each clang-tidy-19 -p build-asan --quiet "${checks[@]}" <<<"$sources"
}
