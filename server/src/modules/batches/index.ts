export { createBatches, type Batches } from './module.ts'
