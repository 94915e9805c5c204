import type { OutputItem, StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { StreamEventBody } from '@switchyard/contracts/responses/stream.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'
import { ProviderFault, type Inference, type TurnRequest } from '#modules/inference/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { newId } from '#platform/std/ids.ts'
import type { TurnMeter } from '../domain/metering.ts'
import type { LiveResponse, Moved } from '../domain/live-response.ts'
import { noUsage } from '../domain/live-response.ts'
import type { ContextReader } from './read-context.ts'
import type { Telling } from './take-turn.ts'

export interface CompactUses {
  readonly inference: Pick<Inference, 'streamTurn'>
  readonly context: ContextReader
}

const task = `You are handing this conversation over. Write everything that is needed to go on with it without having read it:
what the user wants, decisions and their reasons, facts, names, numbers, paths and identifiers word for word, what was
done with which result, and what is still open. Write plain text and nothing else.`

/** User messages that stay as they were said: the newest, as many as fit. */
const keptMessagesMax = 20
const keptCharactersMax = 20_000

export interface Compacted {
  readonly item: Extract<OutputItem, { type: 'compaction' }>
  readonly usage: Usage
}

/** Asks the model for a summary of a context and seals it. */
export async function compactItems(
  use: CompactUses,
  live: LiveResponse,
  { signal, meter }: { signal: AbortSignal; meter: TurnMeter },
  id = newId('cmp_'),
): Promise<Compacted> {
  const items = await use.context.forModel(live)
  const ask: StoredItem = {
    type: 'message',
    id: newId('msg_'),
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text: task }],
  }
  meter.begin(() => use.context.tokens(live.projectId, live.asked, items))
  let summary = ''
  let usage = noUsage
  for await (const part of use.inference.streamTurn(summaryRequest(live, [...items, ask]), signal)) {
    if (part.type === 'text') {
      summary += part.delta
      meter.say(part.delta.length)
    } else if (part.type === 'finish') {
      usage = part.usage
      meter.finish(usage)
    }
  }
  if (summary === '') throw new ProviderFault('malformed', 'The model gave no summary to compact the context with.')
  const sealed = use.context.seal(live.projectId, { summary, kept: keptMessages(items) })
  return { item: { type: 'compaction', id, encrypted_content: sealed }, usage }
}

export function keptMessages(items: readonly StoredItem[]): StoredItem[] {
  const kept: StoredItem[] = []
  let characters = 0
  for (const item of items.toReversed()) {
    if (item.type !== 'message' || item.role !== 'user') continue
    characters += JSON.stringify(item.content).length
    if (kept.length >= keptMessagesMax || characters > keptCharactersMax) break
    kept.unshift(item)
  }
  return kept
}

function summaryRequest({ asked }: LiveResponse, items: readonly StoredItem[]): TurnRequest {
  return {
    model: asked.model,
    instructions: asked.instructions,
    items,
    tools: [],
    toolChoice: { mode: 'none' },
    parallelToolCalls: true,
    maxOutputTokens: null,
    temperature: null,
    topP: null,
    topLogprobs: null,
    format: { type: 'text' },
    verbosity: null,
    reasoning: { effort: null, summary: null },
    encryptedReasoning: false,
    stream: false,
  }
}

/** A compaction in the middle of a response. */
export async function* takeCompaction(
  use: CompactUses,
  live: LiveResponse,
  { tell, signal, meter }: { tell: boolean; signal: AbortSignal; meter: TurnMeter },
): Telling {
  const id = newId('cmp_')
  const at = { output_index: live.nextOutputIndex }
  if (tell) {
    const item: OutputItem = { type: 'compaction', id, encrypted_content: '' }
    const begun: StreamEventBody[] = [
      { type: 'response.output_item.added', ...at, item },
      { type: 'response.compaction.compacting', ...at, item_id: id },
    ]
    yield begun
  }
  const nextOutputIndex = live.nextOutputIndex + 1
  let compacted: Compacted
  try {
    compacted = await compactItems(use, live, { signal, meter }, id)
  } catch (error) {
    if (!(error instanceof ProviderFault) && !(error instanceof Fault) && !signal.aborted) throw error
    if (!signal.aborted) meter.refused()
    const ending: Moved['ending'] = signal.aborted
      ? { status: 'cancelled' }
      : { status: 'failed', error: { code: 'server_error', message: (error as Error).message }, cause: error }
    if (tell) {
      const item: OutputItem = { type: 'compaction', id, encrypted_content: '' }
      yield [{ type: 'response.output_item.done', ...at, item }]
    }
    return { items: [], usage: noUsage, nextOutputIndex, ending }
  }
  if (tell) yield [{ type: 'response.output_item.done', ...at, item: compacted.item }]
  return { items: [compacted.item], usage: compacted.usage, nextOutputIndex, ending: null }
}
