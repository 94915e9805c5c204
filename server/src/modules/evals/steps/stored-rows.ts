import type { ResponsesSource, StoredCompletionsSource } from '@switchyard/contracts/evals/data-sources.ts'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { Inference, StoredCompletion } from '#modules/inference/index.ts'
import type { LoggedResponse, Responses } from '#modules/responses/index.ts'
import type { SoundRow } from '../domain/parse-row.ts'
import { sampleOfChat, sampleOfResponse } from '../domain/sample.ts'

export interface StoredRowsUses {
  readonly inference: Pick<Inference, 'listStored'>
  readonly responses: Pick<Responses, 'listLogged'>
}

export type StoredRow = Omit<SoundRow, 'name'>

/** Read at once; a page of large ones has fewer. */
const pageRowsMax = 100
/** Where the source names none: who reads ends a run that has too many rows. */
const noLimit = Number.POSITIVE_INFINITY
/** The last second of the year 9999: what is later is no time. */
const secondsMax = 253_402_300_799

const timeOf = (seconds: number | null | undefined): Date | null =>
  seconds == null ? null : new Date(Math.min(seconds, secondsMax) * 1_000)

/** Stored chat completions as rows, oldest first: what was asked is the item, what was answered the sample. */
export function rowsOfCompletions(
  use: Pick<StoredRowsUses, 'inference'>,
  projectId: ProjectId,
  source: StoredCompletionsSource,
): AsyncGenerator<StoredRow, void, void> {
  const { metadata = null, model = null } = source
  const filter = {
    createdAfter: timeOf(source.created_after),
    createdBefore: timeOf(source.created_before),
    metadata,
    model,
  }
  const list = (page: Page) => use.inference.listStored(projectId, filter, page)
  return paged(list, rowOfCompletion, source.limit ?? noLimit)
}

/** Stored responses as rows, in the same form. */
export function rowsOfResponses(
  use: Pick<StoredRowsUses, 'responses'>,
  projectId: ProjectId,
  source: ResponsesSource,
): AsyncGenerator<StoredRow, void, void> {
  const filter = {
    createdAfter: timeOf(source.created_after),
    createdBefore: timeOf(source.created_before),
    instructionsSearch: source.instructions_search ?? null,
    metadata: source.metadata ?? null,
    model: source.model ?? null,
    reasoningEffort: source.reasoning_effort ?? null,
    temperature: source.temperature ?? null,
    topP: source.top_p ?? null,
    tools: source.tools ?? null,
    users: source.users ?? null,
  }
  const list = (page: Page) => use.responses.listLogged(projectId, filter, page)
  return paged(list, rowOfResponse, noLimit)
}

interface Page {
  readonly after: string | null
  readonly limit: number
}

interface Named {
  readonly id: string
}

async function* paged<Stored extends Named>(
  list: (page: Page) => Promise<readonly Stored[]>,
  rowOf: (stored: Stored) => StoredRow,
  limit: number,
): AsyncGenerator<StoredRow, void, void> {
  let after: string | null = null
  for (let left = limit; left > 0;) {
    const page: readonly Stored[] = await list({ after, limit: Math.min(left, pageRowsMax) })
    if (page.length === 0) return
    for (const stored of page) yield rowOf(stored)
    left -= page.length
    after = page.at(-1)?.id ?? null
  }
}

function rowOfCompletion({ id, model, messages, metadata, asked, completion }: StoredCompletion): StoredRow {
  const tools = asked.tools === undefined ? {} : { tools: asked.tools }
  return { item: { id, input: messages, metadata, model, ...tools }, sample: { ...sampleOfChat(completion) } }
}

function rowOfResponse({ id, input, response }: LoggedResponse): StoredRow {
  const { instructions, metadata, model, tools } = response
  return {
    item: {
      id,
      input: input.map(messageOf),
      ...(instructions === null ? {} : { instructions }),
      metadata,
      model,
      ...(tools.length === 0 ? {} : { tools }),
    },
    sample: { ...sampleOfResponse(response) },
  }
}

/** A message as one writes it by hand; what is no message stays as it is. Both can be asked again. */
function messageOf(item: StoredItem): unknown {
  if (item.type !== 'message') return item
  const texts = item.content.map((part) => ('text' in part ? part.text : null))
  return { role: item.role, content: texts.includes(null) ? item.content : texts.join('') }
}
