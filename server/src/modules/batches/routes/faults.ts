import { Fault } from '#platform/errors/fault.ts'

export const noSuchBatch = () => new Fault('not_found', 'No such batch.', { param: 'batch_id' })
