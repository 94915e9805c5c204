export { createResponses, type Responses } from './module.ts'
export type { LoggedResponse } from './steps/list-logged.ts'
