import { refused, rowError, type Expected, type HostileInput } from './hostile-input.ts'

const told = (what: RegExp) => rowError(new RegExp(`Python grader failed: (?:${what.source})`, what.flags))
const tookLong = /it took longer/
const ended = /it took longer|its process was ended|it ended the process that grades/
const unstorable = refused(/testing_criteria\[0\]\.source.*cannot be stored/)
const noGrade = told(/the source has no function grade/)
const noNumber = told(/grade\(\) returned/)

/** A grader whose `grade` does this. */
const graderOf = (body: string, imports = 'import os, sys, time') => {
  const lines = body.split('\n').map((line) => `    ${line}`)
  return `${imports}\ndef grade(sample, item):\n${lines.join('\n')}\n`
}

type Written = [name: string, source: string, expected: Expected]

const greedy: Written[] = [
  ['an endless loop', graderOf('while True: pass'), told(tookLong)],
  ['a sleep', graderOf('time.sleep(3600)'), told(tookLong)],
  [
    'a loop that catches everything',
    graderOf('while True:\n    try:\n        while True: pass\n    except BaseException: pass'),
    told(tookLong),
  ],
  [
    'a loop that ignores signals',
    graderOf(
      'import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except Exception: pass\nwhile True: pass',
    ),
    told(tookLong),
  ],
  [
    'a regular expression that backtracks',
    graderOf("return len(re.match(r'^(a+)+$', 'a' * 64 + '!').group())", 'import re'),
    told(tookLong),
  ],
  ['a power of a power', graderOf('return 9 ** 9 ** 9 ** 9'), told(/it took longer|MemoryError|OverflowError/)],
  [
    'a fork bomb',
    graderOf('while True: os.fork()'),
    told(/BlockingIOError|OSError|MemoryError|it took longer|its process was ended/),
  ],
  [
    'a bomb of daemons',
    graderOf('while True:\n    if os.fork() == 0: os.setsid()'),
    told(/BlockingIOError|OSError|it took longer|its process was ended/),
  ],
  [
    'a thread bomb',
    graderOf('while True: threading.Thread(target=time.sleep, args=(60,)).start()', 'import threading, time'),
    told(/RuntimeError: can't start new thread|MemoryError|it took longer/),
  ],
  ['8 GB', graderOf("return len(b'x' * 8 * 2**30)"), told(/MemoryError/)],
  [
    'memory bit by bit',
    graderOf("held = []\nwhile True: held.append(b'x' * 2**20)"),
    told(/MemoryError|its process was ended|it took longer/),
  ],
  [
    'memory of many processes',
    graderOf(
      "for _ in range(12):\n    if os.fork() == 0:\n        held = b'x' * 300 * 2**20\n        time.sleep(60)\ntime.sleep(60)",
    ),
    told(ended),
  ],
  [
    'printing 1 GB',
    graderOf("for _ in range(1024): sys.stdout.write('x' * 2**20)\nreturn 1"),
    told(/OSError: .*File too large/),
  ],
  [
    'printing 1 GB of errors',
    graderOf("for _ in range(1024): os.write(2, b'x' * 2**20)\nreturn 1"),
    told(/OSError: .*File too large/),
  ],
  [
    'a full disk',
    graderOf("for n in range(100000):\n    with open(f'/mnt/data/{n}', 'wb') as file: file.write(b'x' * 2**22)"),
    told(/OSError.*(No space left|File too large|quota)|it took longer/),
  ],
  ['a file of 1 TB', graderOf("open('/mnt/data/a', 'wb').truncate(2**40)"), told(/OSError/)],
  [
    'every descriptor',
    graderOf("held = [os.open('/dev/null', os.O_RDONLY) for _ in range(10**7)]"),
    told(/OSError.*Too many open files|MemoryError/),
  ],
  ['recursion', graderOf('return grade(sample, item)'), told(/RecursionError/)],
  [
    'recursion past the stack',
    graderOf('sys.setrecursionlimit(10**9)\nreturn grade(sample, item)'),
    told(/its process was ended|MemoryError|RecursionError|it took longer/),
  ],
  [
    'a daemon that stays',
    graderOf("if os.fork() == 0:\n    os.setsid()\n    while True: time.sleep(1)\nraise KeyError('left behind')"),
    told(/KeyError: 'left behind'/),
  ],
]

const breakingOut: Written[] = [
  [
    'a socket',
    graderOf("socket.create_connection(('192.0.2.1', 80), 2)", 'import socket'),
    told(/OSError|TimeoutError|PermissionError/),
  ],
  [
    'cloud metadata',
    graderOf(
      "return len(urllib.request.urlopen('http://169.254.169.254/', timeout=2).read())",
      'import urllib.request',
    ),
    told(/URLError|OSError/),
  ],
  ['a name', graderOf("socket.getaddrinfo('example.com', 80)", 'import socket'), told(/gaierror/)],
  [
    'a raw socket',
    graderOf('socket.socket(socket.AF_PACKET, socket.SOCK_RAW)', 'import socket'),
    told(/PermissionError|OSError/),
  ],
  [
    'the engine that runs containers',
    graderOf("socket.socket(socket.AF_UNIX).connect('/var/run/docker.sock')", 'import socket'),
    told(/FileNotFoundError|PermissionError|ConnectionRefusedError/),
  ],
  [
    'the environment of others',
    graderOf("raise KeyError(open('/proc/1/environ').read())"),
    told(/PermissionError|KeyError: '(?!.*SWITCHYARD)/),
  ],
  ['the memory of the harness', graderOf("open(f'/proc/{os.getppid()}/mem', 'r+b')"), told(/PermissionError|OSError/)],
  ['the passwords', graderOf("return len(open('/etc/shadow').read())"), told(/PermissionError|FileNotFoundError/)],
  ['a file of the system', graderOf("open('/usr/bin/python3', 'wb')"), told(/OSError|PermissionError/)],
  [
    'a mount',
    graderOf("if os.system('mount -t tmpfs none /mnt') != 0: raise PermissionError('mount')"),
    told(/PermissionError/),
  ],
  ['root', graderOf('os.setuid(0)'), told(/PermissionError/)],
  [
    'tracing the harness',
    graderOf(
      "if ctypes.CDLL(None, use_errno=True).ptrace(16, os.getppid(), 0, 0) != 0: raise OSError(ctypes.get_errno(), 'ptrace')",
      'import ctypes, os',
    ),
    told(/PermissionError|OSError/),
  ],
  [
    'kill -9 -1',
    graderOf("os.system('kill -9 -1')\nos.kill(-1, 9)\nraise KeyError('still here')"),
    told(/PermissionError|KeyError|its process was ended|it ended the process that grades/),
  ],
  [
    'a signal to the harness',
    graderOf('os.kill(os.getppid(), 9)'),
    told(/PermissionError|it ended the process that grades/),
  ],
  [
    'a reboot',
    graderOf(
      "if ctypes.CDLL(None, use_errno=True).reboot(0x1234567) != 0: raise PermissionError('reboot')",
      'import ctypes',
    ),
    told(/PermissionError/),
  ],
]

const wrongResults: Written[] = [
  ['NaN', graderOf("return float('nan')"), noNumber],
  ['infinity', graderOf("return float('-inf')"), noNumber],
  ['a text', graderOf("return '1'"), noNumber],
  ['None', graderOf('pass'), noNumber],
  ['a truth value', graderOf('return True'), noNumber],
  ['a list', graderOf('return [1]'), noNumber],
  ['a complex number', graderOf('return 1j'), noNumber],
  ['a huge number', graderOf('return 10 ** 400'), noNumber],
  [
    'a number that lies about itself',
    graderOf("return type('F', (float,), {'__float__': lambda s: 1 / 0, '__repr__': lambda s: 1 / 0})('nan')"),
    told(/./),
  ],
  ['a generator', graderOf('yield 1'), noNumber],
  ['a promise', 'async def grade(sample, item):\n    return 1\n', noNumber],
  ['sys.exit', graderOf('sys.exit(0)'), told(/SystemExit|it ended its process/)],
  ['os._exit', graderOf('os._exit(0)'), told(/it ended its process/)],
  ['a crash', graderOf('ctypes.string_at(0)', 'import ctypes'), told(/its process was ended by SIGSEGV/)],
  ['an exception of 10 MB', graderOf("raise ValueError('x' * 10**7)"), told(/ValueError: x+/)],
  [
    'an exception that cannot be shown',
    graderOf("raise type('E', (Exception,), {'__str__': lambda s: 1 / 0})()"),
    told(/./),
  ],
  ['an exception of control characters', graderOf("raise ValueError('\\x00\\x1b[2J\\ud800')"), told(/ValueError/)],
]

const wrongSources: Written[] = [
  ['no grade()', 'x = 1\n', noGrade],
  ['a grade that is no function', 'grade = 1\n', noGrade],
  ['a grade of one argument', 'def grade(sample):\n    return 1\n', told(/TypeError/)],
  ['a syntax error', 'def grade(sample, item:\n', told(/SyntaxError/)],
  ['another language', 'function grade(sample, item) { return 1 }\n', told(/SyntaxError/)],
  [
    'a tab too many',
    'def grade(sample, item):\n\treturn 1\n        return 2\n',
    told(/TabError|IndentationError|SyntaxError/),
  ],
  [
    'a module that is not there',
    'import switchyard_secrets\ndef grade(sample, item):\n    return 1\n',
    told(/ModuleNotFoundError/),
  ],
  ['a loop when it is loaded', 'while True: pass\n', told(tookLong)],
  ['an exit when it is loaded', 'import os\nos._exit(3)\n', told(/it ended its process/)],
  [
    '10,000 parentheses',
    `x = ${'('.repeat(10_000)}1${')'.repeat(10_000)}\ndef grade(sample, item):\n    return 1\n`,
    told(/SyntaxError|MemoryError|RecursionError|its process was ended/),
  ],
  ['half a character', '# \ud800\ndef grade(sample, item):\n    return None\n', unstorable],
  ['a NUL', 'x = "\u0000"\ndef grade(sample, item):\n    return None\n', unstorable],
  ['an empty source', '', refused(/testing_criteria\[0\]\.source/)],
  ['300 KB', `# ${'x'.repeat(300_000)}`, refused(/testing_criteria\[0\]\.source/)],
]

const named = ([name, source, expected]: Written) =>
  ({ name: `python: ${name}`, kind: 'python', source, ...expected }) as const

export const hostilePython: readonly HostileInput[] = [
  ...[...greedy, ...breakingOut, ...wrongResults].map(named),
  ...wrongSources.map((written) => ({ ...named(written), unloadable: true }) as const),
]
