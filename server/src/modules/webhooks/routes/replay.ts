import { replayWebhooks } from '@switchyard/contracts/webhooks.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { firstIdAt } from '#platform/std/ids.ts'
import { countReplay, replay, type ReplaySpan } from '../store/again.ts'
import type { RouteUses } from '../use.ts'
import { getEndpoint } from './faults.ts'

const replayEventsMax = 100_000

export const replayRoute = (use: RouteUses) =>
  route(replayWebhooks, async ({ scope, params, body }) => {
    const endpoint = await getEndpoint(use, scope.projectId, params.webhook_endpoint_id)
    if (body.before <= body.after) throw new Fault('invalid_value', 'before must lie after after.', { param: 'before' })
    const span: ReplaySpan = {
      projectId: scope.projectId,
      endpointId: endpoint.id,
      fromId: firstIdAt('evt_', body.after * 1_000),
      toId: firstIdAt('evt_', body.before * 1_000),
      types: body.event_types ?? endpoint.event_types,
      onlyFailed: body.only_failed,
    }
    const found = await countReplay(use.db, span, replayEventsMax + 1)
    if (found > replayEventsMax) {
      throw new Fault(
        'replay_too_large',
        `More than ${replayEventsMax} events lie in this span. Choose a shorter one.`,
        { param: 'before' },
      )
    }
    const events = body.dry_run
      ? found
      : await use.db.tx(async (tx) => {
          tx.afterCommit(use.kick)
          return await replay(tx, span)
        })
    return {
      object: 'webhook_endpoint.replay',
      webhook_endpoint_id: params.webhook_endpoint_id,
      dry_run: body.dry_run,
      events,
    } as const
  })
