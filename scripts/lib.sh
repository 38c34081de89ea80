# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What the scripts share: words on the terminal, seconds, missing packages.
# Sourced, never run. Honours NO_COLOR (https://no-color.org).

cairn_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# shellcheck disable=SC2034  # used by the scripts that source this
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ] && [ "${TERM:-dumb}" != dumb ]; then
  bold=$'\e[1m' red=$'\e[31m' green=$'\e[32m' dim=$'\e[2m' plain=$'\e[0m'
else
  # shellcheck disable=SC2034
  bold='' red='' green='' dim='' plain=''
fi

# say WORDS…: one line for the person who watches.
say() { printf '%s\n' "$*"; }

# die WORDS…: what went wrong, on standard error; ends the script.
die() {
  printf '%serror:%s %s\n' "$red" "$plain" "$*" >&2
  exit 1
}

# now_ms: milliseconds of a clock, to be subtracted.
now_ms() { echo $((${EPOCHREALTIME//[!0-9]/} / 1000)); }

# seconds_since MS: "12.3", from a value of now_ms.
seconds_since() {
  local ms=$(($(now_ms) - $1))
  printf '%d.%d' $((ms / 1000)) $((ms % 1000 / 100))
}

# package_names demo|test: names in scripts/packages; for `test` all of them.
package_names() {
  if [ "$1" = test ]; then
    sed -E 's/#.*//; s/[[:space:]]+//g; /^$/d' "$cairn_root/scripts/packages"
  else
    sed -E '/#[[:space:]]*test:/d; s/#.*//; s/[[:space:]]+//g; /^$/d' \
      "$cairn_root/scripts/packages"
  fi
}

# provided PACKAGE: 0 where it is installed or something else does its work.
provided() {
  if dpkg-query -W -f='${db:Status-Status}\n' "$1" 2>/dev/null | grep -qx installed; then
    return 0
  fi
  # Node.js packaged by its own makers brings npm along.
  [ "$1" = npm ] && command -v npm >/dev/null
}

# install_missing demo|test: installs what is missing and only that, quietly.
install_missing() {
  local package missing=() log started
  while read -r package; do
    provided "$package" || missing+=("$package")
  done < <(package_names "$1")
  [ ${#missing[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || die "missing packages, and only root can install them: ${missing[*]}"
  started=$(now_ms)
  log=$(mktemp)
  say "installing ${#missing[@]} packages: ${missing[*]}"
  if ! { apt-get update -q && apt_install "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    die "apt-get could not install: ${missing[*]} (whole output: $log)"
  fi
  rm -f "$log"
  say "installed in $(seconds_since "$started") s"
}

apt_install() {
  DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
    -o Dpkg::Use-Pty=0 "$@"
}
