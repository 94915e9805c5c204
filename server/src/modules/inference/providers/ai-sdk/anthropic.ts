import { createAnthropic } from '@ai-sdk/anthropic'
import type { SdkPackage } from './provider.ts'

/** The messages wire. */
export const anthropicPackage: SdkPackage = {
  open: ({ provider, providerModel }, fetchThere) =>
    createAnthropic({
      baseURL: provider.baseUrl,
      // Without a key the package would look for one in the environment.
      apiKey: provider.apiKey ?? 'none',
      headers: provider.headers,
      fetch: fetchThere,
    })(providerModel),
  options: ({ parallelToolCalls }) => (parallelToolCalls ? {} : { anthropic: { disableParallelToolUse: true } }),
}
