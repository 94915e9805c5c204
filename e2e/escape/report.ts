import { bypasses } from './bypasses.ts'
import type { Verdict } from './judge.ts'
import type { Limit } from './limits.ts'
import type { Runtime } from './suite.ts'
import type { Trusted } from './trust.ts'

export interface RuntimeReport {
  readonly runtime: Runtime
  readonly verdicts: readonly Verdict[]
  readonly limits: readonly Limit[]
  readonly trust: readonly Trusted[]
  readonly cutMs: number
}

export interface Report {
  readonly image: string
  /** What each program gets out where nothing holds it, by number. */
  readonly unconfined: ReadonlyMap<number, number>
  readonly runtimes: RuntimeReport[]
}

const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')
const howMax = 6

/** The part of the document that a run writes. */
export function renderReport({ unconfined, runtimes, image }: Report): string {
  const names = runtimes.map(({ runtime }) => runtime)
  const bypassRows = bypasses.map(({ number, title }) => [
    number,
    title,
    unconfined.get(number) ?? '–',
    ...runtimes.map((one) => cellOf(verdictOf(one, number))),
    howOf(runtimes, number),
  ])
  const cuts = runtimes.map(({ runtime, cutMs }) => `${cutMs} ms (${runtime})`).join(', ')
  const parts = [
    `Image: ${image}. Runtimes: ${names.join(', ')}.`,
    table(['#', 'Bypass', 'Unconfined', ...names, 'How the tries end'], bypassRows),
    `Open connections end when their domain is taken off the organisation's list: after ${cuts}.`,
    'What passes, because a listed host is trusted:',
    table(
      ['Statement', ...names],
      (runtimes[0]?.limits ?? []).map(({ says }, at) => [
        says,
        ...runtimes.map(({ limits }) => (limits[at]?.shown === true ? 'as stated' : 'NOT as stated')),
      ]),
    ),
  ]
  const trusting = runtimes.filter(({ trust }) => trust.length > 0)
  if (trusting.length > 0) parts.push('Trust inside the image, without any setting:', trustTable(trusting))
  return `${parts.join('\n\n')}\n`
}

const verdictOf = ({ verdicts }: RuntimeReport, number: number) =>
  verdicts.find(({ bypass }) => bypass.number === number)

function cellOf(verdict: Verdict | undefined): string {
  if (verdict === undefined) return 'not run'
  const { blocked, strayPackets, tries } = verdict
  return `${blocked ? 'blocked' : '**NOT BLOCKED**'}, ${strayPackets} packets of ${tries} tries`
}

/** Once, where the runtimes do not differ. */
function howOf(runtimes: readonly RuntimeReport[], number: number): string {
  const texts = runtimes.map((one) => {
    const how = verdictOf(one, number)?.how ?? []
    const more = how.length > howMax ? `, ${how.length - howMax} more` : ''
    return how.slice(0, howMax).join(', ') + more
  })
  if (new Set(texts).size === 1) return texts[0] ?? ''
  return runtimes.map(({ runtime }, at) => `${runtime}: ${texts[at]}`).join('; ')
}

function trustTable(runtimes: readonly RuntimeReport[]): string {
  const says = (held: boolean | null | undefined) => (held === null ? 'own roots' : held === true ? 'yes' : '**NO**')
  const rows = (runtimes[0]?.trust ?? []).map(({ program }, at) => [
    program,
    ...runtimes.flatMap(({ trust }) => [says(trust[at]?.ended), says(trust[at]?.spliced)]),
  ])
  const head = runtimes.flatMap(({ runtime }) => [`${runtime}: TLS ended`, `${runtime}: TLS spliced`])
  return table(['Program', ...head], rows)
}
