#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links a Mach-O program with chained fixups, which the cross compiler's own
linker does not make: its driver is asked what it would link, and LLVM's linker
links that.

Usage: link_chained.py COMPILER ARCH OUTPUT INPUT…
"""
import pathlib
import re
import shlex
import subprocess
import sys


def libraries(compiler, inputs, scratch):
    """The static run-time libraries of the compiler, and its libSystem stub."""
    words = subprocess.run([compiler, "-v", "-o", scratch, *inputs],
                           check=True, capture_output=True, text=True)
    lines = [line for line in (words.stderr + words.stdout).splitlines()
             if line.startswith("zig ld ")]
    if not lines:
        raise SystemExit(f"{compiler} -v tells no link line")
    archives = [word for word in shlex.split(lines[-1])
                if re.search(r"/lib(c\+\+|c\+\+abi|compiler_rt)\.a$", word)]
    if len(archives) != 3:
        raise SystemExit(f"not the three libraries expected: {archives}")
    zig = re.search(r"exec '([^']+)'", pathlib.Path(compiler).read_text())[1]
    return archives + [str(pathlib.Path(zig).parent / "lib/libc/darwin/libSystem.11.tbd")]


def main():
    compiler, arch, output, *inputs = sys.argv[1:]
    system = libraries(compiler, inputs, output + ".classic")
    pathlib.Path(output + ".classic").unlink()
    subprocess.run(["ld64.lld-19", "-arch", arch, "-platform_version", "macos", "11.0", "11.0",
                    "-fixup_chains", "-dead_strip", "-o", output, *inputs, *system], check=True)


if __name__ == "__main__":
    main()
