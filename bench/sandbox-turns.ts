import { median, type Figure } from './figure.ts'

export interface Side {
  readonly name: string
  /** Takes one sample, in ms. What has to be made ready or cleaned up for it is not counted. */
  sample(): Promise<number>
}

export interface Turns {
  readonly label: string
  readonly rounds: number
  /** Of each side in a round. */
  readonly samples: number
}

/** The median of each side in each round, in the order of the sides. */
export type Medians = readonly (readonly number[])[]

/** Sample by sample in turn, the first of a pair changing, so that a machine that slows down favours nobody. */
export async function takeTurns(
  sides: readonly Side[],
  { label, rounds, samples }: Turns,
  say: (line: string) => void,
): Promise<Medians> {
  for (const side of sides) await side.sample()
  const medians: number[][] = []
  for (let round = 0; round < rounds; round += 1) {
    const taken = sides.map((): number[] => [])
    for (let count = 0; count < samples; count += 1) {
      for (let step = 0; step < sides.length; step += 1) {
        const at = (round + count + step) % sides.length
        taken[at]?.push((await sides[at]?.sample()) ?? Number.NaN)
      }
    }
    const middles = taken.map(median)
    medians.push(middles)
    say(
      `${label} round ${round + 1}: ${sides.map(({ name }, at) => `${name} ${middles[at]?.toFixed(1)} ms`).join(', ')}`,
    )
  }
  return medians
}

/** The median of the rounds' ratios between one side and another. */
export function ratioOf(medians: Medians, ours: number, bare: number): Pick<Figure, 'ratio' | 'measured'> {
  const side = (at: number) => medians.map((round) => round[at] ?? Number.NaN)
  const ratio = median(side(ours).map((value, round) => value / (side(bare)[round] ?? Number.NaN)))
  const [one, other] = [median(side(ours)), median(side(bare))]
  return { ratio, measured: `${one.toFixed(2)} : ${other.toFixed(2)} ms, ${(one - other).toFixed(2)} ms added` }
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
