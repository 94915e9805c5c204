import { createContainerFile } from '@switchyard/contracts/containers.ts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createEngineApi } from '#platform/docker/engine-api.ts'
import { formOf } from '../testing/containers-kit.ts'
import { HostedContainer, type Entry } from '../testing/hosted-shell.ts'
import { runtimes, sandboxApp, type SandboxApp } from '../testing/sandbox-app.ts'

const settings = { SWITCHYARD_SANDBOX_DISK_MB_MAX: '64', SWITCHYARD_SANDBOX_POOL: '2' }
const waitMs = 60_000

const exit = ({ outcome }: Entry) => (outcome.type === 'exit' ? outcome.exit_code : 'timeout')

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + waitMs; Date.now() < end;) {
    if (await holds()) return
    await delay(100)
  }
  assert.fail(`${what} did not come`)
}

/** The machine under a container, as the engine names it. */
async function machineOf(app: SandboxApp, container: HostedContainer): Promise<string> {
  const { readdir, readFile } = await import('node:fs/promises')
  for (const name of await readdir(`${app.dir}/boxes`)) {
    const note = await readFile(`${app.dir}/boxes/${name}/box.json`, 'utf8').catch(() => '{}')
    const { engineId, order } = JSON.parse(note) as { engineId?: string; order?: { containerId: string } | null }
    if (order?.containerId === container.id && engineId !== undefined) return engineId
  }
  return assert.fail('the container has no machine')
}

for (const runtime of runtimes) {
  test(`commands on ${runtime}`, async (group) => {
    const app = await sandboxApp(group, { runtime, settings })
    await group.test('a command runs once, whoever asks and however often', async () => {
      const container = await HostedContainer.create(app)
      const callId = `call_${randomUUID()}`
      const commands = ['echo line >> log; sleep 1; wc -l < log', 'echo second >> log; wc -l < log']
      const [first, second] = await Promise.all([
        container.run(commands, { callId }),
        container.run(commands, { callId }),
      ])
      const third = await container.run(commands, { callId })
      for (const told of [first, second, third]) {
        assert.deepEqual(
          told.entries.map(({ stdout }) => stdout),
          ['1\n', '2\n'],
        )
        assert.equal(told.complete, true)
      }
      assert.equal((await container.sh('cat log')).stdout, 'line\nsecond\n')
    })

    await group.test('calls of a container run one after the other, and their commands in order', async () => {
      const container = await HostedContainer.create(app)
      const call = (name: string) =>
        container.run(
          [1, 2, 3].map((at) => `echo ${name}${at} begins >> log; sleep 0.2; echo ${name}${at} ends >> log`),
        )
      await Promise.all([call('a'), call('b'), call('c')])
      const { stdout } = await container.sh('cat log')
      const lines = stdout.trim().split('\n')
      // Which of the three came first is not ours to say.
      const calls = [0, 6, 12].map((at) => lines[at]?.charAt(0) ?? '')
      assert.deepEqual(calls.toSorted(), ['a', 'b', 'c'])
      assert.deepEqual(
        lines,
        calls.flatMap((name) => [1, 2, 3].flatMap((at) => [`${name}${at} begins`, `${name}${at} ends`])),
      )
    })

    await group.test('a time limit ends what the command started and nothing else', async () => {
      const container = await HostedContainer.create(app)
      await container.sh('setsid sleep 1111 >/dev/null 2>&1 & sleep 2222 >/dev/null 2>&1 &')
      const late = await container.sh('(setsid sleep 3333 &) ; sleep 4444 & echo begun; sleep 5555', {
        timeoutMs: 1_500,
      })
      assert.equal(exit(late), 'timeout')
      assert.equal(late.stdout, 'begun\n')
      const { stdout } = await container.sh(
        `cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o 'sleep [0-9]\\{4\\}' | sort -u`,
      )
      assert.deepEqual(stdout.trim().split('\n'), ['sleep 1111', 'sleep 2222'])
    })

    await group.test('a command that removes or replaces its record has printed what it printed', async () => {
      const container = await HostedContainer.create(app)
      for (let round = 0; round < 5; round += 1) {
        const { stdout, stderr } = await container.sh(
          `rm -f /run/spool/*/std*; echo said; echo told >&2; ln -s /etc/passwd /run/spool/*/stdout 2>/dev/null; true`,
        )
        assert.deepEqual([stdout, stderr], ['said\n', 'told\n'])
      }
    })

    await group.test('a cancel ends what runs, and what comes after it is not begun', async () => {
      const container = await HostedContainer.create(app)
      let begun = false
      const running = container.run(['echo begun; sleep 300', 'echo never >> log'], {
        responseId: 'resp_a',
        timeoutMs: 400_000,
        onOutput: () => (begun = true),
      })
      await until('output', async () => begun)
      const other = container.sh('echo other >> log; cat log', { responseId: 'resp_b' })
      await container.cancel('resp_a')
      const ended = await running
      assert.equal(ended.complete, false)
      assert.equal(ended.entries.length, 1)
      assert.match(ended.entries[0]?.stderr ?? '', /cancelled/)
      assert.equal((await other).stdout, 'other\n')
    })

    await group.test(
      'a machine that dies is told, and the next command has a new one with the same files',
      async () => {
        const container = await HostedContainer.create(app)
        let begun = false
        const running = container.run(['echo kept > kept.txt; echo begun; sleep 300'], {
          timeoutMs: 400_000,
          onOutput: () => (begun = true),
        })
        await until('output', async () => begun)
        await createEngineApi(app.socket).remove(await machineOf(app, container))
        const { entries, complete } = await running
        assert.equal(complete, false)
        assert.equal(entries[0]?.stdout, 'begun\n')
        assert.match(entries[0]?.stderr ?? '', /files are kept, running processes are gone/)
        assert.equal((await container.sh('cat kept.txt')).stdout, 'kept\n')
      },
    )

    await group.test('memory and disk have bounds, and reaching them is told', async () => {
      const container = await HostedContainer.create(app)
      const hog = await container.sh(`python3 -c "
held = []
while True: held.append(bytearray(32 << 20))"`)
      assert.notEqual(exit(hog), 0)
      assert.match(hog.stderr, /ran out of memory/)
      const full = await container.sh('dd if=/dev/zero of=fill bs=1M 2>&1; ls -s fill')
      assert.match(full.stdout, /No space left on device/)
      const upload = await app.call(createContainerFile, {
        params: { container_id: container.id },
        body: formOf('more.bin', Buffer.alloc(3 << 20)),
      })
      assert.equal(upload.status, 413, JSON.stringify(upload.body))
      assert.equal((await container.sh('rm fill; echo ok; ls -A')).stdout, 'ok\n')
    })

    await group.test('what many loud commands print stays bounded, and a spool does not fill up', async () => {
      const container = await HostedContainer.create(app)
      await container.sh('sleep 7777 >/dev/null 2>&1 &')
      const loud = Array.from({ length: 40 }, () => `head -c 1500000 /dev/zero | tr '\\0' x`)
      const { entries } = await container.run(loud)
      assert.equal(entries.length, 40)
      const lengths = entries.map(({ stdout }) => stdout.length)
      assert.equal(lengths[0], 1 << 20)
      assert.ok(lengths.reduce((sum, length) => sum + length, 0) <= 17 * (1 << 20))
      // Had the spool filled up, the container would have been restarted.
      assert.equal((await container.sh(`grep -ac 'sleep' /proc/[0-9]*/cmdline | grep -c ':[1-9]'`)).stderr, '')
      const { stdout } = await container.sh(`cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -c 'sleep 7777'`)
      assert.equal(stdout, '1\n')
    })
  })
}
