import { batchOperations } from './batches.ts'
import { chatCompletionOperations } from './chat-completions.ts'
import { containerOperations } from './containers.ts'
import { completionOperations } from './completions.ts'
import { conversationOperations } from './conversations.ts'
import { evalOperations } from './evals/evals.ts'
import { graderOperations } from './evals/grader-runs.ts'
import { outputItemOperations } from './evals/output-items.ts'
import { evalRunOperations } from './evals/runs.ts'
import { fileOperations } from './files.ts'
import { fineTuningOperations } from './fine-tuning.ts'
import { modelOperations } from './models.ts'
import type { Operation } from './operation.ts'
import { organizationOperations } from './organization/index.ts'
import { responseOperations } from './responses/operations.ts'
import { skillOperations } from './skills.ts'
import { storedCompletionOperations } from './stored-completions.ts'
import { vectorStoreOperations } from './vector-stores.ts'
import { webhookOperations } from './webhooks.ts'

/** Every operation of the public API. The OpenAPI file is printed from it, and the sweeps walk it. */
export const operations: readonly Operation[] = [
  ...fileOperations,
  ...organizationOperations,
  ...webhookOperations,
  ...modelOperations,
  ...chatCompletionOperations,
  ...storedCompletionOperations,
  ...completionOperations,
  ...responseOperations,
  ...conversationOperations,
  ...containerOperations,
  ...fineTuningOperations,
  ...skillOperations,
  ...vectorStoreOperations,
  ...batchOperations,
  ...evalOperations,
  ...evalRunOperations,
  ...outputItemOperations,
  ...graderOperations,
]
