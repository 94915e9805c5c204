import type { ChatCompletion, CreateChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import type { Completion, CreateCompletion } from '@switchyard/contracts/completions.ts'
import type { Limits } from '#modules/limits/index.ts'
import type { Database } from '#platform/db/db.ts'
import { keepDays } from '#platform/db/day-partitions.ts'
import { dueSweep } from '#platform/db/due-sweep.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import type { Catalogue } from './domain/catalogue.ts'
import { estimateTokens, type Estimated } from './domain/estimate-tokens.ts'
import type { Model } from './domain/model.ts'
import type { StoredCompletion } from './domain/stored-completion.ts'
import type { TurnPart, TurnRequest } from './domain/turn.ts'
import { checkWireOffers } from './domain/wire-offers.ts'
import { openProvider } from './providers/open-provider.ts'
import type { Provider } from './providers/provider.ts'
import type { ProviderLimits } from './providers/wire/limits.ts'
import { ProviderPools } from './providers/wire/pools.ts'
import { createChatCompletionRoute } from './routes/create-chat-completion.ts'
import { createCompletionRoute } from './routes/create-completion.ts'
import { listModelsRoute, retrieveModelRoute } from './routes/read-models.ts'
import {
  deleteChatCompletionRoute,
  listChatCompletionsRoute,
  listChatMessagesRoute,
  retrieveChatCompletionRoute,
  updateChatCompletionRoute,
} from './routes/stored-completions.ts'
import { answerChatLine, answerPromptsLine } from './steps/answer-line.ts'
import { keepAnswerOf, type KeptFor } from './steps/keep-chat.ts'
import { streamTurn } from './steps/stream-turn.ts'
import { listWithMessages, type CompletionFilter } from './store/completions.ts'
import { dayTables } from './store/partitions.ts'
import type { InferenceTables } from './store/tables.ts'

export interface InferenceUses {
  readonly catalogue: Catalogue
  readonly providerLimits: ProviderLimits
  readonly limits: Pick<Limits, 'recordAlone'>
  readonly db: Database
  readonly log: Log
  readonly metrics?: Metrics
  /** Of stored chat completions. */
  readonly retentionDays: number
}

export interface Inference {
  readonly routes: Route[]
  findModel(name: string): Model | null
  /** Throws `model_not_found`. */
  getModel(name: string): Model
  /** Throws `unsupported_value` for a field of a chat completion that the model's provider cannot be told. */
  checkOffered: typeof checkWireOffers
  /** Tokens of the input, from its characters. */
  estimateTokens(input: Estimated): number
  /**
   * Asks a model for one turn. `finish` is always the last part; a failure is thrown as ProviderFault, and an abort as
   * the signal's reason.
   */
  streamTurn(request: TurnRequest, signal: AbortSignal): AsyncIterable<TurnPart>
  /** The whole answer to a request, without admission; what it used is for the caller to record. */
  answerChat(body: CreateChatCompletion, signal: AbortSignal): Promise<ChatCompletion>
  answerPrompts(body: CreateCompletion, signal: AbortSignal): Promise<Completion>
  /** Stores a whole answer, if its request asked for that. */
  keepChat(tx: Tx, kept: KeptFor, body: CreateChatCompletion, answer: ChatCompletion): Promise<void>
  /**
   * Stored chat completions, oldest first, from after an id on. A page holds no more than `limit`, and fewer where they are
   * large; an empty one is the end.
   */
  listStored(
    projectId: string,
    filter: CompletionFilter,
    page: { readonly after: string | null; readonly limit: number },
  ): Promise<StoredCompletion[]>
  /** Closes the connections to providers. */
  readonly parts: Part[]
  /** Run by the role worker. */
  readonly sweeps: Part[]
}

const partitionsEveryMs = 3_600_000

export function createInference(uses: InferenceUses): Inference {
  const { catalogue, providerLimits, limits, log, metrics, db: database } = uses
  const { models } = catalogue
  const db = database.as<InferenceTables>()
  const pools = new ProviderPools(providerLimits)
  metrics?.gauge('model_requests_in_flight_count', 'Requests to model providers that are under way or wait.', [], () =>
    pools.inFlight(),
  )
  const providers = new Map<Model, Provider>(models.map((model) => [model, openProvider(model, pools, providerLimits)]))
  const use = { catalogue, limits, db, log, providerOf: (model: Model) => providers.get(model) as Provider }
  return {
    routes: [
      listModelsRoute(use),
      retrieveModelRoute(use),
      createChatCompletionRoute(use),
      listChatCompletionsRoute(use),
      retrieveChatCompletionRoute(use),
      updateChatCompletionRoute(use),
      deleteChatCompletionRoute(use),
      listChatMessagesRoute(use),
      createCompletionRoute(use),
    ],
    findModel: (name) => catalogue.find(name),
    getModel: (name) => catalogue.get(name),
    checkOffered: checkWireOffers,
    estimateTokens,
    streamTurn(request, signal) {
      return streamTurn(use.providerOf(catalogue.get(request.model)), request, signal)
    },
    answerChat: (body, signal) => answerChatLine(use, body, signal),
    answerPrompts: (body, signal) => answerPromptsLine(use, body, signal),
    keepChat: async (tx, kept, body, answer) => await keepAnswerOf(tx, kept, body)?.(answer),
    async listStored(projectId, filter, page) {
      const model = filter.model == null ? null : (catalogue.find(filter.model)?.id ?? filter.model)
      return await listWithMessages(db, projectId, { ...filter, model }, page)
    },
    parts: [{ name: 'model providers', stop: () => pools.close() }],
    sweeps: [
      dueSweep({
        name: 'inference.partitions',
        everyMs: partitionsEveryMs,
        leaseMs: 2 * partitionsEveryMs,
        roundsMax: 1,
        db: database.as<PlatformTables>(),
        log,
        run: async () => await keepDays(database, dayTables, await database.now(), uses.retentionDays),
      }),
    ],
  }
}
