#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that know nothing of Cairn crash with the preload and without it.

With it: the report's crashed stack equals, address by address, what gdb reads from the
core of the same crash, and so do the registers. Both ways: same wait status, same siginfo and thread count in the
core. Usage: foreign_test.py BUILD_DIR
"""
import glob
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time

GDB = """
set debuginfod enabled off
set backtrace past-main on
set backtrace past-entry on
python
import gdb
frame = gdb.newest_frame()
while frame is not None:
    if frame.type() != gdb.INLINE_FRAME:
        print('frame', hex(frame.pc()))
    frame = frame.older()
info = gdb.parse_and_eval('$_siginfo')
print('siginfo', int(info['si_signo']), int(info['si_code']))
for name in ('rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip').split():
    value = int(gdb.newest_frame().read_register(name).cast(gdb.lookup_type('long')))
    print('register', name, hex(value & (1 << 64) - 1))
print('threads', len(gdb.selected_inferior().threads()))
end
"""

SQLITE_EXTENSION = """
int sqlite3_fault_init(void *db, char **error, const void *api) {
  *(volatile int *)0 = 1;
  return 0;
}
"""
INFLATE = """
int inflate(void *stream, int flush) {
  *(volatile int *)0 = flush;
  return 0;
}
"""


def build_library(folder, name, source):
    path = os.path.join(folder, name + '.so')
    with open(os.path.join(folder, name + '.c'), 'w') as file:
        file.write(source)
    subprocess.run(['cc', '-O1', '-shared', '-fPIC', '-o', path, file.name], check=True)
    return path


def cases(folder):
    extension = build_library(folder, 'fault', SQLITE_EXTENSION)
    inflate = build_library(folder, 'inflate', INFLATE)
    repository = os.path.join(folder, 'repository')
    subprocess.run(['git', 'init', '-q', repository], check=True)
    subprocess.run(['git', '-c', 'user.name=n', '-c', 'user.email=e@example.org', '-C', repository,
                    'commit', '-q', '--allow-empty', '-m', 'one'], check=True)
    # Without a change of directory, so that the core is where the test looks.
    git = ['git', '--git-dir', os.path.join(repository, '.git')]
    sleep = {
        'python3': ['python3', '-c', 'import time; time.sleep(60)'],
        'perl': ['perl', '-e', 'sleep 60'],
        'sqlite3': ['sqlite3', '-interactive', ':memory:'],
        'git': git + ['cat-file', '--batch'],
    }
    yield 'python3', ['/usr/bin/python3', '-c', 'import ctypes; ctypes.string_at(0)'], '', False
    yield 'perl', ['perl', '-e', 'kill 11, $$; sleep 1'], '', False
    yield 'sqlite3', ['sqlite3', ':memory:', '.load ' + extension], '', False
    yield 'git', git + ['log'], inflate, False
    for name, words in sleep.items():
        yield name + ' from outside', words, '', True


def run_case(words, preload, outside, work):
    """Runs in `work`; returns the wait status and the core's path."""
    environment = dict(os.environ, CAIRN_DIRECTORY=os.path.join(work, 'reports'))
    environment.pop('LD_PRELOAD', None)
    if preload:
        environment['LD_PRELOAD'] = ':'.join(preload)
    process = subprocess.Popen(
        words, cwd=work, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)))
    if outside:
        time.sleep(0.7)  # until it waits
        process.send_signal(signal.SIGSEGV)
    process.wait(timeout=60)
    process.stdin.close()
    cores = glob.glob(os.path.join(work, 'core*'))
    return process.returncode, cores[0] if cores else None


def read_core(program, core, work):
    script = os.path.join(work, 'script.gdb')
    with open(script, 'w') as file:
        file.write(GDB)
    output = subprocess.run(['gdb', '-q', '-nx', '-batch', program, core, '-x', script],
                            capture_output=True, text=True, cwd='/').stdout
    lines = [line.split() for line in output.splitlines()]
    return {
        'frames': [int(line[1], 16) for line in lines if line[:1] == ['frame'] and len(line) == 2],
        'registers': {line[1]: int(line[2], 16) for line in lines if line[:1] == ['register']},
        'siginfo': [line[1:] for line in lines if line[:1] == ['siginfo']],
        'threads': [line[1:] for line in lines if line[:1] == ['threads']],
    }


def check_case(build, words, extra, outside):
    problems = []
    extra = [extra] if extra else []
    with tempfile.TemporaryDirectory() as with_it, tempfile.TemporaryDirectory() as without:
        preload = [os.path.join(build, 'lib', 'libcairn-preload.so')] + extra
        status, core = run_case(words, preload, outside, with_it)
        plain_status, plain_core = run_case(words, extra, outside, without)
        if status != plain_status:
            problems.append(f'status {status}, without Cairn {plain_status}')
        if core is None or plain_core is None:
            return problems + ['no core: is core_pattern a plain name?']
        reports = glob.glob(os.path.join(with_it, 'reports', '*.cairn'))
        if len(reports) != 1:
            return problems + [f'{len(reports)} reports']
        shown = subprocess.run([os.path.join(build, 'bin', 'cairn'), 'show', '--json', reports[0]],
                               capture_output=True, text=True)
        if shown.returncode != 0:
            problems.append(f'cairn show: {shown.returncode}')
        report = json.loads(shown.stdout)
        ours = [int(frame['address'], 16) for frame in report['threads'][0]['frames']
                if not frame.get('inlined')]
        program = report['process']['path']
        theirs = read_core(program, core, with_it)
        plain = read_core(program, plain_core, without)
        if ours != theirs['frames']:
            problems.append('stack ' + ' '.join(map(hex, ours)) + '\n     gdb ' +
                            ' '.join(map(hex, theirs['frames'])))
        registers = report['threads'][0]['registers']
        for name, value in theirs['registers'].items():
            if int(registers[name], 16) != value:
                problems.append(f'{name} {registers[name]}, gdb {value:#x}')
        if len(theirs['registers']) != 17:
            problems.append('gdb tells no registers')
        for fact in ('siginfo', 'threads'):
            if theirs[fact] != plain[fact] or not theirs[fact]:
                problems.append(f'{fact} {theirs[fact]}, without Cairn {plain[fact]}')
        if len(report['threads']) != int(theirs['threads'][0][0]):
            problems.append(f"{len(report['threads'])} threads, gdb {theirs['threads']}")
    return problems


def main():
    build = os.path.abspath(sys.argv[1])
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, words, extra, outside in cases(folder):
            problems = check_case(build, words, extra, outside)
            print(('not ok ' if problems else 'ok ') + name)
            for problem in problems:
                print('   ', problem)
            failed += 1 if problems else 0
            passed += 0 if problems else 1
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
