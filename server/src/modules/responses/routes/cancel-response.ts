import { cancelResponse } from '@switchyard/contracts/responses/operations.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { responseView } from '../domain/response-view.ts'
import { leaveShell } from '../steps/leave-shell.ts'
import { stopResponse, type StopUses } from '../steps/stop-response.ts'
import { getResponse } from './retrieve-response.ts'

export const cancelResponseRoute = (use: StopUses) =>
  route(cancelResponse, async ({ scope, params }) => {
    const { projectId } = scope
    const state = await getResponse(use.db, projectId, params.response_id)
    if (!state.asked.background) {
      throw new Fault('response_not_cancellable', 'Only a background response can be cancelled.')
    }
    // Too late or for the second time changes nothing: the answer is the response as it is.
    const stopped = await stopResponse(use, projectId, state.id, { status: 'cancelled' })
    const view = responseView(await getResponse(use.db, projectId, state.id))
    // Whoever stopped it the first time may have died before its commands were told.
    if (!stopped && view.status === 'cancelled') leaveShell(use, state.id, state.asked.shellPlace, 'stopped')
    return view
  })
