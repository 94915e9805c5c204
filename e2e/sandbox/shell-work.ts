import { randomBytes } from 'node:crypto'
import { sleep } from '#platform/std/clock.ts'
import type { ProviderDouble } from '../../server/test/provider-double.ts'
import { turnOf, type Turn } from '../responses/scripted-work.ts'

/** What one response is asked to do: so many commands, one after the other, then say so. */
export const commandsPerWork = 4
export const inputOf = (work: number) => `This is work ${work}.`
export const finalText = 'All commands have been run.'
export const linesFile = 'lines.txt'
export const endsFile = 'ends.txt'

/** Of this run: what lies in files of another does not count. */
const run = randomBytes(4).toString('hex')
export const tokenOf = (work: number, index: number) => `${run}-w${work}-c${index}.`

/** How long a command takes between its first line and its last: long enough for kills to fall into it. */
const lastsS = 0.8
/** Of one that is cancelled while it runs. */
const longS = 60

/** Leaves a line when it begins and another when it ends: lines of the first file are counted. */
export const commandOf = (work: number, index: number, long: boolean) =>
  [
    `echo '${tokenOf(work, index)}' >> /mnt/data/${linesFile}`,
    `echo 'begun ${index}'`,
    `sleep ${long ? longS : lastsS}`,
    `echo '${tokenOf(work, index)}' >> /mnt/data/${endsFile}`,
    `echo 'ended ${index}'`,
  ].join('; ')

export const printedBy = (index: number) => `begun ${index}\nended ${index}\n`

/** Makes the provider carry the script out. `isLong` says whose first command is to last. */
export function followShellScript(double: ProviderDouble, isLong: (work: number) => boolean): void {
  double.decide(async (body) => {
    const { work, index }: Pick<Turn, 'work' | 'index'> = turnOf(body)
    await sleep(200)
    if (!Number.isInteger(work)) return 'Hello.'
    if (index >= commandsPerWork) return { text: finalText }
    const commands = [commandOf(work, index, isLong(work))]
    return { calls: [{ name: 'shell', arguments: { commands } }] }
  })
}
