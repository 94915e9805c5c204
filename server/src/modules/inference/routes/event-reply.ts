import { Fault } from '#platform/errors/fault.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { EventStream, type ServerEvent } from '#platform/http/sse.ts'
import type { CallMeter } from '../steps/meter-call.ts'
import { httpFault } from '../domain/http-fault.ts'

/** A stream whose failure is its last record: the status line is long gone. */
export function eventReply(
  events: AsyncGenerator<ServerEvent, void, void>,
  param: string,
  signal: AbortSignal,
  meter: CallMeter,
  log: Log,
): EventStream {
  meter.cutOn(signal, (err) => log.error({ err }, 'what a stream had used when its client left was not written'))
  return new EventStream(untilFault(events, param, signal))
}

async function* untilFault(
  events: AsyncGenerator<ServerEvent, void, void>,
  param: string,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent, void, void> {
  try {
    yield* events
  } catch (err) {
    // Whoever left needs no record, and their leaving is no failure.
    if (signal.aborted) return
    const fault = httpFault(err, param)
    if (!(fault instanceof Fault)) throw err
    yield { event: 'error', data: fault.body() }
  }
}

/** Runs what may fail as a provider does, and says so as a fault of ours. */
export async function orFault<Result>(param: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (err) {
    throw httpFault(err, param)
  }
}
