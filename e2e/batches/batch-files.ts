import { toStreamingFile } from 'openai'
import type { OpenAI } from 'openai'
import type { Batch } from 'openai/resources/batches'
import { Readable } from 'node:stream'
import { createInterface } from 'node:readline/promises'
import { batchLine } from '#modules/batches/testing/batch-lines.ts'
import type { BatchEndpoint } from '@switchyard/contracts/batches.ts'

/** One batch of the proof: so many lines, each with a marker that the provider sees. */
export interface Asked {
  readonly endpoint: BatchEndpoint
  readonly lines: number
}

export const customIdOf = (n: number) => `line-${n}`

/** What the provider is asked, and says again: the marker, and words to make it as long as a real request. */
export const promptOf = ({ endpoint }: Asked, n: number) => `<${endpoint} ${n}> ${'Tell me about it. '.repeat(10)}`

const marker = /<(\/v1\/[a-z/]+ \d+)>/

export const markerIn = (body: unknown) => marker.exec(JSON.stringify(body))?.[1] ?? null

async function* inputOf(asked: Asked): AsyncGenerator<Buffer> {
  for (let n = 1; n <= asked.lines; n += 1) {
    yield Buffer.from(`${JSON.stringify(batchLine(asked.endpoint, customIdOf(n), promptOf(asked, n)))}\n`)
  }
}

export async function beginBatch(client: OpenAI, asked: Asked): Promise<Batch> {
  const file = toStreamingFile(Readable.toWeb(Readable.from(inputOf(asked))) as never, 'input.jsonl')
  const { id } = await client.files.create({ file, purpose: 'batch' })
  return await client.batches.create({ input_file_id: id, endpoint: asked.endpoint, completion_window: '24h' })
}

export interface OutputReport {
  readonly lines: number
  /** Lines that are not the next of the input, or do not say what was asked. */
  readonly wrong: number
  readonly tokens: number
}

/** Reads an output file line by line: every line of the input, once, in order, with its own answer. */
export async function readOutput(client: OpenAI, asked: Asked, fileId: string | undefined): Promise<OutputReport> {
  if (fileId === undefined) return { lines: 0, wrong: 0, tokens: 0 }
  const { body } = await client.files.content(fileId)
  let lines = 0
  let wrong = 0
  let tokens = 0
  for await (const text of createInterface({ input: Readable.fromWeb(body as never) })) {
    lines += 1
    const line = JSON.parse(text) as {
      custom_id: string
      response: { status_code: number; body: { usage: { total_tokens: number } } }
    }
    tokens += line.response.body.usage.total_tokens
    const right = line.custom_id === customIdOf(lines) && line.response.status_code === 200
    if (!right || markerIn(line.response.body) !== `${asked.endpoint} ${lines}`) wrong += 1
  }
  return { lines, wrong, tokens }
}
