#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks include directions against cmake/layers.txt, and that no file asks
which operating system it is built for unless its name says so.

Usage: layers.py TREE
"""
import pathlib
import re
import sys

SOURCES = (".cc", ".c", ".h", ".hpp", ".S")
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(cairn/[^>]+)>)')
OS_QUESTION = re.compile(
    r"^\s*#\s*(?:el)?if.*\b(__linux__|__APPLE__|__MACH__|TARGET_OS_\w+|_WIN32)\b")
OS_SUFFIX = re.compile(r"_(linux|mac|posix|ios)(_test)?\.\w+$")


def read_table(path):
    """Returns {folder: set of folders it may include}."""
    table = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, colon, allowed = line.partition(":")
        if not colon or folder in table:
            raise SystemExit(f"{path}:{number}: not `folder: folders`, or twice")
        table[folder] = set(allowed.split()) - {"-"}
    for folder, allowed in table.items():
        for other in allowed - {"public"}:
            if other not in table:
                raise SystemExit(f"{path}: {folder} names {other}, which has no row")
    return table


def folder_of(relative, table):
    """The row a file belongs to; the longest folder wins."""
    if relative.startswith("include/"):
        return "public"
    fits = [f for f in table if relative.startswith(f + "/")]
    return max(fits, key=len) if fits else None


def resolve(tree, source, name):
    """Path of an included file relative to the tree, or None when foreign."""
    for base in (source.parent, tree / "src", tree / "include", tree):
        candidate = (base / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(tree):
            return str(candidate.relative_to(tree))
    return None


def check_file(tree, source, table):
    relative = str(source.relative_to(tree))
    folder = folder_of(relative, table)
    allowed = set(table.get(folder, set())) | {folder}
    if source.stem.endswith("_test") or "_test_" in source.stem:
        allowed |= table.get("*_test", set())
    ask_os = folder is not None and folder.startswith("src/")
    for number, line in enumerate(source.read_text(errors="replace").splitlines(), 1):
        if ask_os and OS_QUESTION.match(line) and not OS_SUFFIX.search(source.name):
            yield f"{relative}:{number}: an OS `#if` belongs into a file named _linux, _mac or _posix"
        match = INCLUDE.match(line)
        if not match:
            continue
        name = match[1] or match[2]
        target = resolve(tree, source, name)
        if target is None:
            if name.split("/")[0] in {f.split("/")[-1] for f in table}:
                yield f"{relative}:{number}: includes {name}, which is not there"
            continue
        into = folder_of(target, table)
        if into is not None and into not in allowed:
            yield f"{relative}:{number}: {folder} may not include {into} ({name})"


def check(tree):
    """Returns (files looked at, complaints, folders seen)."""
    tree = pathlib.Path(tree).resolve()
    table = read_table(tree / "cmake/layers.txt")
    files = sorted(
        path
        for top in {folder.split("/")[0] for folder in table if "*" not in folder}
        for path in (tree / top).rglob("*")
        if path.suffix in SOURCES and "node_modules" not in path.parts)
    complaints = [c for path in files for c in check_file(tree, path, table)]
    for path in sorted((tree / "src").iterdir()):
        if path.is_dir() and f"src/{path.name}" not in table:
            complaints.append(f"cmake/layers.txt: no row for src/{path.name}")
    return len(files), complaints, {folder_of(str(p.relative_to(tree)), table) for p in files}


def main():
    files, complaints, _ = check(sys.argv[1])
    for complaint in complaints:
        print(complaint)
    bad = len({c.split(":")[0] for c in complaints})
    print(f"{files - bad} passed, {bad} failed")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
