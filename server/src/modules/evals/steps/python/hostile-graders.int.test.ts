import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runtimes } from '#modules/containers/testing/sandbox-app.ts'
import { pythonBench } from '../../testing/python-bench.ts'

/** Row 1 does it, and the rows around it must not notice. */
const amid = (body: string, imports = 'import os, sys, time') => `${imports}
def grade(sample, item):
    if item['n'] == 1:
        return misbehave()
    return item['n'] / 10
def misbehave():
${body
  .split('\n')
  .map((line) => `    ${line}`)
  .join('\n')}
`

/** What row 1 does, and what its user is told. */
const misdeeds: readonly [name: string, body: string, told: RegExp, imports?: string][] = [
  ['an endless loop', 'while True: pass', /^it took longer than 3 seconds\.$/],
  ['a sleep', 'time.sleep(60)', /^it took longer than 3 seconds\.$/],
  [
    'a fork bomb',
    'while True: os.fork()',
    /^(BlockingIOError|OSError|MemoryError|it took longer|its process was ended)/,
  ],
  [
    'a bomb of daemons',
    `while True:\n    if os.fork() == 0:\n        os.setsid()`,
    /^(BlockingIOError|it took longer)/,
  ],
  ['8 GB', `return len(b'x' * 8 * 2**30)`, /^MemoryError: a row has at most 768 MiB \(line \d+\)\.$/],
  ['printing 1 GB', `for _ in range(1024):\n    os.write(1, b'x' * 2**20)\nreturn 1`, /^OSError: .*File too large/],
  [
    'memory of many processes',
    `for _ in range(12):\n    if os.fork() == 0:\n        held = b'x' * 300 * 2**20\n        time.sleep(60)\ntime.sleep(60)`,
    /^(it took longer|its process was ended by SIGKILL|it ended the process that grades)/,
  ],
  [
    'a socket',
    `socket.create_connection(('192.0.2.1', 80), 2)`,
    /^OSError: .*(Network is unreachable|No route to host)/,
    'import socket',
  ],
  ['a name', `socket.getaddrinfo('example.com', 80)`, /^gaierror: /, 'import socket'],
  [
    'the environment of process 1',
    `raise KeyError(open('/proc/1/environ').read())`,
    /^(PermissionError: |KeyError: '(?!.*SWITCHYARD))/,
  ],
  ['the memory of the harness', `open(f'/proc/{os.getppid()}/mem', 'r+b')`, /^PermissionError: /],
  ['a signal to everybody', 'os.kill(-1, 9)', /^PermissionError: /],
  ['kill -9 -1', `return os.system('kill -9 -1; exit 7') / 0`, /^ZeroDivisionError: /],
  ['a signal to the harness', 'os.kill(os.getppid(), 9)', /^PermissionError: /],
  ['sys.exit', 'sys.exit(4)', /^SystemExit: 4 \(line \d+\)\.$/],
  ['os._exit', 'os._exit(5)', /^it ended its process with exit code 5 and without a result\.$/],
  ['a crash', 'os.kill(os.getpid(), 11)', /^its process was ended by SIGSEGV\.$/],
  ['NaN', `return float('nan')`, /^grade\(\) returned nan, and has to return a finite number\.$/],
  ['infinity', `return float('inf')`, /^grade\(\) returned inf, and/],
  ['a text', `return '1'`, /^grade\(\) returned a value of the type str, and has to return a number\.$/],
  ['None', 'return None', /^grade\(\) returned None, and has to return a number\.$/],
  ['a truth value', 'return True', /^grade\(\) returned a value of the type bool, and/],
  ['a complex number', 'return 1j', /^grade\(\) returned a value of the type complex, and/],
  ['a huge number', 'return 10 ** 400', /^grade\(\) returned a number that is too large\.$/],
  [
    'an exception',
    `raise ValueError('no\\0 such \\ud800 thing' * 1000)`,
    /^ValueError: no\uFFFD such .{900,1100}\(line \d+\)\.$/s,
  ],
  [
    'an exception without a text',
    `raise type('E', (Exception,), {'__str__': lambda s: 1 / 0})()`,
    /^an exception that cannot be shown\.$/,
  ],
  ['recursion', 'return misbehave()', /^RecursionError: maximum recursion depth exceeded/],
  [
    'deep recursion',
    'sys.setrecursionlimit(10**9)\nreturn misbehave()',
    /^(its process was ended by SIGSEGV|MemoryError|it took)/,
  ],
  [
    'a thread bomb',
    `while True: threading.Thread(target=time.sleep, args=(60,)).start()`,
    /^(RuntimeError: can't start new thread|MemoryError|it took longer)/,
    'import threading, time',
  ],
  [
    'a full disk',
    `for n in range(1000):\n    with open(f'/mnt/data/{n}', 'wb') as file:\n        file.write(b'x' * 2**22)`,
    /^OSError: .*No space left on device/,
  ],
  ['a large file', `open('/mnt/data/a', 'wb').truncate(2**40)`, /^OSError: .*File too large/],
  [
    'a full /tmp',
    `open('/tmp/a', 'wb').write(b'x' * 2**25)\nos.mkdir('/tmp/d', 0)\nraise KeyError('done')`,
    /^KeyError: 'done'/,
  ],
  [
    'no files left',
    `os.system('rm -rf /mnt/data/* /tmp/* /run/spool/*/* 2>/dev/null')\nos.chmod('/mnt/data', 0)\nraise KeyError('done')`,
    /^KeyError: 'done'/,
  ],
  [
    'a forged record',
    `for name in os.listdir('/run/spool'):\n    with open(f'/run/spool/{name}/exit', 'w') as file:\n        file.write('{"outcome":"exit","exit_code":0}')\ntime.sleep(60)`,
    /^it (ended the process that grades|touched the record of its batch|took longer)/,
  ],
  ['many files', `for n in range(5000): open(f'/tmp/{n}', 'w').close()\nraise KeyError('done')`, /^KeyError: 'done'/],
  [
    'a forged result',
    `os.write(3, b'{"score": "high"}\\n')\ntime.sleep(60)`,
    /^grade\(\) returned a value of the type str/,
  ],
  ['a flood of results', `os.write(3, b'x' * 2**20)`, /^what it sent as its result cannot be read\.$/],
  ['a closed pipe', 'os.close(3)\ntime.sleep(60)', /^it took longer than 3 seconds\.$/],
]

for (const runtime of runtimes) {
  test(`what a grader does to itself on ${runtime}`, async (group) => {
    const bench = await pythonBench(group, runtime)
    for (const [name, body, told, imports] of misdeeds) {
      await group.test(`${name} is told, and the rows around it are graded`, async () => {
        const [before, itself, after] = await bench.grade(amid(body, imports), [{ n: 0 }, { n: 1 }, { n: 2 }])
        assert.deepEqual([before, after], [0, 0.2])
        assert.match(String(itself), told)
        assert.deepEqual(await bench.listProcesses(), [])
      })
    }
  })
}
