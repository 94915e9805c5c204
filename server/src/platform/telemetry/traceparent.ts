import type { SpanContext } from '@opentelemetry/api'

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.{0,256})?$/
const SAMPLED = 0x01

/** Reads the header of W3C Trace Context. Null for anything that the specification says to ignore. */
export function parseTraceparent(header: string | undefined): SpanContext | null {
  const [, version, traceId = '', spanId = '', flags = '', more] = TRACEPARENT.exec(header?.trim() ?? '') ?? []
  if (version === undefined || version === 'ff') return null
  if (version === '00' && more !== undefined) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & SAMPLED, isRemote: true }
}

export function formatTraceparent(context: SpanContext): string {
  const flags = (context.traceFlags & SAMPLED).toString(16).padStart(2, '0')
  return `00-${context.traceId}-${context.spanId}-${flags}`
}
