"""Grades a batch of rows with somebody's grade(sample, item), each row in a process of its own.

    python3 -I -c <this text> <file of the batch>

The file has a line with the source and the limits, then a line for each row. Printed, a line each: that a row is begun,
how it ended, and that the batch has. Processes and files that a row leaves behind are gone before the next one begins;
where they cannot be removed the container is told to be spoiled, and nothing more is graded in it.
"""

import contextlib
import ctypes
import json
import math
import numbers
import os
import resource
import select
import signal
import stat
import struct
import subprocess
import sys
import time
import types

# A grader that needs one of these has it without reading a file in every row.
import collections, difflib, re, string  # noqa: E401,F401

REPLY_FD = 3
REPLY_BYTES_MAX = 16384
REASON_CHARS_MAX = 1000
FORK_TRIES = 50
FORK_PAUSE_S = 0.02
KILL_BUDGET_S = 5
STOP_PASSES = 40
CLEAN_BUDGET_S = 5
PLAIN_FILES_MAX = 64
LEFT_NAMES_MAX = 4096
FILE_BYTES_MAX = 64 * 1024 * 1024
DESCRIPTORS_MAX = 1024
PROCESSES_MAX = 128
FOLDER = '/mnt/data'
WRITABLE = (FOLDER, '/tmp', '/dev/shm')
CONTAINER_MARK = '/opt/switchyard/supervise'

PR_SET_DUMPABLE, PR_SET_SECCOMP, PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 4, 22, 36, 38
libc = ctypes.CDLL(None, use_errno=True)


class Spoiled(Exception):
    pass


# --- Out of the reach of what is graded ---------------------------------------------------------------------------

# By machine: what a filter calls it, calls whose first argument is a process, and calls that are refused.
CALLS = {
    'x86_64': (0xC000003E, (62, 200, 234, 302), (101, 129, 297, 310, 311, 424)),
    'aarch64': (0xC00000B7, (129, 130, 131, 261), (117, 138, 240, 270, 271, 424)),
}
LOAD, EQUAL, AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1
FOREIGN_CALLS = 0x40000000
NUMBER_AT, MACHINE_AT, FIRST_ARGUMENT_AT = 0, 4, 16


def shield(protected):
    """This process and those above it cannot be signalled, traced or limited from below, nor everybody at once.

    Best effort: without it a grader that kills this process costs its own row, and time.
    """
    machine, about_process, refused = CALLS.get(os.uname().machine, (0, (), ()))
    if machine == 0:
        return
    steps = [(LOAD, 0, 0, MACHINE_AT), (EQUAL, 1, 0, machine), (RETURN, 0, 0, REFUSE)]
    steps += [(LOAD, 0, 0, NUMBER_AT), (AT_LEAST, 0, 1, FOREIGN_CALLS), (RETURN, 0, 0, REFUSE)]
    for number in refused:
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE)]
    for at, number in enumerate(about_process):
        steps.append((EQUAL, len(about_process) - at, 0, number))
    steps += [(RETURN, 0, 0, ALLOW), (LOAD, 0, 0, FIRST_ARGUMENT_AT)]
    for pid in [-1, *protected, *(-pid for pid in protected)]:
        steps += [(EQUAL, 0, 1, pid & 0xFFFFFFFF), (RETURN, 0, 0, REFUSE)]
    steps.append((RETURN, 0, 0, ALLOW))
    code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(steps), ctypes.addressof(code)))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(PR_SET_SECCOMP, 2, program, 0, 0)


def find_parent(pid):
    with open(f'/proc/{pid}/stat', 'rb') as file:
        return int(file.read().rpartition(b')')[2].split()[1])


def list_ancestors():
    found, pid = [], os.getpid()
    while pid > 1:
        found.append(pid)
        pid = find_parent(pid)
    return found


# --- What a row leaves behind -------------------------------------------------------------------------------------


def has_children():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            continue
        return True
    except ChildProcessError:
        return False


def list_descendants():
    parents = {}
    for name in os.listdir('/proc'):
        try:
            if name.isdigit():
                parents[int(name)] = find_parent(name)
        except OSError:
            continue
    found, more = set(), {os.getpid()}
    while more:
        more = {pid for pid, parent in parents.items() if parent in more}
        found |= more
    return found


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def kill_rest():
    """Orphans of what was graded are children of this process, which is how it knows that there are none."""
    until = time.monotonic() + KILL_BUDGET_S
    while has_children():
        if time.monotonic() > until:
            raise Spoiled('processes that cannot be ended')
        # Stopping all of them first is what wins against a fork bomb: killed one by one, they are replaced as fast.
        seen = set()
        for _ in range(STOP_PASSES):
            found = list_descendants()
            if found <= seen:
                break
            signal_all(found, signal.SIGSTOP)
            seen |= found
        signal_all(list_descendants(), signal.SIGKILL)


def clean_files():
    os.chmod(FOLDER, 0o755)
    for place in WRITABLE:
        names = os.listdir(place)
        for name in names[:PLAIN_FILES_MAX]:
            path = os.path.join(place, name)
            if not stat.S_ISDIR(os.lstat(path).st_mode):
                os.unlink(path)
        left = [os.path.join(place, name) for name in os.listdir(place)] if names else []
        # Whoever leaves more than a command can name leaves more than is worth a wait.
        if len(left) > LEFT_NAMES_MAX:
            raise Spoiled('too many files')
        if left:
            subprocess.run(['rm', '-rf', '--', *left], timeout=CLEAN_BUDGET_S, check=True, stderr=subprocess.DEVNULL)


# --- In the process of a row --------------------------------------------------------------------------------------


def is_gvisor():
    """There a limit on processes counts those of the container. Elsewhere it counts the user's on the whole machine."""
    release = os.uname().release
    return release == '4.4.0' or 'gvisor' in release.lower()


def limit(settings):
    seconds = math.ceil(settings['row_ms'] / 1000) + 1
    for which, most in (
        (resource.RLIMIT_AS, settings['memory_bytes']),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, FILE_BYTES_MAX),
        (resource.RLIMIT_NOFILE, DESCRIPTORS_MAX),
        (resource.RLIMIT_CORE, 0),
        *(((resource.RLIMIT_NPROC, PROCESSES_MAX),) if is_gvisor() else ()),
    ):
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(which, (most, most))


def become_row(writer):
    os.setsid()
    os.dup2(os.open('/dev/null', os.O_RDWR), 0)
    # Nobody reads what is printed. Going to a file, it has the limit of one.
    printed = os.memfd_create('printed')
    for fd in (1, 2):
        os.dup2(printed, fd)
    os.dup2(writer, REPLY_FD, inheritable=False)
    os.closerange(REPLY_FD + 1, DESCRIPTORS_MAX)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    os.chdir('/tmp')


def describe(error, settings):
    name, message = type(error).__name__, str(error)
    if isinstance(error, MemoryError) and message == '':
        message = f'a row has at most {settings["memory_bytes"] // 2**20} MiB'
    line, frame = None, error.__traceback__
    while frame is not None:
        if frame.tb_frame.f_code.co_filename == '<grader>':
            line = frame.tb_lineno
        frame = frame.tb_next
    reason = f'{name}: {message}'[:REASON_CHARS_MAX] if message else name[:REASON_CHARS_MAX]
    return reason if line is None else f'{reason} (line {line})'


def score_of(value):
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        kind = 'None' if value is None else f'a value of the type {type(value).__name__[:REASON_CHARS_MAX]}'
        return {'error': f'grade() returned {kind}, and has to return a number'}
    try:
        score = float(value)
    except OverflowError:
        return {'error': 'grade() returned a number that is too large'}
    if not math.isfinite(score):
        return {'error': f'grade() returned {score}, and has to return a finite number'}
    return {'score': score}


def grade(line, settings):
    try:
        row = json.loads(line)
        module = types.ModuleType('grader')
        sys.modules['grader'] = module
        exec(compile(settings['source'], '<grader>', 'exec', dont_inherit=True), module.__dict__)
        function = module.__dict__.get('grade')
        if not callable(function):
            return {'error': 'the source has no function grade(sample, item)'}
        return score_of(function(row['sample'], row['item']))
    except BaseException as error:
        try:
            return {'error': describe(error, settings)}
        except BaseException:
            return {'error': 'an exception that cannot be shown'}


def reply_as_row(line, settings, writer):
    pid, leave, dump, write = os.getpid(), os._exit, json.dumps, os.write
    try:
        become_row(writer)
        limit(settings)
        reply = grade(line, settings)
        # A process that the grader forked has come back through the same code: it has nothing to say.
        if os.getpid() == pid:
            write(REPLY_FD, dump(reply).encode()[: REPLY_BYTES_MAX - 1] + b'\n')
    finally:
        leave(0)


# --- In this process ----------------------------------------------------------------------------------------------


def fork_patiently():
    """A limit that is full because of processes that are just ending frees itself within moments."""
    for _ in range(FORK_TRIES):
        try:
            return os.fork()
        except OSError:
            time.sleep(FORK_PAUSE_S)
    raise Spoiled('no process can be started')


def take(reader, reply):
    """What has come through the pipe; None when nobody can send any more."""
    while len(reply) < REPLY_BYTES_MAX:
        try:
            more = os.read(reader, REPLY_BYTES_MAX - len(reply))
        except BlockingIOError:
            return reply
        if not more:
            return None if reply == b'' else reply + b'\n'
        reply += more
    return reply


def wait_for_reply(pid, reader, wake, row_ms):
    """The line that the process of a row sent, or why there is none."""
    until, reply = time.monotonic() + row_ms / 1000, b''
    poll = select.poll()
    poll.register(reader, select.POLLIN)
    poll.register(wake, select.POLLIN)
    opened = True
    while time.monotonic() < until:
        ready = dict(poll.poll(max(1, (until - time.monotonic()) * 1000)))
        if wake in ready:
            os.read(wake, 512)
        ended, status = os.waitpid(pid, os.WNOHANG)
        more = take(reader, reply) if opened else None
        reply = reply if more is None else more
        if b'\n' in reply or len(reply) == REPLY_BYTES_MAX:
            return reply, None
        if ended == pid:
            return None, how_it_ended(status)
        if more is None and opened:
            poll.unregister(reader)
            opened = False
    return None, f'it took longer than {row_ms / 1000:g} seconds'


def how_it_ended(status):
    if os.WIFEXITED(status):
        return f'it ended its process with exit code {os.WEXITSTATUS(status)} and without a result'
    number = os.WTERMSIG(status)
    name = signal.Signals(number).name if number in signal.Signals._value2member_map_ else str(number)
    hint = ', perhaps for want of memory' if number == signal.SIGKILL else ''
    return f'its process was ended by {name}{hint}'


def read_reply(reply):
    try:
        read = json.loads(reply.partition(b'\n')[0])
        if isinstance(read.get('error'), str):
            return {'error': read['error']}
        return score_of(read.get('score'))
    except (ValueError, AttributeError, RecursionError):
        return {'error': 'what it sent as its result cannot be read'}


def run_row(line, settings, wake):
    reader, writer = os.pipe()
    try:
        pid = fork_patiently()
        if pid == 0:
            reply_as_row(line, settings, writer)
        os.close(writer)
        writer = -1
        os.set_blocking(reader, False)
        reply, reason = wait_for_reply(pid, reader, wake, settings['row_ms'])
        end(pid)
        return read_reply(reply) if reason is None else {'error': reason}
    finally:
        os.close(reader)
        if writer >= 0:
            os.close(writer)


def end(pid):
    # The kernel signals a group in one go: what merely forks does not get away.
    signal_all([-pid, pid], signal.SIGKILL)
    with contextlib.suppress(ChildProcessError):  # it may have ended by itself, and its status been taken
        os.waitpid(pid, 0)


def make_wake():
    reader, writer = os.pipe()
    for fd in (reader, writer):
        os.set_blocking(fd, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    return reader


def main():
    if not os.path.exists(CONTAINER_MARK):
        sys.exit('It ends processes and removes files: only in a container.')
    with open(sys.argv[1], 'rb') as file:
        head, *rows = file.read().rstrip(b'\n').split(b'\n')
    settings = json.loads(head)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    wake = make_wake()
    shield(list_ancestors())
    until = time.monotonic() + settings['batch_ms'] / 1000
    told, spoiled = '', None
    try:
        for n, line in enumerate(rows):
            if time.monotonic() > until:
                break
            clean_files()
            os.write(1, f'{told}{json.dumps({"begin": n})}\n'.encode())
            told = ''
            result = run_row(line, settings, wake)
            told = json.dumps({'n': n, **result}) + '\n'
            kill_rest()
        clean_files()
    except Exception as error:
        spoiled = f'{type(error).__name__}: {error}'[:REASON_CHARS_MAX]
    os.write(1, f'{told}{json.dumps({"end": True, "spoiled": spoiled})}\n'.encode())


main()
