/** A model of the catalogue. */
export interface Model {
  /** The dated snapshot; what replies name. */
  readonly id: string
  readonly aliases: readonly string[]
  readonly createdAt: number
  readonly ownedBy: string
  readonly provider: ProviderConfig
  /** What the provider calls it; the id unless given. */
  readonly providerModel: string
  readonly contextWindow: number
  readonly maxOutputTokens: number
  /** Models of one family share limits. */
  readonly family: string
  readonly price: { readonly inputPerMtok: number; readonly cachedInputPerMtok: number; readonly outputPerMtok: number }
  readonly capabilities: { readonly images: boolean; readonly files: boolean; readonly reasoning: boolean }
}

export type ProviderKind = 'openai-compatible' | 'anthropic'
export type ProviderWire = 'chat_completions' | 'responses' | 'messages'

export interface ProviderConfig {
  readonly kind: ProviderKind
  readonly wire: ProviderWire
  readonly baseUrl: string
  /** Read from the environment variable that the file names; null when it names none. */
  readonly apiKey: string | null
  readonly headers: Readonly<Record<string, string>>
}
