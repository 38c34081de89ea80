#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what crash-time objects ask of the world: nothing.

Usage: crash_time.py OBJECT_LIST ALLOW_LIST

OBJECT_LIST names one object a line. Complains about: a symbol that no crash-time
object defines and the allow list does not name; thread-local storage; access
through the thread pointer (stack protector); code or data that runs before main.
"""
import pathlib
import re
import subprocess
import sys

WHY = (
    (r"__stack_chk_fail", "stack protector: dies where the fs base is destroyed"),
    (r"__cxa_guard_|__cxa_atexit", "function-local static or destructor at exit"),
    (r"__cxa_|_Unwind_|__gxx_personality|DW\.ref", "exceptions"),
    (r"__tls_get_addr", "thread-local storage"),
    (r"_Zn[wa]|_Zd[la]|malloc|calloc|realloc|free$|posix_memalign", "allocation"),
    (r"pthread_|mtx_|sem_", "locks"),
    (r"mem(cpy|move|set|cmp)$", "libc's, not ours: is safe/libc_names.h included?"),
    (r"__(u?div|u?mod|mul|ashl|lshr|float|fix)\w*[dst]i", "libgcc arithmetic"),
    (r"__asan|__ubsan|__tsan|__sanitizer", "sanitizer"),
    (r"_GLOBAL_OFFSET_TABLE_", "global offset table"),
)
TLS_RELOCATION = re.compile(r"\bR_\w*(TPOFF|TLSGD|TLSLD|DTPMOD|DTPOFF|TLSDESC)\w*")
SYMBOL = re.compile(r"^\s*\d+:\s+[0-9a-f]+\s+\S+\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)")
EARLY_SECTION = re.compile(r"\s\.(init_array|preinit_array|ctors|fini_array|dtors|init|fini)\b")
THREAD_POINTER = re.compile(r"^\s+[0-9a-f]+:\s.*%[fg]s:.*$", re.M)


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def why(symbol):
    for pattern, reason in WHY:
        if re.match(pattern, symbol):
            return reason
    return "not defined in crash-time code"


def read_allow_list(path):
    allowed = {}
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        symbol, _, reason = (part.strip() for part in line.partition("#"))
        if symbol and not reason:
            raise SystemExit(f"{path}:{number}: {symbol} stands here without a reason")
        if symbol:
            allowed[symbol] = reason
    return allowed


def symbols(path):
    """Returns (defined globals, undefined names, thread-local names)."""
    defined, undefined, thread_local = set(), set(), set()
    for line in run("readelf", "-sW", path).splitlines():
        match = SYMBOL.match(line)
        if not match:
            continue
        kind, binding, _, section, name = match.groups()
        if kind == "TLS":
            thread_local.add(name)
        elif section == "UND":
            undefined.add(name)
        elif binding != "LOCAL":
            defined.add(name)
    return defined, undefined, thread_local


def check(objects, allowed):
    tables = {path: symbols(path) for path in objects}
    known = set(allowed).union(*(table[0] for table in tables.values()))
    for path, (_, undefined, thread_local) in tables.items():
        name = pathlib.Path(path).name
        for symbol in sorted(undefined - known):
            yield f"{name}: undefined {symbol}: {why(symbol)}"
        for symbol in sorted(thread_local):
            yield f"{name}: {symbol} is thread-local"
        for relocation in sorted(set(m[0] for m in TLS_RELOCATION.finditer(run("readelf", "-rW", path)))):
            yield f"{name}: thread-local relocation {relocation}"
        for section in sorted(set(EARLY_SECTION.findall(run("readelf", "-SW", path)))):
            yield f"{name}: section .{section}: something runs before main or at exit"
        access = THREAD_POINTER.search(run("objdump", "-d", "--no-show-raw-insn", path))
        if access:
            yield f"{name}: reads through the thread pointer: {' '.join(access[0].split())}"


def read_objects(path):
    objects = pathlib.Path(path).read_text().split()
    if not objects:
        raise SystemExit(f"{path} names no object")
    return objects


def main():
    complaints = list(check(read_objects(sys.argv[1]), read_allow_list(sys.argv[2])))
    for complaint in complaints:
        print(complaint)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
