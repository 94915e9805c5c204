import type { Bucket, Metric } from '../domain/buckets.ts'

/** Who works on what a reservation is for: a process, or `background` for the engine. */
export interface Holder {
  readonly node: string
  readonly projectId: string
  readonly keyId: string
  readonly operation: string
  readonly model: string
}

export interface OpenReservation extends Holder {
  readonly id: string
  /** Milliseconds by Valkey's clock. */
  readonly since: number
}

export const backgroundNode = 'background'

/** Day buckets give a request back that came to nothing; tokens and spend are settled to what was used. */
const kinds: Partial<Record<Metric, 'd' | 't' | 's'>> = {
  RPD: 'd',
  TPM: 't',
  TPD: 't',
  IPM: 'd',
  audio: 'd',
  files: 'd',
  spend: 's',
}

/** What of the buckets is settled later, as the script keeps it. */
export function settledText(buckets: readonly Bucket[]): string {
  let text = ''
  for (const { metric, field, limit, periodMs, cost } of buckets) {
    const kind = kinds[metric]
    if (kind !== undefined) text += `${kind} ${field} ${limit} ${periodMs * 1_000} ${cost};`
  }
  return text
}

export const holderText = ({ node, projectId, keyId, operation, model }: Holder) =>
  [node, projectId, keyId, operation, model].join('|')

/** Null: not one of ours. */
export function readOpen(id: string, text: string): OpenReservation | null {
  const [since, node, projectId, keyId, operation, model] = text.split('|')
  if (model === undefined) return null
  return {
    id,
    since: Number(since) / 1_000,
    node: node ?? '',
    projectId: projectId ?? '',
    keyId: keyId ?? '',
    operation: operation ?? '',
    model,
  }
}

/** What a reservation held and when it was settled, for whoever wants to know why. */
export function readSettled(text: string): { clock_micros: number; reserved: { field: string; cost: number }[] } {
  return { clock_micros: Number(text.split('|', 1)[0]), reserved: readHeld(text) }
}

function readHeld(text: string): { field: string; cost: number }[] {
  const held = text.split('|').at(-1) ?? ''
  return held
    .split(';')
    .filter((part) => part !== '')
    .map((part) => part.split(' '))
    .map(([, field = '', , , cost]) => ({ field, cost: Number(cost) }))
}
