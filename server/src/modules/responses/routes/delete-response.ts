import { deleteResponse } from '@switchyard/contracts/responses/operations.ts'
import { route } from '#platform/http/route.ts'
import { stopResponse, type StopUses } from '../steps/stop-response.ts'
import { removeResponse } from '../store/lifecycle.ts'
import { getResponse } from './retrieve-response.ts'

export const deleteResponseRoute = (use: StopUses) =>
  route(deleteResponse, async ({ scope, params }) => {
    const { projectId } = scope
    const { id } = await getResponse(use.db, projectId, params.response_id)
    await stopResponse(use, projectId, id, { status: 'cancelled' })
    await use.db.tx((tx) => removeResponse(tx, projectId, id))
    return { id, object: 'response' as const, deleted: true as const }
  })
