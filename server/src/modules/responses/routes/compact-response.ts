import { compactResponse } from '@switchyard/contracts/responses/operations.ts'
import { httpFault } from '#modules/inference/index.ts'
import { route } from '#platform/http/route.ts'
import { newId } from '#platform/std/ids.ts'
import { askedOf } from '../domain/asked.ts'
import { noUsage } from '../domain/live-response.ts'
import { readInput, type AcceptUses } from '../steps/accept.ts'
import { compactItems, type CompactUses } from '../steps/compact.ts'

export const compactResponseRoute = (use: AcceptUses & CompactUses) =>
  route(compactResponse, async ({ scope, body, request }) => {
    const { projectId } = scope
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
    const live = { id, projectId, asked, context, output: [], usage: noUsage, nextOutputIndex: 0, turns: 0 }
    try {
      const { item, usage } = await compactItems(use, live, request.signal)
      const said = context.flatMap((one) => (one.type === 'message' && one.role === 'user' ? [one] : []))
      return {
        id,
        object: 'response.compaction' as const,
        created_at: Math.floor(Date.now() / 1_000),
        output: [...said, item],
        usage,
      }
    } catch (error) {
      throw httpFault(error, 'input')
    }
  })
