import type { OutputItem } from '@switchyard/contracts/responses/items.ts'
import type { StreamEvent, StreamEventBody } from '@switchyard/contracts/responses/stream.ts'

/** What stored events tell of a step that nobody committed. */
export interface Told {
  /** The number after the last one. */
  readonly nextNumber: number
  readonly nextOutputIndex: number
  /** Items that were shown and never closed. */
  readonly open: readonly { readonly item: OutputItem; readonly outputIndex: number }[]
  readonly inProgress: boolean
}

export function toldBy(
  lines: readonly string[],
  since: { readonly nextNumber: number; readonly nextOutputIndex: number },
): Told {
  let { nextNumber, nextOutputIndex } = since
  let inProgress = false
  const open = new Map<number, OutputItem>()
  for (const line of lines) {
    const event = JSON.parse(line) as StreamEvent
    nextNumber = event.sequence_number + 1
    if (event.type === 'response.in_progress') inProgress = true
    if (event.type === 'response.output_item.added') {
      open.set(event.output_index, event.item)
      nextOutputIndex = Math.max(nextOutputIndex, event.output_index + 1)
    } else if (event.type === 'response.output_item.done') open.delete(event.output_index)
  }
  return {
    nextNumber,
    nextOutputIndex,
    inProgress,
    open: [...open].map(([outputIndex, item]) => ({ item, outputIndex })),
  }
}

/** Closes what another attempt left open. The items are not part of the response: the next attempt makes new ones. */
export function closings(told: Told): StreamEventBody[] {
  return told.open.map(({ item, outputIndex }) => ({
    type: 'response.output_item.done',
    output_index: outputIndex,
    item: item.type === 'compaction' ? item : ({ ...item, status: 'incomplete' } as OutputItem),
  }))
}
