export { createResponses, type Responses } from './module.ts'
export type { HostedShell, ShellResult, ShellRun } from './domain/hosted-shell.ts'
