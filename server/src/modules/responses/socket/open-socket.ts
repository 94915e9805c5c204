import { openResponsesSocket } from '@switchyard/contracts/responses/operations.ts'
import { socketRoute, type SocketRoute } from '#platform/http/websocket.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import { ContextBudget } from './kept-contexts.ts'
import { ResponsesSocket, type ResponsesSocketUses } from './responses-socket.ts'

const goingAway = 1001

/** The socket of `/v1/responses`, and the part that ends those still open when the process does. */
export function responsesSockets(use: Omit<ResponsesSocketUses, 'budget'>): { route: SocketRoute; part: Part } {
  const budget = new ContextBudget()
  const open = new Set<ResponsesSocket>()
  return {
    route: socketRoute(openResponsesSocket, (socket, { scope, requestId }) => {
      const session = new ResponsesSocket({ ...use, budget }, socket, { ...scope, requestId })
      open.add(session)
      socket.once('close', () => open.delete(session))
      return session
    }),
    part: {
      name: 'response sockets',
      // A drain that took too long: what still runs is cancelled while there is a database to say so in.
      async stop() {
        await Promise.all([...open].map((session) => session.cut(goingAway, 'server is going away')))
      },
    },
  }
}
