import { fileOperations } from './files.ts'
import type { Operation } from './operation.ts'
import { organizationOperations } from './organization/index.ts'
import { webhookOperations } from './webhooks.ts'

/** Every operation of the public API. The OpenAPI file is printed from it, and the sweeps walk it. */
export const operations: readonly Operation[] = [...fileOperations, ...organizationOperations, ...webhookOperations]
