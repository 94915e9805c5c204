import { SettingsRefused } from '#platform/config/load.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Metrics } from '#platform/telemetry/metrics.ts'
import { Catalogue } from './domain/catalogue.ts'
import { estimateTokens, type Estimated } from './domain/estimate-tokens.ts'
import type { Model } from './domain/model.ts'
import { duplicates } from './domain/models-file.ts'
import type { TurnPart, TurnRequest } from './domain/turn.ts'
import { openProvider } from './providers/open-provider.ts'
import type { Provider } from './providers/provider.ts'
import type { ProviderLimits } from './providers/wire/limits.ts'
import { ProviderPools } from './providers/wire/pools.ts'
import { createChatCompletionRoute } from './routes/create-chat-completion.ts'
import { createCompletionRoute } from './routes/create-completion.ts'
import { listModelsRoute, retrieveModelRoute } from './routes/read-models.ts'
import { loadModels } from './steps/load-models.ts'
import { streamTurn } from './steps/stream-turn.ts'

export interface InferenceUses {
  /** Path of models.yaml; null for an empty catalogue. */
  readonly modelsFile: string | null
  /** Reads the environment variable that holds a provider's key. */
  readonly variable: (name: string) => string | undefined
  readonly limits: ProviderLimits
  readonly metrics?: Metrics
  /** Beside those of the file. */
  readonly extraModels?: readonly Model[]
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
  /** Closes the connections to providers. */
  readonly parts: Part[]
}

export function createInference({ modelsFile, variable, limits, metrics, extraModels = [] }: InferenceUses): Inference {
  const models = [...loadModels(modelsFile, variable), ...extraModels]
  const problems = duplicates(models)
  if (problems.length > 0) throw new SettingsRefused(problems.map((problem) => `SWITCHYARD_MODELS: ${problem}.`))
  const catalogue = new Catalogue(models)
  const pools = new ProviderPools(limits)
  metrics?.gauge('model_requests_in_flight_count', 'Requests to model providers that are under way or wait.', [], () =>
    pools.inFlight(),
  )
  const providers = new Map<Model, Provider>(models.map((model) => [model, openProvider(model, pools, limits)]))
  const use = { catalogue, providerOf: (model: Model) => providers.get(model) as Provider }
  return {
    routes: [listModelsRoute(use), retrieveModelRoute(use), createChatCompletionRoute(use), createCompletionRoute(use)],
    findModel: (name) => catalogue.find(name),
    getModel: (name) => catalogue.get(name),
    estimateTokens,
    streamTurn(request, signal) {
      return streamTurn(use.providerOf(catalogue.get(request.model)), request, signal)
    },
    parts: [{ name: 'model providers', stop: () => pools.close() }],
  }
}
