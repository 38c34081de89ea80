#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the Mach-O programs and libraries of a build for Apple systems: what
they are, what they need, what they export, how they are bound.

Usage: programs.py BUILD ARCH
"""
import pathlib
import re
import subprocess
import sys

CPU = {"x86_64": "X86_64", "arm64": "ARM64"}
KIND = {"bin/cairn": "EXECUTE", "bin/crasher": "EXECUTE", "bin/crasher_chained": "EXECUTE",
        "lib/libcairn.dylib": "DYLIB"}
SYSTEM = "/usr/lib/libSystem.B.dylib"


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def headers(path):
    return run("llvm-objdump-19", "--macho", "--private-headers", str(path))


def is_built(path, arch, kind):
    """Architecture and file type, told by LLVM, not by the name."""
    words = run("llvm-objdump-19", "--macho", "--private-header", str(path)).split()
    assert CPU[arch] in words, f"not for {arch}: {words}"
    assert kind in words, f"no {kind}: {words}"


def has_uuid(path):
    assert re.search(r"cmd LC_UUID", headers(path)), "no LC_UUID: reports could not name it"


def needs_the_system_alone(path):
    """Nothing is to be shipped with a program: zlib and curl are loaded when used."""
    needed = re.findall(r"cmd LC_LOAD(?:_WEAK)?_DYLIB\n.*\n\s*name (\S+)", headers(path))
    assert needed and set(needed) == {SYSTEM}, f"needs {needed}"


def is_bound(path, chained):
    text = headers(path)
    assert ("LC_DYLD_CHAINED_FIXUPS" in text) == chained, "chained fixups: " + str(not chained)
    assert ("LC_DYLD_INFO" in text) != chained, "classic binds: " + str(chained)


def exports_the_api(path):
    """All of it. What else the cross linker exports is not looked at: it ignores
    that a symbol is private, which a Mac's linker does not."""
    symbols = set(re.findall(r"\s(_cairn_\w+)",
                             run("llvm-objdump-19", "--macho", "--exports-trie", str(path))))
    header = pathlib.Path("include/cairn/cairn.h").read_text()
    api = {"_" + name for name in re.findall(r"CAIRN_API[^;(]*?\b(cairn_\w+)\(", header)}
    assert api and api <= symbols, f"not exported: {api - symbols}"


def has_symbol(path, name):
    """The crashing functions can be found by name: LC_SYMTAB holds locals."""
    assert re.search(rf"\bt \S*{name}\S*$", run("llvm-nm-19", str(path)), re.M), f"no {name}"


def checks(build, arch):
    for name, kind in KIND.items():
        yield f"{name} is built for {arch}", is_built, (build / name, arch, kind)
        yield f"{name} needs the system alone", needs_the_system_alone, (build / name,)
    for name in ("bin/cairn", "bin/crasher", "bin/crasher_chained"):
        yield f"{name} has a UUID", has_uuid, (build / name,)
    yield "crasher has classic binds", is_bound, (build / "bin/crasher", False)
    yield "crasher_chained has chained fixups", is_bound, (build / "bin/crasher_chained", True)
    yield "libcairn.dylib exports the API", exports_the_api, (build / "lib/libcairn.dylib",)
    yield "crasher has its functions' names", has_symbol, (build / "bin/crasher", "NullWrite")


def main():
    passed = failed = 0
    for what, check, arguments in checks(pathlib.Path(sys.argv[1]), sys.argv[2]):
        try:
            check(*arguments)
            passed += 1
        except (AssertionError, subprocess.CalledProcessError) as error:
            failed += 1
            print(f"{what}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
