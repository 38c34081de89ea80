#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a linked shared library: what it shows the world, what it needs, and
how it is loaded.

Usage: libraries.py LIBRARY [EXPORT…]: complains unless it is bound at once, never
unloaded, without a thread-local segment or an executable stack, needs only the
C and C++ run-time libraries, and exports only `cairn_…` and EXPORT.
"""
import re
import subprocess
import sys

RUN_TIME = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|libpthread|libdl|ld-linux-x86-64)\.so\.\d+")
SYMBOL = re.compile(r"^\s*\d+:\s+\S+\s+\S+\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)\s+(\S+)", re.M)


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], check=True, capture_output=True,
                          text=True).stdout


def exported(path):
    return {match[4].split("@")[0]
            for match in SYMBOL.finditer(readelf("--dyn-syms", path))
            if match[2] != "LOCAL" and match[3] != "UND"}


def check(path, also=()):
    dynamic, segments = readelf("-d", path), readelf("-l", path)
    for name in sorted(exported(path)):
        if not name.startswith("cairn_") and name not in also:
            yield f"exports {name}"
    if not re.search(r"\bBIND_NOW\b|\bNOW\b", dynamic):
        yield "is bound lazily (-z now)"
    if "NODELETE" not in dynamic:
        yield "may be unloaded (-z nodelete)"
    if re.search(r"^\s+TLS\s", segments, re.M):
        yield "has thread-local storage"
    if re.search(r"GNU_STACK.*RWE", segments):
        yield "wants an executable stack"
    if "TEXTREL" in dynamic:
        yield "has relocations in its code"
    for name in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
        if not RUN_TIME.fullmatch(name):
            yield f"needs {name}"


if __name__ == "__main__":
    complaints = list(check(sys.argv[1], sys.argv[2:]))
    print("\n".join(complaints))
    sys.exit(1 if complaints else 0)
