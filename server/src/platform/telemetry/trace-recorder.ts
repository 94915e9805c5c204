import { AsyncLocalStorage } from 'node:async_hooks'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Attributes, Context, Span } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { OpenSpan, TraceHeaders, Tracing, TracingOptions } from './trace.ts'
import { formatTraceparent, parseTraceparent } from './traceparent.ts'

const EXPORT_TIMEOUT_MS = 5000
const EXPORT_EVERY_MS = 2000
const SPANS_WAITING_MAX = 2048
const SPANS_PER_EXPORT_MAX = 512
const LIMITS = { attributeValueLengthLimit: 1024, attributeCountLimit: 64, eventCountLimit: 16, linkCountLimit: 16 }

export function createRecorder(options: TracingOptions & { otlpUrl: string }): Tracing {
  const tell = tellingOnce(options.onExportFailed)
  const provider = createProvider(options, tell)
  const tracer = provider.getTracer(options.serviceName)
  // A store of our own instead of OpenTelemetry's global one: two of them can live in one process, as tests do.
  const running = new AsyncLocalStorage<Context>()

  async function record<T>(
    parent: Context,
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    fn: (span: OpenSpan) => Promise<T>,
  ): Promise<T> {
    const span = tracer.startSpan(name, { kind, attributes }, parent)
    const open: OpenSpan = { set: (more) => void span.setAttributes(more) }
    try {
      return await running.run(trace.setSpan(parent, span), fn, open)
    } catch (error) {
      markFailed(span, error)
      throw error
    } finally {
      span.end()
    }
  }

  return {
    span: (name, attributes, fn) => record(running.getStore() ?? ROOT_CONTEXT, name, SpanKind.INTERNAL, attributes, fn),
    spanFrom: (headers, name, attributes, fn) => record(remote(headers), name, SpanKind.SERVER, attributes, fn),
    traceparent() {
      const span = trace.getSpanContext(running.getStore() ?? ROOT_CONTEXT)
      return span === undefined ? undefined : formatTraceparent(span)
    },
    // Spans that cannot be delivered are a loss to report, not a reason for the program to end badly.
    stop: () => provider.shutdown().catch(tell),
  }
}

function createProvider(options: TracingOptions & { otlpUrl: string }, tell: (error: Error) => void): TracerProvider {
  const ratio = new TraceIdRatioBasedSampler(options.sampleRatio)
  const exporter = new OTLPTraceExporter({ url: tracesUrl(options.otlpUrl), timeoutMillis: EXPORT_TIMEOUT_MS })
  return new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': options.serviceName }),
    // A caller may ask us not to record, but not to record more than the ratio: that is ours to pay.
    sampler: new ParentBasedSampler({ root: ratio, remoteParentSampled: ratio }),
    spanLimits: LIMITS,
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: tellingFailures(exporter, tell),
        maxQueueSize: SPANS_WAITING_MAX,
        maxExportBatchSize: SPANS_PER_EXPORT_MAX,
        scheduledDelayMillis: EXPORT_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  })
}

/** Only the kind of an error leaves the process: its message may quote what a caller sent. */
function markFailed(span: Span, error: unknown): void {
  const type = error instanceof Error ? error.name : typeof error
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR, message: type })
}

function remote(headers: TraceHeaders): Context {
  const header = headers['traceparent']
  const parent = typeof header === 'string' ? parseTraceparent(header) : null
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent)
}

function tracesUrl(otlpUrl: string): string {
  const url = new URL(otlpUrl)
  if (!url.pathname.endsWith('/v1/traces')) url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`
  return url.href
}

function tellingFailures(exporter: SpanExporter, tell: (error: Error) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error !== undefined) tell(result.error)
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
  }
}

/** The last batch's failure comes twice, from the exporter and from the shutdown that waited for it. */
function tellingOnce(onExportFailed: TracingOptions['onExportFailed']): (error: Error) => void {
  const told = new WeakSet<Error>()
  return (error) => {
    if (told.has(error)) return
    told.add(error)
    onExportFailed?.(error)
  }
}
