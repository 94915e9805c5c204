import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { onStopSignal } from './signals.ts'

/** A process that says `asked` on its first signal and then takes its time. */
function startChild(t: TestContext, onAsked: string) {
  const source = `
    import { onStopSignal } from ${JSON.stringify(new URL('./signals.ts', import.meta.url).href)}
    const stay = setInterval(() => {}, 1000)
    onStopSignal((signal) => { console.log('asked ' + signal); ${onAsked} })
    console.log('up')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(() => void child.kill('SIGKILL'))
  const lines = createInterface({ input: child.stdout })
  const ended = once(child, 'exit')
  return { child, ended, next: async () => String((await once(lines, 'line'))[0]) }
}

test('the first signal asks the program to end, which it does in its own way', async (t) => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const { child, ended, next } = startChild(t, 'clearInterval(stay)')
    assert.equal(await next(), 'up')
    child.kill(signal)
    assert.equal(await next(), `asked ${signal}`)
    assert.deepEqual(await ended, [0, null])
  }
})

test('a second signal ends a program that takes too long', async (t) => {
  const { child, ended, next } = startChild(t, '')
  assert.equal(await next(), 'up')
  child.kill('SIGTERM')
  assert.equal(await next(), 'asked SIGTERM')
  child.kill('SIGINT')
  assert.deepEqual(await ended, [130, null])
})

test('who stops listening leaves nothing behind', () => {
  const before = process.listenerCount('SIGTERM')
  const forget = onStopSignal(() => {})
  assert.equal(process.listenerCount('SIGTERM'), before + 1)
  forget()
  assert.equal(process.listenerCount('SIGTERM'), before)
})
