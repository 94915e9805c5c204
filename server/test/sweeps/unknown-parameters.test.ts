import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallReply } from '../call-operation.ts'
import type { Example } from './example.ts'
import { exampleOf, sweptOperations } from './examples.ts'
import { ask, ownPlace } from './place.ts'
import { rawOf, sendRaw } from './raw-request.ts'
import { snapshot, untouched } from './snapshot.ts'
import { sweepApp } from './sweep-app.ts'

/** Names that mean something to a JavaScript object are unknown parameters like any other. */
const names = ['nonsense', '__proto__', 'constructor', 'toString']

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface Spoilt {
  readonly body: unknown
  readonly param: string
}

/** The body once for every object in it, with one field too many there. */
function* spoilt(body: unknown, name: string, path = ''): Generator<Spoilt> {
  if (Array.isArray(body)) {
    for (const [index, item] of body.entries()) {
      for (const inner of spoilt(item, name, `${path}[${index}]`)) {
        yield { body: body.with(index, inner.body), param: inner.param }
      }
    }
  }
  if (!isObject(body)) return
  const at = (key: string) => (path === '' ? key : `${path}.${key}`)
  // Defined rather than assigned: __proto__ must become a field of its own.
  yield { body: withField(body, name, 1), param: at(name) }
  for (const [key, value] of Object.entries(body)) {
    for (const inner of spoilt(value, name, at(key))) {
      yield { body: withField(body, key, inner.body), param: inner.param }
    }
  }
}

function withField(target: Record<string, unknown>, name: string, value: unknown): Record<string, unknown> {
  return Object.defineProperty({ ...target }, name, { value, enumerable: true, configurable: true, writable: true })
}

function withPart(form: FormData, name: string, value: string | Blob): FormData {
  const copy = new FormData()
  for (const [key, held] of form) copy.append(key, held)
  copy.append(name, value)
  return copy
}

const refusal = (reply: { status: number; error?: { code: string | null; param: string | null } | undefined }) => ({
  status: reply.status,
  code: reply.error?.code,
  param: reply.error?.param,
})

const named = (param: string) => ({ status: 400, code: 'unknown_parameter', param })

test('a field that an operation does not know is refused by name, wherever it stands', async (t) => {
  const place = ownPlace(await sweepApp(t))
  for (const operation of sweptOperations()) {
    await t.test(operation.id, async () => {
      const example = await exampleOf(operation, place)
      const before = await snapshot(place.app)
      for (const name of names) {
        if (example.body instanceof FormData) {
          for (const value of ['1', new Blob(['1'])]) {
            const reply: CallReply<unknown> = await ask(place, operation, {
              ...example,
              body: withPart(example.body, name, value),
            })
            assert.deepEqual(refusal(reply), named(name))
          }
          continue
        }
        // Also where there is no body at all: then every field is unknown.
        for (const { body, param } of spoilt(example.body ?? {}, name)) {
          const reply = await sendRaw(place, operation, example, rawOf(body as Example['body']))
          assert.deepEqual(refusal(reply), named(param))
        }
      }
      assert.deepEqual(
        untouched(operation.id, await snapshot(place.app)),
        untouched(operation.id, before),
        'something was changed',
      )
    })
  }
})

test('a query parameter that an operation does not know is refused by name', async (t) => {
  const place = ownPlace(await sweepApp(t))
  for (const operation of sweptOperations()) {
    const example = await exampleOf(operation, place)
    const before = await snapshot(place.app)
    for (const name of names) {
      const query = withField({ ...example.query }, name, '1') as Record<string, string>
      const reply = await ask(place, operation, { ...example, query })
      assert.deepEqual(refusal(reply), named(name), `${operation.id} ${reply.text}`)
    }
    assert.deepEqual(await snapshot(place.app), before, `${operation.id} changed something`)
  }
})
