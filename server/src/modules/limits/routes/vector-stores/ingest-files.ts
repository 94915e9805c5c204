import { createVectorStoreFile, createVectorStoreFileBatch } from '@switchyard/contracts/vector-stores.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'

const notYet = () =>
  new Fault(
    'not_implemented',
    'This server has no vector stores yet. The request was counted against their rate limit.',
  )

/** Counted at the gate, like any other; what they would do comes with the vector stores. */
export const createVectorStoreFileRoute = () =>
  route(createVectorStoreFile, async () => {
    throw notYet()
  })

export const createVectorStoreFileBatchRoute = () =>
  route(createVectorStoreFileBatch, async () => {
    throw notYet()
  })
