import type { Entry } from '../../../server/src/modules/containers/testing/hosted-shell.ts'

export interface Attack {
  readonly name: string
  readonly command: string
  readonly timeoutMs: number
  /** What the caller must be told; the runtimes differ where the kernel that refuses is another. */
  readonly met: (entry: Entry, runtime: string) => boolean
}

const python = (text: string) => `python3 - <<'P'\n${text}\nP\n`
const exitCode = ({ outcome }: Entry) => (outcome.type === 'exit' ? outcome.exit_code : null)
const timedOut = ({ outcome }: Entry) => outcome.type === 'timeout'
const says = (text: RegExp) => (entry: Entry) => text.test(entry.stdout)
const shortMs = 4_000
const longMs = 60_000

/** Numbers of calls that a container has no business with, on x86-64. */
const calls = {
  io_uring_setup: 425,
  unshare: 272,
  keyctl: 250,
  add_key: 248,
  bpf: 321,
  mount: 165,
  pivot_root: 155,
  setns: 308,
  perf_event_open: 298,
  userfaultfd: 323,
  init_module: 175,
  kexec_load: 246,
  reboot: 169,
  swapon: 167,
  open_by_handle_at: 304,
}

const refusedCalls = python(`
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
arguments = {'unshare': [0x10000000], 'bpf': [0, ctypes.create_string_buffer(128), 128], 'keyctl': [0, -3, 0]}
params = ctypes.create_string_buffer(256)
for name, number in ${JSON.stringify(calls)}.items():
    ctypes.set_errno(0)
    given = arguments.get(name, [8, params, 0, 0, 0] if name == 'io_uring_setup' else [0, 0, 0, 0, 0])
    result = libc.syscall(number, *given)
    print(name, 'let through' if result >= 0 else errno.errorcode.get(ctypes.get_errno(), ctypes.get_errno()))
result = libc.syscall(56, 0x10000000 | 17, 0, 0, 0, 0)
if result == 0: os._exit(0)
print('clone(CLONE_NEWUSER)', 'let through' if result > 0 else errno.errorcode[ctypes.get_errno()])
`)

/** Refused is whatever did not reach the kernel's own work: EFAULT would mean that it began. */
const refused = /(EPERM|ENOSYS|EACCES|EINVAL|ENOTSUP)$/
/** gVisor answers these itself, with namespaces and keys that exist in the sandbox alone. */
const sandboxOwn = /^(unshare|keyctl|add_key|setns|pivot_root|clone\(CLONE_NEWUSER\)|perf_event_open) /

const allRefused = ({ stdout }: Entry, runtime: string) => {
  const lines = stdout.trim().split('\n')
  return (
    lines.length === Object.keys(calls).length + 1 &&
    lines.every((line) => refused.test(line) || (runtime === 'runsc' && sandboxOwn.test(line)))
  )
}

export const attacks: readonly Attack[] = [
  {
    name: 'fork bomb',
    command: ':(){ :|:& };: ; sleep 100',
    timeoutMs: shortMs,
    met: (entry) => timedOut(entry) || exitCode(entry) !== 0,
  },
  {
    name: 'processes left behind up to the limit',
    command: python(`
import os, time
made = 0
try:
    while True:
        if os.fork() == 0:
            os.setsid(); time.sleep(600); os._exit(0)
        made += 1
except OSError as error:
    print('stopped', error.errno)
`),
    timeoutMs: 30_000,
    met: says(/^stopped 11$/m),
  },
  {
    name: 'a fork bomb left behind',
    command: python(`
import os, time
if os.fork() == 0:
    os.setsid()
    while True:
        try: os.fork()
        except OSError: time.sleep(0.01)
time.sleep(3)
`),
    timeoutMs: 30_000,
    met: (entry) => exitCode(entry) === 0,
  },
  {
    name: 'memory hog',
    command: python(`
held = []
while True: held.append(bytearray(32 << 20))
`),
    timeoutMs: longMs,
    met: (entry) => exitCode(entry) !== 0 && /ran out of memory/.test(entry.stderr),
  },
  {
    name: 'memory hog of many processes',
    command: python(`
import os, time
for at in range(20):
    if os.fork() == 0:
        held = bytearray(100 << 20)
        for page in range(0, len(held), 4096): held[page] = 1
        time.sleep(20); os._exit(0)
codes = [os.wait()[1] for at in range(20)]
print('killed', sum(code == 9 for code in codes))
`),
    timeoutMs: longMs,
    met: ({ stderr }) => /ran out of memory/.test(stderr),
  },
  {
    name: 'disk filler of /mnt/data',
    command: 'dd if=/dev/zero of=/mnt/data/fill bs=1M 2>&1; rm /mnt/data/fill',
    timeoutMs: longMs,
    met: says(/No space left on device/),
  },
  {
    name: 'inode filler of /mnt/data',
    command:
      python(`
import os
os.mkdir('/mnt/data/many')
try:
    for at in range(10 ** 7): os.close(os.open(f'/mnt/data/many/{at}', os.O_CREAT))
except OSError as error: print('stopped', error.errno, at)
`) + 'rm -rf /mnt/data/many',
    timeoutMs: longMs,
    met: (entry) => /^stopped 28/m.test(entry.stdout) || timedOut(entry),
  },
  {
    name: 'disk filler of /tmp',
    command: 'dd if=/dev/zero of=/tmp/fill bs=1M 2>&1; rm /tmp/fill',
    timeoutMs: longMs,
    met: (entry) => /No space left on device/.test(entry.stdout),
  },
  {
    name: 'disk filler of /run/spool',
    command: 'cd /run/spool/*/ && (dd if=/dev/zero of=fill bs=1M 2>&1; echo "cannot be told")',
    timeoutMs: longMs,
    met: (entry) => exitCode(entry) === 0,
  },
  {
    name: 'the spool held full by what was left behind',
    command: python(`
import os, time
os.chdir('/run/spool/' + os.listdir('/run/spool')[0])
held = open('held', 'wb')
try:
    while True: held.write(bytes(1 << 20)); held.flush()
except OSError: pass
if os.fork() == 0:
    os.setsid(); time.sleep(600)
`),
    timeoutMs: 30_000,
    met: (entry) => exitCode(entry) === 0,
  },
  {
    name: 'output flood, 1 GB to each stream',
    command: 'head -c 1000000000 /dev/zero | tr "\\\\0" x & head -c 1000000000 /dev/zero | tr "\\\\0" y >&2; wait',
    timeoutMs: longMs,
    met: (entry) => exitCode(entry) === 0 && entry.stdout.length <= 1 << 20 && entry.stdout.length > 1 << 19,
  },
  {
    name: 'setuid',
    command:
      python(`
import os, shutil
for act in (lambda: os.setuid(0), lambda: os.seteuid(0), lambda: os.setgroups([0])):
    try: act(); print('LET THROUGH')
    except OSError as error: print('refused', error.errno)
shutil.copy('/bin/sh', '/mnt/data/sh'); os.chmod('/mnt/data/sh', 0o6755)
print('as', os.popen('/mnt/data/sh -c "id -u"').read().strip())
`) + 'su -c id root </dev/null; rm /mnt/data/sh',
    timeoutMs: longMs,
    met: ({ stdout }) => /^(refused 1\n){3}as 1000$/m.test(stdout) && !/uid=0/.test(stdout),
  },
  {
    name: 'mount and device nodes',
    command:
      'mount -t tmpfs none /tmp; mount --bind /etc /mnt/data; mknod /mnt/data/sda b 8 0; umount /mnt/data; echo x > /proc/sys/kernel/hostname; echo x > /sys/kernel/uevent_helper; touch /etc/x /usr/x /opt/switchyard/x; ls -l /dev | grep ^b; echo end',
    timeoutMs: longMs,
    met: ({ stdout, stderr }) => stdout === 'end\n' && stderr.split('\n').length >= 9,
  },
  {
    name: 'ptrace of pid 1 and of another user',
    command: python(`
import ctypes, errno, os, subprocess, time
libc = ctypes.CDLL(None, use_errno=True)
def attach(pid):
    ctypes.set_errno(0)
    return 'attached' if libc.ptrace(16, pid, 0, 0) == 0 else errno.errorcode[ctypes.get_errno()]
print('pid 1', attach(1))
own = subprocess.Popen(['sleep', '5'])
print('own child', attach(own.pid))
os.kill(own.pid, 9)
try: open('/proc/1/mem', 'rb'); print('MEMORY OF PID 1')
except OSError as error: print('memory of pid 1', errno.errorcode[error.errno])
`),
    timeoutMs: longMs,
    met: ({ stdout }) =>
      /^pid 1 (EPERM|ESRCH|EACCES)$/m.test(stdout) && /^memory of pid 1 (EACCES|EPERM|ENOENT)$/m.test(stdout),
  },
  {
    name: 'raw and packet sockets',
    command: python(`
import errno, socket
for name, given in {'raw': (2, 3, 1), 'raw 6': (10, 3, 58), 'packet': (17, 3, 768), 'netlink audit': (16, 3, 9), 'vsock': (40, 1, 0)}.items():
    try: socket.socket(*given); print(name, 'LET THROUGH')
    except OSError as error: print(name, errno.errorcode[error.errno])
`),
    timeoutMs: longMs,
    met: ({ stdout }) => !/^(raw|raw 6|packet) LET/m.test(stdout) && /^packet /m.test(stdout),
  },
  { name: 'calls of the kernel that nobody needs', command: refusedCalls, timeoutMs: longMs, met: allRefused },
  {
    name: 'data of other containers',
    command:
      'ls /proc | grep -c "^[0-9]"; cat /proc/[0-9]*/environ 2>/dev/null | tr "\\\\0" "\\\\n" | grep -ai canary; grep -rsl neighbour-canary /mnt /run /tmp /dev/shm /sys/fs/cgroup 2>/dev/null; (dmesg; cat /proc/kmsg /dev/kmsg) 2>/dev/null | grep -i -e cgroup -e "linux version" -e ext4 | head -3; ls /run/docker.sock /var/run/docker.sock 2>/dev/null; find /sys/fs/cgroup -maxdepth 3 -writable 2>/dev/null | head -3; cat /proc/self/mountinfo | grep -c neighbour; ls /run/spool | wc -l; echo end',
    timeoutMs: longMs,
    met: ({ stdout }) => /^\d{1,2}\n0\n1\nend\n$/.test(stdout),
  },
  {
    name: 'forged spool: a link in place of stdout',
    command:
      'cd /run/spool/*/ && echo before; sleep 1; rm stdout && ln -s /etc/shadow stdout; ln -sf /etc/hostname stderr; sleep 1; echo after',
    timeoutMs: longMs,
    met: (entry) => exitCode(entry) === 0 && !/root:/.test(entry.stdout),
  },
  {
    name: 'forged spool: a FIFO in place of stdout',
    command: 'cd /run/spool/*/ && rm stdout && mkfifo stdout && sleep 1; echo x',
    timeoutMs: longMs,
    met: (entry) => exitCode(entry) === 0 && entry.stdout === '',
  },
  {
    name: 'forged spool: a huge exit record',
    command: 'cd /run/spool/*/ && head -c 15000000 /dev/zero > exit; sleep 2',
    timeoutMs: longMs,
    met: (entry) => exitCode(entry) === 255,
  },
  {
    name: 'forged spool: a folder that keeps becoming a link while it is removed',
    command: `cd /run/spool/*/ && (setsid python3 -c "
import os, time
until = time.time() + 5
while time.time() < until:
    for act in (lambda: os.mkdir('x'), lambda: open('x/f', 'w').close(), lambda: os.rename('x', 'y'), lambda: os.symlink('/etc', 'x'), lambda: os.unlink('x'), lambda: os.unlink('y/f'), lambda: os.rmdir('y')):
        try: act()
        except OSError: pass
" >/dev/null 2>&1 &) ; sleep 0.3`,
    timeoutMs: longMs,
    met: (entry) => exitCode(entry) === 0,
  },
  {
    name: 'changes in the spool as fast as they go',
    command: python(`
import os, time
os.chdir('/run/spool/' + os.listdir('/run/spool')[0])
until = time.time() + 5
while time.time() < until:
    os.close(os.open('x', os.O_CREAT)); os.unlink('x')
`),
    timeoutMs: longMs,
    met: (entry) => exitCode(entry) === 0,
  },
  {
    name: 'the supervisor killed',
    command: 'kill -9 $PPID; sleep 2; echo unheard',
    timeoutMs: 30_000,
    met: (entry) => exitCode(entry) === 137 && /interrupted/.test(entry.stderr),
  },
  {
    name: 'the supervisor stopped',
    command: 'kill -STOP $PPID; sleep 1000',
    timeoutMs: shortMs,
    met: (entry) => (exitCode(entry) === 137 && /interrupted/.test(entry.stderr)) || timedOut(entry),
  },
  {
    name: 'everything of its user killed',
    command: 'kill -9 -1',
    timeoutMs: 30_000,
    met: (entry) => exitCode(entry) === 137,
  },
]
