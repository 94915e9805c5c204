import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StreamEventBody } from '@switchyard/contracts/responses/stream.ts'
import fc from 'fast-check'
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator'
import type { TurnPart } from '#modules/inference/index.ts'
import { testAsked } from '../testing/asked.ts'
import { EventNumbers } from './number-events.ts'
import { responseView, type ResponseState } from './response-view.ts'
import { TurnWriter } from './turn-writer.ts'

const finish: TurnPart = {
  type: 'finish',
  reason: 'stop',
  usage: {
    input_tokens: 1,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens: 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 2,
  },
  model: null,
}

const word = fc.string({ minLength: 1, maxLength: 8 })

let key = 0
function call(parts: TurnPart[]): TurnPart[] {
  key += 1
  return parts.map((part) => ('key' in part ? { ...part, key: String(key) } : part))
}

const block: fc.Arbitrary<TurnPart[]> = fc.oneof(
  fc
    .array(word, { minLength: 1, maxLength: 4 })
    .map((words) => words.map((delta): TurnPart => ({ type: 'text', delta }))),
  word.map((delta): TurnPart[] => [{ type: 'refusal', delta }]),
  fc
    .tuple(fc.constantFrom('summary' as const, 'text' as const), fc.array(word, { minLength: 1, maxLength: 3 }))
    .map(([kind, words]): TurnPart[] => [
      ...words.map((delta): TurnPart => ({ type: 'reasoning', kind, delta })),
      { type: 'reasoning-break' },
      { type: 'reasoning', kind, delta: 'more' },
      { type: 'reasoning-end', encrypted: null },
    ]),
  word.map((delta) =>
    call([
      { type: 'tool-start', key: '', tool: { type: 'function', name: 'f' } },
      { type: 'tool-delta', key: '', delta },
      { type: 'tool-end', key: '', call: { type: 'function', name: 'f', arguments: delta } },
    ]),
  ),
  word.map((input) =>
    call([
      { type: 'tool-start', key: '', tool: { type: 'custom', name: 'c' } },
      { type: 'tool-delta', key: '', delta: input },
      { type: 'tool-end', key: '', call: { type: 'custom', name: 'c', input } },
    ]),
  ),
  fc.array(word, { maxLength: 3 }).map((commands) =>
    call([
      { type: 'tool-start', key: '', tool: { type: 'shell' } },
      { type: 'tool-end', key: '', call: { type: 'shell', commands, timeoutMs: null, maxOutputLength: 10 } },
    ]),
  ),
  word.map((path) =>
    call([
      { type: 'tool-start', key: '', tool: { type: 'apply_patch' } },
      { type: 'tool-end', key: '', call: { type: 'apply_patch', operation: { type: 'delete_file', path } } },
    ]),
  ),
)

const state: ResponseState = {
  id: 'resp_1',
  createdAt: new Date(0),
  asked: testAsked(),
  previousId: null,
  conversationId: null,
  status: 'in_progress',
  completedAt: null,
  error: null,
  incompleteReason: null,
  usage: null,
  output: [],
}

/** Everything a stream says, through the SDK's own accumulator, which refuses what it does not know. */
function accumulated(events: readonly StreamEventBody[]) {
  const numbers = new EventNumbers(0, false)
  let snapshot: ReturnType<typeof accumulateResponse> | undefined
  for (const body of events) {
    const event = JSON.parse(JSON.stringify(numbers.number(body))) as Parameters<typeof accumulateResponse>[0]
    snapshot = accumulateResponse(event, snapshot)
  }
  return snapshot
}

function written(parts: readonly TurnPart[], cutAt: number | null) {
  const events: StreamEventBody[] = [{ type: 'response.created', response: responseView(state) }]
  const writer = new TurnWriter({
    emit: (event) => events.push(event),
    outputIndex: 0,
    shellPlace: { type: 'local' },
    sealReasoning: null,
  })
  for (const part of cutAt === null ? parts : parts.slice(0, cutAt)) writer.take(part)
  if (cutAt === null) writer.take(finish)
  else writer.cutOff()
  return { writer, events }
}

test('whatever a model says, the SDK accepts the stream and ends up with our items', () => {
  fc.assert(
    fc.property(fc.array(block, { maxLength: 6 }), (blocks) => {
      const { writer, events } = written(blocks.flat(), null)
      assert.deepEqual(accumulated(events)?.output, JSON.parse(JSON.stringify(writer.items)))
    }),
    { numRuns: 300 },
  )
})

test('a turn that is cut off anywhere leaves no item open', () => {
  fc.assert(
    fc.property(fc.array(block, { minLength: 1, maxLength: 5 }), fc.nat(), (blocks, at) => {
      const parts = blocks.flat()
      const { writer, events } = written(parts, at % (parts.length + 1))
      const added = events.filter((event) => event.type === 'response.output_item.added').length
      const done = events.filter((event) => event.type === 'response.output_item.done').length
      assert.equal(added, done)
      accumulated(events)
      const open = writer.items.filter((item) => 'status' in item && item.status === 'in_progress')
      assert.ok(
        open.every((item) => item.type === 'shell_call'),
        'only a local shell call waits for its client',
      )
    }),
    { numRuns: 300 },
  )
})

test('nobody listening changes nothing but the events', () => {
  const quiet = new TurnWriter({ emit: null, outputIndex: 3, shellPlace: { type: 'local' }, sealReasoning: null })
  for (const part of [{ type: 'text', delta: 'a' } as const, { type: 'text', delta: 'b' } as const, finish]) {
    quiet.take(part)
  }
  const [item] = quiet.items
  assert.ok(item?.type === 'message')
  assert.deepEqual(item.content, [{ type: 'output_text', text: 'ab', annotations: [], logprobs: [] }])
  assert.equal(quiet.nextOutputIndex, 4)
})
