export { createWebhooks, type Webhooks } from './module.ts'
export { resealSecrets } from './steps/reseal-secrets.ts'
export { publisherWithoutSender } from './steps/publish.ts'
