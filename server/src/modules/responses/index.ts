export { createResponses, type Responses } from './module.ts'
