import type { Attributes } from '@opentelemetry/api'

export type { Attributes } from '@opentelemetry/api'

export interface TracingOptions {
  /** Where a collector takes OTLP over HTTP, with or without `/v1/traces`. Without it nothing is recorded. */
  otlpUrl?: string | undefined
  /** Which part of the traces is recorded, from 0 to 1. */
  sampleRatio: number
  serviceName: string
  /** Told when a batch of spans could not be delivered and is lost. */
  onExportFailed?: (error: Error) => void
}

/** The span around the running work, for what is only known while it runs. */
export interface OpenSpan {
  set(attributes: Attributes): void
}

export interface Tracing {
  /** Runs `fn` inside a span, as a child of the span that runs now. */
  span<T>(name: string, attributes: Attributes, fn: (span: OpenSpan) => Promise<T>): Promise<T>
  /** The same for work that came over the wire: goes on with the caller's trace when its headers name one. */
  spanFrom<T>(
    headers: TraceHeaders,
    name: string,
    attributes: Attributes,
    fn: (span: OpenSpan) => Promise<T>,
  ): Promise<T>
  /** The `traceparent` to send along when calling another service of ours. */
  traceparent(): string | undefined
  /** Delivers what waits, then ends. */
  stop(): Promise<void>
}

/** As Node gives the headers of a request. */
export type TraceHeaders = Readonly<Record<string, string | string[] | undefined>>

const unrecorded: OpenSpan = { set: () => {} }

const off: Tracing = {
  span: (_name, _attributes, fn) => fn(unrecorded),
  spanFrom: (_headers, _name, _attributes, fn) => fn(unrecorded),
  traceparent: () => undefined,
  stop: () => Promise.resolve(),
}

/** Without an address spans are plain calls, and nothing of OpenTelemetry is even loaded. */
export async function createTracing(options: TracingOptions): Promise<Tracing> {
  const { otlpUrl, ...rest } = options
  if (otlpUrl === undefined) return off
  const { createRecorder } = await import('./trace-recorder.ts')
  return createRecorder({ ...rest, otlpUrl })
}
