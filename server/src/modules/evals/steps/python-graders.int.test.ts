import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runtimes } from '#modules/containers/testing/sandbox-app.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { half, halves, machineAtWork, numbers, pythonBench, slow } from '../testing/python-bench.ts'

const waitMs = 60_000

for (const runtime of runtimes) {
  test(`python graders on ${runtime}`, async (group) => {
    const bench = await pythonBench(group, runtime, { rowMs: 30_000 })
    const { watched, graders } = bench

    await group.test('500 rows that come together are few commands in one container', async () => {
      assert.deepEqual(await bench.grade(half, numbers(500)), halves(500))
      assert.equal(watched.opened.length, 1)
      assert.ok(watched.ran.length <= 11, `${watched.ran.length} commands`)
    })

    await group.test('a grader sees the sample and the item as they are', async () => {
      const source = `from dataclasses import dataclass
@dataclass
class Seen:
    text: str
def grade(sample, item):
    seen = Seen(sample['output_text'])
    assert seen.text == 'answer {"deep":[{"a":"ä\\\\u0001"},null,1.5]}', seen
    assert sample['output_json'] is None
    assert item == {'deep': [{'a': 'ä\\x01'}, None, 1.5]}, item
    return Fraction(1, 4)
from fractions import Fraction
`
      assert.deepEqual(await bench.grade(source, [{ deep: [{ a: 'ä\u0001' }, null, 1.5] }]), [0.25])
    })

    await group.test('what is wrong with a source is told for every row', async () => {
      const told = async (source: string) => (await bench.grade(source, numbers(2))).map(String)
      for (const reason of await told('def grade(sample, item)\n  return 1')) {
        assert.match(reason, /^SyntaxError: expected ':' \(<grader>, line 1\)\.$/)
      }
      for (const reason of await told('def score(sample, item): return 1')) {
        assert.equal(reason, 'the source has no function grade(sample, item).')
      }
      for (const reason of await told('import nothing_of_this_name\n')) assert.match(reason, /^ModuleNotFoundError: /)
      for (const reason of await told('def grade(): return 1')) assert.match(reason, /^TypeError: grade\(\) takes 0/)
      for (const reason of await told('('.repeat(200_000))) assert.match(reason, /^(SyntaxError|MemoryError)/)
    })

    await group.test('what a grader prints and leaves running is nobody’s business', async () => {
      const source = `import os, subprocess, sys
def grade(sample, item):
    for n in range(16):
        print('x' * 2**20)
        sys.stderr.write('e')
    subprocess.Popen(['sleep', '6666'], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True: os.read(os.open('/dev/zero', 0), 1)
    return 1
`
      assert.deepEqual(await bench.grade(source, numbers(2)), [1, 1])
      assert.deepEqual(await bench.listProcesses(), [])
    })

    await group.test('nothing of one row is there for the next', async () => {
      const source = `import os, builtins
def grade(sample, item):
    left = os.path.exists('/tmp/mark') or os.path.exists('/mnt/data/mark') or hasattr(builtins, 'mark')
    rows = os.path.exists('/mnt/data/batch.jsonl')
    builtins.mark = 1
    open('/tmp/mark', 'w').close()
    open('/mnt/data/mark', 'w').close()
    return int(left or rows)
`
      assert.deepEqual(await bench.grade(source, numbers(3)), [0, 0, 0])
    })

    await group.test('a row that is too large is refused and costs nothing', async () => {
      const ran = watched.ran.length
      const [told] = await bench.grade(half, ['x'.repeat(1024 * 1024)])
      assert.match(String(told), /^Item and sample have \d+ bytes together; a Python grader takes at most 1048576\.$/)
      assert.equal(watched.ran.length, ran)
      const nearly = ['x'.repeat(300_000)]
      assert.deepEqual(
        await bench.grade(
          'def grade(s, i): return len(i[0])',
          numbers(30).map(() => nearly),
        ),
        Array(30).fill(300_000),
      )
      assert.equal(watched.ran.length - ran, 3, 'batches are bounded by their bytes')
    })

    await group.test('a score and a failure are answers, and a row that is too large asks nobody', async () => {
      const heard: string[] = []
      const asking = { asks: (whom: string) => void heard.push(whom), answered: () => void heard.push('answered') }
      const items = [{ n: 1 }, {}, 'x'.repeat(1024 * 1024)]
      for (const item of items) await bench.grade(half, [item], { asking })
      assert.deepEqual(heard, ['python', 'answered', 'python', 'answered'])
    })

    await group.test('two graders of a run share its container, two runs never do', async () => {
      const opened = watched.opened.length
      const third = 'def grade(s, i): return 1 / 3'
      const [a, b, c] = await Promise.all([
        bench.grade(half, numbers(3)),
        bench.grade(third, numbers(3)),
        bench.grade(half, numbers(3), { runId: 'evalrun_other', projectId: bench.app.other.id }),
      ])
      assert.deepEqual([a, b, c], [halves(3), [1 / 3, 1 / 3, 1 / 3], halves(3)])
      assert.equal(watched.opened.length - opened, 1)
      await graders.release('evalrun_other')
    })

    await group.test('a row that is given up goes away, and the others stay', async () => {
      const ending = new AbortController()
      const rows = [{ s: 0.5 }, { s: 0.25 }].map((item) => bench.score(slow, item))
      const gone = assert.rejects(bench.score(slow, { s: 60 }, { signal: ending.signal }), { name: 'AbortError' })
      ending.abort()
      await gone
      assert.deepEqual(await Promise.all(rows), [0.5, 0.25])
      const last = new AbortController()
      const ran = watched.ran.length
      const running = bench.score(slow, { s: 2.5 }, { signal: last.signal })
      assert.ok(await becomesTrue(() => watched.ran.length > ran, waitMs))
      last.abort()
      await assert.rejects(running, { name: 'AbortError' })
      await assert.rejects(bench.score(half, { n: 1 }, { signal: AbortSignal.abort() }), { name: 'AbortError' })
      assert.deepEqual(await bench.grade(half, numbers(2)), halves(2))
      assert.deepEqual(await bench.listProcesses(), [])
    })

    await group.test('a run that is over takes its container and its rows along', async () => {
      const running = bench.score(slow, { s: 2.5 })
      const ended = assert.rejects(running, { name: 'AbortError' })
      await machineAtWork(bench)
      await graders.release('evalrun_test')
      await ended
      assert.deepEqual(await bench.listMachines(), [])
      assert.deepEqual(await bench.grade(half, numbers(2)), halves(2))
    })
  })
}
