#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the build compiles, and how: reads compile_commands.json.

Usage: compiled.py BUILD_DIR: copies from standard input to standard output
the names of files that this build compiles.
"""
import json
import os
import pathlib
import shlex
import subprocess
import sys


def commands(build):
    """Returns {absolute path of a source: its entry}."""
    entries = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    return {os.path.realpath(os.path.join(e["directory"], e["file"])): e for e in entries}


def compile_like(build, model, source, output, quoted_from=None):
    """Compiles `source` exactly as the build compiles `model`, ccache left out.

    Quoted includes are looked for in `quoted_from` before anywhere else.
    """
    entry = commands(build)[os.path.realpath(model)]
    words = shlex.split(entry["command"])
    if os.path.basename(words[0]) == "ccache":
        words = words[1:]
    command = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("-o", "-c", "-MF", "-MT", "-MQ"):
            skip = True
        elif word not in ("-MD", "-MMD"):
            command.append(word)
    if quoted_from:
        command += ["-iquote", str(quoted_from)]
    command += ["-c", str(source), "-o", str(output)]
    return subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)


if __name__ == "__main__":
    known = commands(sys.argv[1])
    for line in sys.stdin:
        if os.path.realpath(line.strip()) in known:
            sys.stdout.write(line)
