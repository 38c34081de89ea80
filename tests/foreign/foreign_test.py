#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that know nothing of Cairn crash with the preload and without it.

With it: the report's crashed stack equals, frame by frame, what gdb reads from the core of
the same crash: address, function, module; and so do the registers. Both ways: same wait
status, same siginfo, registers and thread count in the core. Usage: foreign_test.py BUILD_DIR

How names are compared. Inlined frames are left out on both sides. A function has many names
in a C library (poll, __poll, __GI___poll): two names are the same when nm gives them the same
address, in the module or in its separate debug file; a version behind an @ is cut off. Where
gdb names the nearest symbol before an address although by its own size it does not reach so
far, no name is expected. Nothing else is changed, and no other name is let pass.

How registers are compared between the two runs, whose layouts differ: a pointer into a file's
mapping by its distance from the file's base, a pointer into the stack by its distance from the
stack pointer, a pointer into any other mapping by that alone, every other value exactly. A
register that differs already between two runs without Cairn (a process id, a random number) is
left out, and named in the output. One difference the kernel forces: a thread that a signal
found waiting in a system call has a restart code in rax (-512 to -516), and -EINTR once any
handler of any program has run; the two count as the same. The environments of the runs have the
same length, since strings of it stand above the stack.
"""
import functools
import glob
import json
import os
import re
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
        module = gdb.solib_name(frame.pc()) or gdb.current_progspace().filename
        print('frame', hex(frame.pc()), frame.name() or '?', module)
    frame = frame.older()
info = gdb.parse_and_eval('$_siginfo')
print('siginfo', int(info['si_signo']), int(info['si_code']))
for name in ('rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip').split():
    value = int(gdb.newest_frame().read_register(name).cast(gdb.lookup_type('long')))
    print('register', name, hex(value & (1 << 64) - 1))
for line in gdb.execute('info proc mappings', to_string=True).splitlines():
    words = line.split()
    if len(words) == 5 and words[0].startswith('0x'):
        print('file', words[0], words[1], words[4])
for line in gdb.execute('maint info sections', to_string=True).splitlines():
    words = line.replace('->', ' ').split()
    if len(words) > 3 and any(word.startswith('load') for word in words):
        print('memory', words[1], words[2])
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


def wait_until_it_waits(process, program):
    """Until the program itself, not a script around it, stands in one system call."""
    folder = f'/proc/{process.pid}'
    same, before = 0, ''
    deadline = time.monotonic() + 30
    while same < 6 and time.monotonic() < deadline:
        time.sleep(0.05)
        with open(f'{folder}/syscall') as file:
            now = file.read()
        own = os.path.basename(os.readlink(f'{folder}/exe')).startswith(program)
        same = same + 1 if own and now == before and now != 'running\n' else 0
        before = now


def run_case(words, preload, padding, outside, work):
    """Runs in `work`; returns the wait status and the core's path. `padding` makes up for a
    longer LD_PRELOAD in another run."""
    environment = dict(os.environ, CAIRN_DIRECTORY=os.path.join(work, 'reports'))
    environment['LD_PRELOAD'] = ':'.join(preload)
    environment['PADDING'] = 'x' * padding
    process = subprocess.Popen(
        words, cwd=work, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)))
    if outside:
        wait_until_it_waits(process, words[0])
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
        'frames': [(int(line[1], 16), line[2], line[3]) for line in lines
                   if line[:1] == ['frame'] and len(line) == 4],
        'files': [(int(line[1], 16), int(line[2], 16), line[3]) for line in lines
                  if line[:1] == ['file'] and len(line) == 4],
        'memory': [(int(line[1], 16), int(line[2], 16)) for line in lines
                   if line[:1] == ['memory'] and len(line) == 3],
        'registers': {line[1]: int(line[2], 16) for line in lines if line[:1] == ['register']},
        'siginfo': [line[1:] for line in lines if line[:1] == ['siginfo']],
        'threads': [line[1:] for line in lines if line[:1] == ['threads']],
    }


def debug_file(path):
    """The separate debug file of a module by its build-id, or None."""
    notes = subprocess.run(['readelf', '-n', path], capture_output=True, text=True).stdout
    found = re.search(r'Build ID: ([0-9a-f]+)', notes)
    if not found:
        return None
    file = f'/usr/lib/debug/.build-id/{found[1][:2]}/{found[1][2:]}.debug'
    return file if os.path.exists(file) else None


@functools.lru_cache(maxsize=None)
def symbols(path):
    """name → {(address, size)} of a module's functions."""
    found = {}
    for file, words in ((path, ['-D']), (path, []), (debug_file(path), [])):
        if file is None:
            continue
        output = subprocess.run(['nm', '-S', '--defined-only'] + words + [file],
                                capture_output=True, text=True).stdout
        for line in output.splitlines():
            parts = line.split()
            if len(parts) == 4 and parts[2] in 'tTwWiI':
                name = parts[3].split('@')[0]
                found.setdefault(name, set()).add((int(parts[0], 16), int(parts[1], 16)))
    return found


@functools.lru_cache(maxsize=None)
def link_base(path):
    """The link-time address of a module's first byte in memory."""
    headers = subprocess.run(['readelf', '-lW', path], capture_output=True, text=True).stdout
    return min((int(line.split()[2], 16) & -4096 for line in headers.splitlines()
                if line.strip().startswith('LOAD')), default=0)


def same_function(module, offset, ours, theirs):
    """`offset`: the looked-up address as the module was linked."""
    known = symbols(module)
    if theirs != '?' and not any(start <= offset < start + size
                                 for start, size in known.get(theirs, ())):
        theirs = '?'  # gdb reaches across a gap
    if ours == theirs:
        return True
    return bool({start for start, _ in known.get(ours, ())} &
                {start for start, _ in known.get(theirs, ())})


def compare_stacks(report, theirs):
    ours = [frame for frame in report['threads'][0]['frames'] if not frame.get('inlined')]
    if [int(frame['address'], 16) for frame in ours] != [pc for pc, _, _ in theirs]:
        return ['stack ' + ' '.join(frame['address'] for frame in ours) + '\n     gdb ' +
                ' '.join(hex(pc) for pc, _, _ in theirs)]
    problems = []
    for frame, (pc, name, module) in zip(ours, theirs):
        path = os.path.realpath(frame.get('module_path', ''))
        if path != os.path.realpath(module):
            problems.append(f'{pc:#x}: module {path}, gdb {module}')
            continue
        back = 1 if frame['kind'] == 'return' else 0
        own = frame.get('function_mangled', frame.get('function', '?')).split('@')[0]
        offset = int(frame['module_offset'], 16) + link_base(path) - back
        if not same_function(path, offset, own, name):
            problems.append(f'{pc:#x} in {module}: {own}, gdb {name}')
    return problems


def place(core, name):
    """A register's value in words that do not depend on the layout."""
    value = core['registers'][name]
    for low, high, path in core['files']:
        if low <= value < high:
            base = min(start for start, _, file in core['files'] if file == path)
            return f'{os.path.basename(path)}+{value - base:#x}'
    pointer = core['registers']['rsp']
    for low, high in core['memory']:
        if low <= value < high:
            on_stack = low <= pointer < high
            return f'rsp{value - pointer:+#x}' if on_stack else 'memory'
    return hex(value)


def compare_cores(ours, plain, other):
    """Registers of the core with Cairn against those of two cores without."""
    problems = []
    # r11 behind a system call is a copy of the flags: those of the arithmetic before it
    # hang on what the loader compared.
    for core in (ours, plain, other):
        core['registers']['r11'] &= ~0x8d5
    for name in ours['registers']:
        here, there, again = (place(core, name) for core in (ours, plain, other))
        if there != again:
            print(f'    {name} is not the same twice without Cairn either')
        elif name == 'rax' and ours['registers'][name] == (1 << 64) - 4 and \
                (1 << 64) - 516 <= plain['registers'][name] <= (1 << 64) - 512:
            continue
        elif here != there:
            problems.append(f'core: {name} {here}, without Cairn {there}')
    return problems


def check_case(build, words, extra, outside):
    problems = []
    extra = [extra] if extra else []
    with tempfile.TemporaryDirectory() as with_it, tempfile.TemporaryDirectory() as without, \
            tempfile.TemporaryDirectory() as again:
        library = os.path.join(build, 'lib', 'libcairn-preload.so')
        padding = len(':'.join([library] + extra)) - len(':'.join(extra))
        status, core = run_case(words, [library] + extra, 0, outside, with_it)
        plain_status, plain_core = run_case(words, extra, padding, outside, without)
        _, other_core = run_case(words, extra, padding, outside, again)
        if status != plain_status:
            problems.append(f'status {status}, without Cairn {plain_status}')
        if None in (core, plain_core, other_core):
            return problems + ['no core: is core_pattern a plain name?']
        reports = glob.glob(os.path.join(with_it, 'reports', '*.cairn'))
        if len(reports) != 1:
            return problems + [f'{len(reports)} reports']
        shown = subprocess.run([os.path.join(build, 'bin', 'cairn'), 'show', '--json', reports[0]],
                               capture_output=True, text=True)
        if shown.returncode != 0:
            problems.append(f'cairn show: {shown.returncode}')
        report = json.loads(shown.stdout)
        program = report['process']['path']
        theirs = read_core(program, core, with_it)
        plain = read_core(program, plain_core, without)
        other = read_core(program, other_core, again)
        problems += compare_stacks(report, theirs['frames'])
        registers = report['threads'][0]['registers']
        for name, value in theirs['registers'].items():
            if int(registers[name], 16) != value:
                problems.append(f'{name} {registers[name]}, gdb {value:#x}')
        if len(theirs['registers']) != 17:
            problems.append('gdb tells no registers')
        problems += compare_cores(theirs, plain, other)
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
