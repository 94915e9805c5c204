export { createWebhooks, type Webhooks } from './module.ts'
