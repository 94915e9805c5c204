import { countInputTokens } from '@switchyard/contracts/responses/operations.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { checkTools } from '../domain/asked.ts'
import { readInput, type AcceptUses } from '../steps/accept.ts'

export const countInputTokensRoute = (use: AcceptUses) =>
  route(countInputTokens, async ({ scope, body }) => {
    if (body.previous_response_id != null && body.conversation != null) {
      throw new Fault('mutually_exclusive_parameters', 'previous_response_id and conversation exclude each other.', {
        param: 'conversation',
      })
    }
    const model = body.model == null ? '' : use.inference.getModel(body.model).id
    const tools = body.tools ?? []
    checkTools(tools, body.tool_choice ?? 'auto')
    const { history, given } = await readInput(use, scope.projectId, body)
    const asked = { model, instructions: body.instructions ?? null, tools }
    const input_tokens = use.context.tokens(scope.projectId, asked, [...history, ...given.items])
    return { object: 'response.input_tokens' as const, input_tokens }
  })
