export { createContainers, type Containers } from './module.ts'
export { ContainerLost } from './domain/lost.ts'
export type { ContainerJobs, JobResult } from './jobs.ts'
export type { ContainerShell } from './shell.ts'
