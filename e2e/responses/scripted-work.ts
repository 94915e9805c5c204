import { sleep } from '#platform/std/clock.ts'
import type { Answer, ProviderDouble } from '../../server/test/provider-double.ts'

/** What one piece of work is asked to do: so many commands, one after the other, then say so. */
export const commandsPerWork = 5
export const turnsPerWork = commandsPerWork + 1

export const inputOf = (work: number) => `This is work ${work}.`
export const commandOf = (work: number, index: number) => `command ${index} of work ${work}`
export const finalTextOf = (work: number) =>
  `Work ${work} is done: all of its ${commandsPerWork} commands have been run, one after the other, and nothing is left to do.`

interface Message {
  readonly role: string
  readonly content: unknown
}

export interface Turn {
  readonly work: number
  readonly index: number
  readonly atMs: number
}

/** The last user message of a request names the work; the shell's answers after it are counted. */
export function turnOf(body: Record<string, unknown>): Pick<Turn, 'work' | 'index'> {
  const messages = body['messages'] as Message[]
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const work = Number(/work (\d+)/.exec(JSON.stringify(messages[at]?.content))?.[1])
  return { work, index: messages.slice(at).filter(({ role }) => role === 'tool').length }
}

function answerTo({ work, index }: Pick<Turn, 'work' | 'index'>, slowMs: number): Answer {
  if (!Number.isInteger(work)) return 'Hello.'
  if (index >= commandsPerWork) return { text: finalTextOf(work), slowMs }
  return { calls: [{ name: 'shell', arguments: { commands: [commandOf(work, index)] } }], slowMs }
}

/** Makes the provider carry the script out, and notes every turn that it was asked for. */
export function followScript(double: ProviderDouble, pace: { slowMs: number; firstMs?: number }): Turn[] {
  const turns: Turn[] = []
  double.decide(async (body) => {
    const turn = turnOf(body)
    turns.push({ ...turn, atMs: performance.now() })
    if (pace.firstMs !== undefined) await sleep(pace.firstMs)
    return answerTo(turn, pace.slowMs)
  })
  return turns
}

export interface Repeat {
  readonly work: number
  readonly index: number
  readonly firstMs: number
  readonly againMs: number
}

/** Turns that were asked for more than once, each pair in a row. */
export function repeatsIn(turns: readonly Turn[]): Repeat[] {
  const last = new Map<string, number>()
  const repeats: Repeat[] = []
  for (const { work, index, atMs } of turns) {
    const key = `${work}:${index}`
    const firstMs = last.get(key)
    if (firstMs !== undefined) repeats.push({ work, index, firstMs, againMs: atMs })
    last.set(key, atMs)
  }
  return repeats
}
