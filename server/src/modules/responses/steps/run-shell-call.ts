import type { OutputItem, ShellOutputEntry } from '@switchyard/contracts/responses/items.ts'
import type { StreamEventBody } from '@switchyard/contracts/responses/stream.ts'
import { newId } from '#platform/std/ids.ts'
import { clipOutput } from '../domain/clip-output.ts'
import type { HostedShell, ShellResult } from '../domain/hosted-shell.ts'
import { noUsage, type LiveResponse } from '../domain/live-response.ts'
import type { ShellCallItem } from '../domain/next-move.ts'
import type { Telling } from './take-turn.ts'

/** One hosted shell call, told as it goes. */
export async function* runShellCall(
  use: { readonly shell: HostedShell | null },
  live: LiveResponse,
  call: ShellCallItem,
  { tell, signal }: { tell: boolean; signal: AbortSignal },
): Telling {
  const { shell } = use
  if (shell === null) throw new Error('a hosted shell call was accepted without a hosted shell')
  const at = { item_id: newId('sho_'), output_index: live.nextOutputIndex }
  const max = call.action.max_output_length ?? null
  const item = (status: 'in_progress' | 'completed' | 'incomplete', output: ShellOutputEntry[]): OutputItem => ({
    type: 'shell_call_output',
    id: at.item_id,
    call_id: call.call_id,
    status,
    max_output_length: max,
    output,
  })
  const told: StreamEventBody[] = []
  let wake: () => void = () => undefined
  const say = (event: StreamEventBody) => {
    if (!tell) return
    told.push(event)
    wake()
  }
  const begun: StreamEventBody = {
    type: 'response.output_item.added',
    output_index: at.output_index,
    item: item('in_progress', []),
  }
  if (tell) yield [begun]

  let result: ShellResult | undefined
  let failure: { error: unknown } | undefined
  const running = shell
    .run(call, {
      projectId: live.projectId,
      responseId: live.id,
      signal,
      onOutput: (command_index, delta) =>
        say({ type: 'response.shell_call_output_content.delta', ...at, command_index, delta }),
    })
    .then(
      (value) => void (result = value),
      (error: unknown) => void (failure = { error }),
    )
    .finally(() => wake())
  while (result === undefined && failure === undefined) {
    await new Promise<void>((resolve) => {
      wake = resolve
      if (told.length > 0 || result !== undefined || failure !== undefined) resolve()
    })
    if (told.length > 0) yield told.splice(0)
  }
  await running
  if (failure !== undefined && !signal.aborted) throw failure.error

  const entries = (result?.entries ?? []).map((entry) => clipOutput(entry, max))
  for (const [command_index, entry] of entries.entries()) {
    say({ type: 'response.shell_call_output_content.done', ...at, command_index, output: [entry] })
  }
  const complete = result?.complete === true
  const ended = item(complete ? 'completed' : 'incomplete', entries)
  say({ type: 'response.output_item.done', output_index: at.output_index, item: ended })
  if (told.length > 0) yield told
  return {
    items: [ended],
    usage: noUsage,
    nextOutputIndex: at.output_index + 1,
    ending: signal.aborted ? { status: 'cancelled' } : null,
  }
}
