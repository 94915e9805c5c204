export { createWebhooks, type Webhooks } from './module.ts'
export type { News } from './steps/publish.ts'
