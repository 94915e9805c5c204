import { compactResponse } from '@switchyard/contracts/responses/operations.ts'
import { httpFault } from '#modules/inference/index.ts'
import type { Admission, Limits } from '#modules/limits/index.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { askedOf } from '../domain/asked.ts'
import { meteringFor, TurnMeter } from '../domain/metering.ts'
import { noUsage } from '../domain/live-response.ts'
import { readInput, type AcceptUses } from '../steps/accept.ts'
import { entriesOf, settleTurns } from '../steps/meter-turns.ts'
import { compactItems, type CompactUses } from '../steps/compact.ts'

export const compactResponseRoute = (use: AcceptUses & CompactUses & { readonly limits: Limits }) =>
  route(compactResponse, async ({ scope, body, request, passage }) => {
    const { projectId } = scope
    const admission = passage as Admission
    const meter = new TurnMeter(0)
    const model = use.inference.getModel(body.model)
    const { history, given } = await readInput(use, projectId, {
      input: body.input,
      previous_response_id: body.previous_response_id,
    })
    const context = [...history, ...given.items]
    const id = newId('resp_')
    const asked = {
      ...askedOf({ model: body.model, instructions: body.instructions, truncation: 'auto' }, model),
      shellPlace: { type: 'local' as const },
      shellAbout: null,
      compactNow: true,
    }
    const live = {
      id,
      projectId,
      metering: meteringFor(admission),
      asked,
      context,
      output: [],
      usage: noUsage,
      nextOutputIndex: 0,
      turns: 0,
    }
    try {
      const { item, usage } = await compactItems(use, live, { signal: request.signal, meter })
      const said = context.flatMap((one) => (one.type === 'message' && one.role === 'user' ? [one] : []))
      return {
        id,
        object: 'response.compaction' as const,
        created_at: Math.floor(Date.now() / 1_000),
        output: [...said, item],
        usage,
      }
    } catch (error) {
      if (!request.signal.aborted) meter.refused()
      throw httpFault(error, 'input')
    } finally {
      admission.handOver()
      const entries = entriesOf(live, [meter])
      try {
        for (const entry of entries) await use.limits.recordAlone(entry)
      } finally {
        settleTurns(use.limits, live, [meter], entries)
      }
    }
  })
