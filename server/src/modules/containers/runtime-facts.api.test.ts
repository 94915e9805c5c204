import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { respondWithShell, type Entry } from './testing/hosted-shell.ts'
import { runtimes, sandboxApp } from './testing/sandbox-app.ts'

const exit = (entry: Entry | undefined) => (entry?.outcome.type === 'exit' ? entry.outcome.exit_code : entry?.outcome)

/** A line of what a program says, and what must be in it. */
const versions = [
  ['python3 --version', /^Python 3\.11\./],
  ['node --version', /^v22\.16\./],
  ['java -version 2>&1', /version "17\.0\./],
  ['php --version', /^PHP 8\.2\./],
  ['ruby --version', /^ruby 3\.1\./],
  ['go version', /go1\.23(\.|\s)/],
] as const

const programs = [
  [`python3 -c 'print(6 * 7)'`, '42'],
  [`node -e 'console.log(6 * 7)'`, '42'],
  [`echo 'class A { public static void main(String[] a) { System.out.print(6 * 7); } }' > A.java && java A.java`, '42'],
  [`php -r 'echo 6 * 7;'`, '42'],
  [`ruby -e 'puts 6 * 7'`, '42'],
  [`printf 'package main\\nfunc main() { print(6 * 7) }\\n' > a.go && go run a.go 2>&1`, '42'],
] as const

const serve = `cd /mnt/data && echo kept > here.txt && (python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 &)`
const ask = `python3 - <<'P'
import time, urllib.request
for attempt in range(100):
    try:
        print(urllib.request.urlopen('http://127.0.0.1:8123/here.txt', timeout=5).read().decode(), end='')
        break
    except OSError:
        time.sleep(0.1)
P`

for (const runtime of runtimes) {
  describe(`the hosted runtime on ${runtime}`, () => {
    // S1-2.7-a S1-2.7-b S1-2.7-c S1-2.7-d S1-2.7-e S1-2.7-f S1-2.7-g S1-2.7-h S1-2.7-i S1-2.7-j S1-2.7-k S1-2.7-l
    // S1-2.7-m S1-2.7-n S1-2.7-o S1-8.1 S1-8.3
    test('what a response finds inside is what is promised', async (t) => {
      const app = await sandboxApp(t, { runtime, image: 'full' })
      const [facts, languages, ran] = await respondWithShell(app, [
        {
          commands: [
            '. /etc/os-release && echo "$ID $VERSION_ID"',
            'pwd; test -d /mnt/data && echo there; echo made > artifact.txt && cat /mnt/data/artifact.txt',
            'tty; test -t 0 || test -t 1 || echo none; cat; echo "cat $?"; ls -l /proc/self/fd/0',
            'command -v sudo doas pkexec; id -u; grep -E "^(CapEff|CapPrm|CapBnd|NoNewPrivs)" /proc/self/status',
            'find / -xdev -perm /6000 -type f 2>/dev/null | wc -l',
            'cat /proc/net/route | wc -l; ls /sys/class/net 2>/dev/null',
            `python3 -c "import socket; socket.getaddrinfo('example.com', 443)"`,
            `python3 -c "import socket; socket.create_connection(('192.0.2.1', 80), 5)"`,
          ],
        },
        { commands: versions.map(([command]) => command) },
        { commands: programs.map(([command]) => command) },
      ])
      assert.ok(facts && languages && ran)
      const [release, folder, stdin, user, setuid, routes, name, address] = facts
      assert.equal(release?.stdout, 'debian 12\n')
      assert.equal(folder?.stdout, '/mnt/data\nthere\nmade\n')
      assert.match(stdin?.stdout ?? '', /^not a tty\nnone\ncat 0\n.*\/dev\/null\n$/)
      assert.match(user?.stdout ?? '', /^1000\n/)
      assert.match(user?.stdout ?? '', /CapPrm:\s+0+\nCapEff:\s+0+\n/)
      assert.match(user?.stdout ?? '', /CapBnd:\s+0+\n/)
      assert.equal(setuid?.stdout.trim(), '0')
      assert.match(routes?.stdout ?? '', /^1\n(lo\n)?$/)
      assert.match(name?.stderr ?? '', /Temporary failure in name resolution|Name or service not known/)
      assert.match(address?.stderr ?? '', /Network is unreachable|No route to host/)
      for (const [at, [command, expected]] of versions.entries()) {
        assert.match(languages[at]?.stdout ?? '', expected, command)
      }
      for (const [at, [command, expected]] of programs.entries()) {
        assert.equal(ran[at]?.stdout.trim(), expected, `${command}: ${ran[at]?.stderr}`)
        assert.equal(exit(ran[at]), 0, command)
      }
    })

    // S1-2.7-h
    test('a server that a command left answers in the next call, also after another command timed out', async (t) => {
      const app = await sandboxApp(t, { runtime })
      const [started, first, late, again] = await respondWithShell(app, [
        { commands: [serve] },
        { commands: [ask] },
        { commands: ['sleep 100'], timeout_ms: 1_500 },
        { commands: [ask] },
      ])
      assert.equal(exit(started?.[0]), 0)
      assert.equal(first?.[0]?.stdout, 'kept\n')
      assert.deepEqual(late?.[0]?.outcome, { type: 'timeout' })
      assert.equal(again?.[0]?.stdout, 'kept\n')
    })
  })
}
