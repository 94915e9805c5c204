import type { LanguageModelV4ReasoningPart, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { SealedReasoning } from '../sealed-reasoning.ts'

/** Reasoning as the packages give it, to be given back: its text and whatever the provider signed it with. */
export class Thought {
  text = ''
  #metadata: SharedV4ProviderMetadata = {}

  /** A signature comes in pieces of its own, after the text. */
  add(delta: string, metadata: SharedV4ProviderMetadata | undefined): void {
    this.text += delta
    for (const [provider, fields] of Object.entries(metadata ?? {})) {
      this.#metadata[provider] = { ...this.#metadata[provider], ...fields }
    }
  }

  /** Null when the provider signed nothing: then it would not take the reasoning back. */
  sealed(sealed: SealedReasoning): string | null {
    if (Object.keys(this.#metadata).length === 0) return null
    return sealed.tagged(JSON.stringify({ text: this.text, metadata: this.#metadata }))
  }
}

/** The same on its way back; null when it came from elsewhere. */
export function thoughtOf(
  encrypted: string | null | undefined,
  sealed: SealedReasoning,
): LanguageModelV4ReasoningPart | null {
  const opened = sealed.open(encrypted)
  if (opened === null) return null
  try {
    const { text, metadata } = JSON.parse(opened) as { text: string; metadata: SharedV4ProviderMetadata }
    return { type: 'reasoning', text, providerOptions: metadata }
  } catch {
    return null
  }
}
