import type { Bench } from './bench-stack.ts'
import { median, type Figure } from './figure.ts'
import type { Load, LoadResult } from './load/load.ts'
import { familyCpuSeconds } from './process-cpu.ts'

export interface Twin {
  readonly name: string
  /** Whose processor time a request costs, with that of their children. */
  readonly pids: readonly number[]
  readonly load: Omit<Load, 'seconds' | 'requestsMax'>
}

export interface Measured extends LoadResult {
  readonly cpuMicros: number
}

/** What each twin did in one round, in their order. */
export type Round = readonly Measured[]

export interface Rounds {
  readonly label: string
  readonly rounds: number
  readonly seconds: number
  /** Before anything is counted, each twin answers this many. */
  readonly warmUpRequests: number
}

const warmUpSecondsMax = 30

/** Who goes first changes every round, so that a machine that slows down or warms up favours nobody. */
export async function inTurn(
  { generator }: Pick<Bench, 'generator'>,
  twins: readonly Twin[],
  { label, rounds: roundsTotal, seconds, warmUpRequests }: Rounds,
  say: (line: string) => void,
): Promise<Round[]> {
  const measure = async ({ load, pids }: Twin): Promise<Measured> => {
    const before = pids.map(familyCpuSeconds)
    const result = await generator.run({ ...load, seconds })
    const spent = pids.map(familyCpuSeconds).reduce((sum, after, at) => sum + after - (before[at] ?? 0), 0)
    return { ...result, cpuMicros: (spent * 1e6) / result.requests }
  }
  for (const { load } of twins) {
    await generator.run({ ...load, seconds: warmUpSecondsMax, requestsMax: warmUpRequests })
  }
  const rounds: Round[] = []
  for (let count = 0; count < roundsTotal; count += 1) {
    const measured: Measured[] = []
    for (let step = 0; step < twins.length; step += 1) {
      const at = (count + step) % twins.length
      measured[at] = await measure(twins[at] as Twin)
    }
    rounds.push(measured)
    const lines = measured.map((one, at) => `${twins[at]?.name} ${line(one)}`)
    say(`${label} round ${count + 1}: ${lines.join('; ')}`)
  }
  return rounds
}

const line = ({ perSecond, p50Ms, p99Ms, cpuMicros }: Measured) =>
  `${perSecond.toFixed(0)}/s p50 ${p50Ms.toFixed(2)} p99 ${p99Ms.toFixed(2)} ms cpu ${cpuMicros.toFixed(0)} us`

/** The median of the rounds' ratios between the first twin and another. */
export function figureOf(
  rounds: readonly Round[],
  { name, unit, digits, against = 1 }: { name: string; unit: string; digits: number; against?: number },
  pick: (side: Measured) => number,
): Omit<Figure, 'target'> {
  const value = (round: Round, at: number) => {
    const side = round[at]
    return side === undefined ? Number.NaN : pick(side)
  }
  const side = (at: number) => median(rounds.map((round) => value(round, at))).toFixed(digits)
  return {
    name,
    ratio: median(rounds.map((round) => value(round, 0) / value(round, against))),
    measured: `${side(0)} : ${side(against)} ${unit}`,
  }
}
