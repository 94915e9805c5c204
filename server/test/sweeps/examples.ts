import type { Operation } from '@switchyard/contracts/operation.ts'
import { operations } from '@switchyard/contracts/operations.ts'
import type { Example, MakeExample } from './example.ts'
import { batchExamples } from './examples/batches.ts'
import { containerExamples } from './examples/containers.ts'
import { conversationExamples } from './examples/conversations.ts'
import { evalExamples } from './examples/evals.ts'
import { fileExamples } from './examples/files.ts'
import { fineTuningExamples, vectorStoreExamples } from './examples/limits.ts'
import { inferenceExamples } from './examples/inference.ts'
import { organizationExamples } from './examples/organization.ts'
import { responseExamples } from './examples/responses.ts'
import { skillExamples } from './examples/skills.ts'
import { webhookExamples } from './examples/webhooks.ts'
import type { Place } from './place.ts'

/** One working call for every operation. Each module's part is typed, so a missing one does not compile either. */
const examples: Readonly<Record<string, MakeExample>> = {
  ...fileExamples,
  ...organizationExamples,
  ...webhookExamples,
  ...inferenceExamples,
  ...responseExamples,
  ...conversationExamples,
  ...skillExamples,
  ...containerExamples,
  ...fineTuningExamples,
  ...vectorStoreExamples,
  ...batchExamples,
  ...evalExamples,
}

/** Some are only counted so far, and answer 501 whatever they are asked. */
export const isOffered = ({ faults = [] }: Operation): boolean => !faults.includes('not_implemented')

/** Every operation with its example; throws when one of either has no partner. */
export function sweptOperations(): readonly Operation[] {
  const known = new Set(operations.map(({ id }) => id))
  const missing = operations.filter(({ id }) => examples[id] === undefined).map(({ id }) => id)
  const stray = Object.keys(examples).filter((id) => !known.has(id))
  if (missing.length > 0 || stray.length > 0) {
    throw new Error(
      `server/test/sweeps/examples: add an example for ${missing.join(', ') || 'nothing'}; remove ${stray.join(', ') || 'nothing'}.`,
    )
  }
  return operations
}

export async function exampleOf(operation: Operation, at: Place): Promise<Example> {
  const makeExample = examples[operation.id]
  if (makeExample === undefined) throw new Error(`server/test/sweeps/examples has nothing for ${operation.id}.`)
  return await makeExample(at)
}
