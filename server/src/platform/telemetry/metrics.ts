import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { assert } from '../std/assert.ts'
import { bounded } from '../std/clock.ts'

export type { Counter, Gauge, Histogram } from 'prom-client'

/** The unit that a name ends in, so that nobody has to ask whether a number is in milliseconds. */
const UNITS = ['_total', '_seconds', '_bytes', '_ratio', '_count', '_info']
const NAME = /^[a-z][a-z0-9_]{2,80}$/
/** Seconds. From a reply out of memory to a slow upload; a user with other times passes its own. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** A figure that cannot be read in time is shown as NaN, and the others are still scraped. */
const READ_TIMEOUT_MS = 1000

export interface Metrics {
  /** What only grows; its name ends in `_total`. Labels are bounded sets, never ids. */
  counter<Label extends string>(name: string, help: string, labels?: readonly Label[]): Counter<Label>
  /** Without buckets it is made for durations in seconds. */
  histogram<Label extends string>(
    name: string,
    help: string,
    labels?: readonly Label[],
    buckets?: readonly number[],
  ): Histogram<Label>
  /** With `read`, the value is asked for when metrics are scraped instead of being set. */
  gauge<Label extends string>(
    name: string,
    help: string,
    labels?: readonly Label[],
    read?: () => number | Promise<number>,
  ): Gauge<Label>
  /** Everything so far, in Prometheus' text format. */
  text(): Promise<string>
  readonly contentType: string
}

/** A registry of its own, with the figures of the process (memory, CPU, event-loop lag) already in it. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  return {
    counter(name, help, labels = []) {
      assert(name.endsWith('_total'), `a counter's name ends in _total: ${name}`)
      checkName(name)
      return new Counter({ name, help, labelNames: labels, registers })
    },
    histogram(name, help, labels = [], buckets = DURATION_BUCKETS) {
      checkName(name)
      return new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers })
    },
    gauge(name, help, labels = [], read) {
      checkName(name)
      if (read === undefined) return new Gauge({ name, help, labelNames: labels, registers })
      const collect = async function (this: Gauge) {
        this.set(await bounded(READ_TIMEOUT_MS, read).catch(() => Number.NaN))
      }
      return new Gauge({ name, help, labelNames: labels, registers, collect })
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

function checkName(name: string): void {
  assert(NAME.test(name), `a metric's name is lower case with underscores: ${name}`)
  assert(
    UNITS.some((unit) => name.endsWith(unit)),
    `a metric's name ends in its unit (${UNITS.join(', ')}): ${name}`,
  )
}
