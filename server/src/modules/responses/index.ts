export { createResponses, type Responses } from './module.ts'
export type { HostedShell } from './domain/hosted-shell.ts'
