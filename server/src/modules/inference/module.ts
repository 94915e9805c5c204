import type { ChatCompletion, CreateChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import type { Completion, CreateCompletion } from '@switchyard/contracts/completions.ts'
import type { Limits } from '#modules/limits/index.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import type { Catalogue } from './domain/catalogue.ts'
import { estimateTokens, type Estimated } from './domain/estimate-tokens.ts'
import type { Model } from './domain/model.ts'
import type { TurnPart, TurnRequest } from './domain/turn.ts'
import { openProvider } from './providers/open-provider.ts'
import type { Provider } from './providers/provider.ts'
import type { ProviderLimits } from './providers/wire/limits.ts'
import { ProviderPools } from './providers/wire/pools.ts'
import { createChatCompletionRoute } from './routes/create-chat-completion.ts'
import { createCompletionRoute } from './routes/create-completion.ts'
import { listModelsRoute, retrieveModelRoute } from './routes/read-models.ts'
import { answerChatLine, answerPromptsLine } from './steps/answer-line.ts'
import { streamTurn } from './steps/stream-turn.ts'

export interface InferenceUses {
  readonly catalogue: Catalogue
  readonly providerLimits: ProviderLimits
  readonly limits: Pick<Limits, 'recordAlone'>
  readonly log: Log
  readonly metrics?: Metrics
}

export interface Inference {
  readonly routes: Route[]
  findModel(name: string): Model | null
  /** Throws `model_not_found`. */
  getModel(name: string): Model
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
  /** Closes the connections to providers. */
  readonly parts: Part[]
}

export function createInference({ catalogue, providerLimits, limits, log, metrics }: InferenceUses): Inference {
  const { models } = catalogue
  const pools = new ProviderPools(providerLimits)
  metrics?.gauge('model_requests_in_flight_count', 'Requests to model providers that are under way or wait.', [], () =>
    pools.inFlight(),
  )
  const providers = new Map<Model, Provider>(models.map((model) => [model, openProvider(model, pools, providerLimits)]))
  const use = { catalogue, limits, log, providerOf: (model: Model) => providers.get(model) as Provider }
  return {
    routes: [listModelsRoute(use), retrieveModelRoute(use), createChatCompletionRoute(use), createCompletionRoute(use)],
    findModel: (name) => catalogue.find(name),
    getModel: (name) => catalogue.get(name),
    estimateTokens,
    streamTurn(request, signal) {
      return streamTurn(use.providerOf(catalogue.get(request.model)), request, signal)
    },
    answerChat: (body, signal) => answerChatLine(use, body, signal),
    answerPrompts: (body, signal) => answerPromptsLine(use, body, signal),
    parts: [{ name: 'model providers', stop: () => pools.close() }],
  }
}
