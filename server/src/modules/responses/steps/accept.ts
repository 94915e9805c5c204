import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { CreateResponse } from '@switchyard/contracts/responses/request.ts'
import type { ContainerShell } from '#modules/containers/index.ts'
import type { Inference, Model } from '#modules/inference/index.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { newId } from '#platform/std/ids.ts'
import { partsOf } from '../domain/context.ts'
import { checkAnswers, nameAnswers, settleCalls } from '../domain/answers.ts'
import { askedOf, checkTogether, type Asked, type AskedOfBody } from '../domain/asked.ts'
import type { Metering } from '../domain/metering.ts'
import type { ShellPlace } from '../domain/call-item.ts'
import { checkDistinct, givenInput, referencesOf, type GivenInput } from '../domain/input-items.ts'
import { noUsage, type LiveResponse } from '../domain/live-response.ts'
import { filesForShell, withPlacedFiles, type PlacedFile } from '../domain/shell-files.ts'
import { isHosted } from '../domain/tool-choice.ts'
import { findConversationItems } from '../store/conversation-items.ts'
import { findHistory, findItems } from '../store/responses.ts'
import type { ResponsesTables } from '../store/tables.ts'
import type { ContextReader } from './read-context.ts'

export interface AcceptUses {
  readonly db: Db<ResponsesTables>
  readonly inference: Pick<Inference, 'getModel'>
  readonly context: ContextReader
  readonly shell: ContainerShell
}

/** A request that was found to be in order. Nothing is stored yet. */
export interface Accepted {
  readonly live: LiveResponse
  /** What the request itself brought. */
  readonly input: readonly StoredItem[]
  readonly previousId: string | null
  readonly conversationId: string | null
  /** Of the conversation whose items were read; null without one. */
  readonly conversationVersion: number | null
}

/** History that is at hand already, so that it is not read again. */
export type KnownHistory = (responseId: string) => readonly StoredItem[] | null

export type ContextBody = Pick<CreateResponse, 'input' | 'previous_response_id' | 'conversation'>

export async function accept(
  use: AcceptUses,
  metering: Metering,
  body: CreateResponse,
  known: KnownHistory = () => null,
): Promise<Accepted> {
  const { projectId } = metering
  checkTogether(body)
  const model = use.inference.getModel(body.model ?? '')
  const fields = askedOf(body, model)
  checkStore(body, fields)
  const { history, given, conversationVersion } = await readInput(use, projectId, body, known)
  const hosted = fields.tools.some(isHosted)
  // With a shell on our side files are for its commands: the model is told where they lie.
  const shown = hosted ? withPlacedFiles(given.items, []) : given.items
  checkFits(use, projectId, fields, model, settleCalls([...history, ...shown]))
  const id = newId('resp_')
  const placed = hosted ? await placeShell(use, projectId, body, given.items, fields.store ? id : null) : null
  const items = placed === null ? given.items : withPlacedFiles(given.items, placed.files)
  const context = settleCalls([...history, ...items])
  const asked: Asked = { ...fields, ...(placed?.place ?? localPlace), compactNow: given.compact }
  return {
    live: { id, projectId, metering, asked, context, output: [], usage: noUsage, nextOutputIndex: 0, turns: 0 },
    input: settleCalls(items),
    previousId: body.previous_response_id ?? null,
    conversationId: conversationIdOf(body),
    conversationVersion,
  }
}

export const conversationIdOf = ({ conversation }: ContextBody): string | null =>
  conversation == null ? null : typeof conversation === 'string' ? conversation : conversation.id

/** History and input, checked against each other. */
export async function readInput(
  use: Pick<AcceptUses, 'db' | 'context'>,
  projectId: string,
  body: ContextBody,
  known: KnownHistory = () => null,
): Promise<{ history: readonly StoredItem[]; given: GivenInput; conversationVersion: number | null }> {
  const [{ items: history, version: conversationVersion }, referred] = await Promise.all([
    readHistory(use.db, projectId, body, known),
    findItems(use.db, projectId, referencesOf(body.input)),
  ])
  const { items: brought, compact } = givenInput(body.input, referred)
  const given = { items: nameAnswers(history, brought), compact }
  checkDistinct(given.items)
  use.context.check(projectId, given.items)
  checkAnswers(history, given.items)
  await use.context.checkFiles(projectId, given.items)
  return { history, given, conversationVersion }
}

async function readHistory(
  db: Db<ResponsesTables>,
  projectId: string,
  body: ContextBody,
  known: KnownHistory,
): Promise<{ items: readonly StoredItem[]; version: number | null }> {
  const conversationId = conversationIdOf(body)
  if (conversationId !== null) {
    const found = await findConversationItems(db, projectId, conversationId)
    if (found === null) {
      throw new Fault('not_found', 'No such conversation.', { param: 'conversation' })
    }
    return found
  }
  const previous = body.previous_response_id
  if (previous == null) return { items: [], version: null }
  const atHand = known(previous)
  if (atHand !== null) return { items: atHand, version: null }
  const found = await findHistory(db, projectId, previous)
  if (found === null) {
    throw new Fault(
      'previous_response_not_found',
      'There is no stored response with the id given in previous_response_id.',
      {
        param: 'previous_response_id',
      },
    )
  }
  if (!found.ended) {
    throw new Fault('invalid_value', 'The response given in previous_response_id has not ended yet.', {
      param: 'previous_response_id',
    })
  }
  return { items: found.items, version: null }
}

function checkStore(body: CreateResponse, asked: Pick<Asked, 'store'>): void {
  if (!asked.store && body.conversation != null) {
    throw new Fault('invalid_value', 'What happens in a conversation is stored: leave store out, or set it to true.', {
      param: 'store',
    })
  }
}

function checkFits(
  use: Pick<AcceptUses, 'context'>,
  projectId: string,
  asked: AskedOfBody,
  model: Model,
  context: readonly StoredItem[],
): void {
  const parts = context.flatMap(partsOf)
  if (!model.capabilities.images && parts.some((part) => part.type === 'input_image')) {
    throw new Fault('unsupported_value', `The model ${model.id} does not read images.`, { param: 'input' })
  }
  if (!model.capabilities.files && parts.some((part) => part.type === 'input_file' && part.bytes === undefined)) {
    throw new Fault('unsupported_value', `The model ${model.id} does not read files.`, { param: 'input' })
  }
  if (asked.truncation === 'auto' || asked.compactThreshold !== null) return
  const tokens = use.context.tokens(projectId, asked, context)
  if (tokens > model.contextWindow) {
    throw new Fault(
      'context_length_exceeded',
      `The input has about ${tokens} tokens, and ${model.id} reads ${model.contextWindow}.`,
      { param: 'input' },
    )
  }
}

type Place = Pick<Asked, 'shellPlace' | 'shellAbout'>
const localPlace: Place = { shellPlace: { type: 'local' }, shellAbout: null }

async function placeShell(
  use: AcceptUses,
  projectId: string,
  body: CreateResponse,
  items: readonly StoredItem[],
  responseId: string | null,
): Promise<{ place: Place; files: readonly PlacedFile[] }> {
  const index = (body.tools ?? []).findIndex(isHosted)
  const tool = body.tools?.[index]
  if (tool?.type !== 'shell') return { place: localPlace, files: [] }
  const asked = { projectId, responseId, tool, param: `tools[${index}]`, files: filesForShell(items) }
  const { containerId, about, files } = await use.shell.place(asked)
  const shellPlace: ShellPlace = { type: 'container_reference', container_id: containerId }
  return { place: { shellPlace, shellAbout: about }, files }
}
