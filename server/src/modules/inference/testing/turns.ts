import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { TestContext } from 'node:test'
import { startProviderDouble, type ProviderDouble } from '../../../../test/provider-double.ts'
import { openDatabase } from '#platform/db/db.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { Catalogue } from '../domain/catalogue.ts'
import type { Model, ProviderWire } from '../domain/model.ts'
import type { TurnPart, TurnRequest } from '../domain/turn.ts'
import { createInference, type Inference } from '../module.ts'
import type { ProviderLimits } from '../providers/wire/limits.ts'

export const wires: readonly ProviderWire[] = ['chat_completions', 'responses', 'messages']

const usualLimits: ProviderLimits = {
  connectMs: 1_000,
  firstPartMs: 5_000,
  idleMs: 5_000,
  answerMs: 5_000,
  connectionsMax: 8,
}

export function testModel(wire: ProviderWire, baseUrl: string, more: Partial<Model> = {}): Model {
  return {
    id: `${wire}-2026-11-01`,
    aliases: [wire],
    createdAt: 0,
    ownedBy: 'test',
    provider: {
      kind: wire === 'messages' ? 'anthropic' : 'openai-compatible',
      wire,
      baseUrl,
      apiKey: 'provider-key',
      headers: {},
    },
    providerModel: 'upstream-name',
    contextWindow: 8_000,
    maxOutputTokens: 1_000,
    family: 'test',
    price: { inputPerMtok: 0, cachedInputPerMtok: 0, outputPerMtok: 0 },
    capabilities: { images: true, files: true, reasoning: true },
    ...more,
  }
}

/** A turn stores nothing: a database that nobody is ever connected to. */
const nowhere = () =>
  openDatabase({
    url: 'postgres://127.0.0.1:1/none',
    connectionsMax: 1,
    statementTimeoutMs: 1,
    applicationName: 'test',
    onIdleError: () => undefined,
  })

/** A double and a catalogue of three models that it answers, one for each wire. */
export async function testInference(
  t: TestContext,
  limits: Partial<ProviderLimits> = {},
): Promise<{ double: ProviderDouble; inference: Inference }> {
  const double = await startProviderDouble()
  const models = wires.map((wire) => testModel(wire, double.url))
  const db = nowhere()
  const inference = createInference({
    catalogue: new Catalogue(models),
    providerLimits: { ...usualLimits, ...limits },
    log: createLog({ level: 'silent', pretty: false, name: 'test' }),
    db,
    retentionDays: 1,
    limits: { recordAlone: () => Promise.reject(new Error('turns are metered by whoever asks for them')) },
  })
  t.after(async () => {
    for (const part of inference.parts) await part.stop?.()
    await double.close()
  })
  return { double, inference }
}

export function userMessage(text: string): StoredItem {
  return { type: 'message', id: 'msg_1', role: 'user', status: 'completed', content: [{ type: 'input_text', text }] }
}

export function turn(model: string, more: Partial<TurnRequest> = {}): TurnRequest {
  return {
    model,
    instructions: null,
    items: [userMessage('Say it again.')],
    tools: [],
    toolChoice: { mode: 'auto' },
    parallelToolCalls: true,
    maxOutputTokens: null,
    temperature: null,
    topP: null,
    topLogprobs: null,
    format: { type: 'text' },
    verbosity: null,
    reasoning: { effort: null, summary: null },
    encryptedReasoning: false,
    stream: true,
    ...more,
  }
}

export async function collect(parts: AsyncIterable<TurnPart>): Promise<TurnPart[]> {
  const all: TurnPart[] = []
  for await (const part of parts) all.push(part)
  return all
}

export const textOf = (parts: readonly TurnPart[]) =>
  parts.map((part) => (part.type === 'text' ? part.delta : '')).join('')

export const callsOf = (parts: readonly TurnPart[]) =>
  parts.flatMap((part) => (part.type === 'tool-end' ? [part.call] : []))

export const usageOf = (parts: readonly TurnPart[]) => {
  const last = parts.at(-1)
  return last?.type === 'finish' ? last.usage : null
}
