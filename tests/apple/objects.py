#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what crash-time Mach-O objects ask of the world, as
tests/checks/crash_time.py does for ELF: symbols that neither such an object nor
the allow list has, thread-local storage, code that runs before main.

Usage: objects.py OBJECT_LIST ALLOW_LIST
"""
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "checks"))
from crash_time import read_allow_list, read_objects, why  # noqa: E402

EARLY = ("__mod_init_func", "__mod_term_func", "__init_offsets")
THREAD_LOCAL = ("__thread_data", "__thread_bss", "__thread_vars", "__thread_ptrs")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def names(path, *flags):
    return {line.split()[-1] for line in run("llvm-nm-19", *flags, path).splitlines() if line.strip()}


def sections(path):
    return {line.split()[1] for line in run("llvm-objdump-19", "--section-headers", path).splitlines()
            if line.split() and line.split()[0].isdigit()}


def check(objects, allowed):
    defined = {path: names(path, "--defined-only", "--extern-only") for path in objects}
    known = set(allowed).union(*defined.values())
    used = set()
    for path in objects:
        name = pathlib.Path(path).name
        undefined = names(path, "--undefined-only")
        used |= undefined
        for symbol in sorted(undefined - known):
            yield f"{name}: undefined {symbol}: {why(symbol.removeprefix('_'))}"
        for section in sorted(sections(path) & set(EARLY)):
            yield f"{name}: section {section}: something runs before main or at exit"
        for section in sorted(sections(path) & set(THREAD_LOCAL)):
            yield f"{name}: section {section}: thread-local storage"
    # Some calls have another name on one architecture.
    other = {symbol for symbol in allowed if any(
        symbol != name and symbol.split("$")[0] == name.split("$")[0] for name in used)}
    for symbol in sorted(set(allowed) - used - other):
        yield f"the allow list names {symbol}, which no object asks for"


def main():
    objects = read_objects(sys.argv[1])
    complaints = list(check(objects, read_allow_list(sys.argv[2])))
    for complaint in complaints:
        print(complaint)
    bad = len({c.split(":")[0] for c in complaints})
    print(f"{max(len(objects) - bad, 0)} passed, {bad} failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
