export { createEvals, type Evals } from './module.ts'
