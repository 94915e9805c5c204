import type { KeyId } from '@switchyard/contracts/ids.ts'
import type { Db } from '#platform/db/db.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { mayFail } from '#platform/telemetry/log.ts'
import { writeLastUsed } from '../store/authentication.ts'
import type { OrgsTables } from '../store/tables.ts'

const writeEveryMs = 5_000
/** Keys noted between two writes; uses of further keys are not noted until the next one. */
export const notedKeysMax = 10_000

export interface LastUsed {
  note(id: KeyId): void
  /** Writes what was noted so far. */
  write(): Promise<void>
  readonly part: Part
}

/** When each key was last used, gathered in memory and written in one statement every few seconds. */
export function createLastUsed(use: { db: Db<OrgsTables>; log: Log }): LastUsed {
  let noted = new Map<KeyId, number>()
  let writing: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null

  async function writeOnce(): Promise<void> {
    if (noted.size === 0) return
    const taken = noted
    noted = new Map()
    const now = performance.now()
    await mayFail(use.log, 'the next use of the keys will be noted', () =>
      writeLastUsed(
        use.db,
        [...taken.keys()],
        [...taken.values()].map((at) => now - at),
      ),
    )
  }

  const write = async () => {
    await writing
    writing ??= writeOnce().finally(() => (writing = null))
    await writing
  }

  const end = async () => {
    if (timer !== null) clearInterval(timer)
    timer = null
    await write()
  }

  return {
    note(id) {
      if (noted.size < notedKeysMax || noted.has(id)) noted.set(id, performance.now())
    },
    write,
    part: {
      name: 'orgs.last-used',
      async start() {
        timer ??= setInterval(() => void write(), writeEveryMs)
      },
      drain: end,
      stop: end,
    },
  }
}
