export { createInference, type Inference } from './module.ts'
export type { Model } from './domain/model.ts'
export { ProviderFault } from './domain/provider-fault.ts'
export type { ToolCall, ToolRef, TurnPart, TurnRequest, TurnToolChoice } from './domain/turn.ts'
