import { EngineAway, NotRunning, type EngineApi } from '#platform/docker/engine-api.ts'
import { bounded, sleep } from '#platform/std/clock.ts'
import type { Box } from './box.ts'
import { countMemoryKills } from './control-group.ts'
import { commandName, type CommandResult } from './ledger.ts'
import { Spool, type ExitRecord } from './spool.ts'

export interface Command {
  readonly responseId: string
  readonly callId: string
  readonly index: number
  readonly text: string
  readonly timeoutMs: number
  /** What is kept of each of its streams. */
  readonly captureBytes: number
  /** Whether its response has been cancelled: also before it has a spool in which it could be told. */
  readonly isCancelled: () => boolean
}

export interface CommandUses {
  readonly engine: EngineApi
  readonly uid: number
  /** Puts a new machine under a box whose own has died or takes no command; its files stay. */
  readonly revive: (box: Box, options?: { newSpool: boolean }) => Promise<void>
}

export type Printed = { stdout?: string; stderr?: string }

const supervise = '/opt/switchyard/supervise'
const workingFolder = '/mnt/data'
/** An argument of a program is at most 128 KiB. */
const commandBytesMax = 100_000
/** How long the engine may be away before a command that has not begun is given up. */
const engineAwayMs = 45_000
const engineRetryMs = 250
/** A notice of a change may be lost: then it is seen this much later. */
const lookEveryMs = 50
/** A command that has said nothing for so long is not there any more. It says so twice a second. */
const silentMs = 20_000
/** Above what a time limit needs to take effect. */
const overdueMs = 15_000
/** A command that was told to end and has not is ended with everything of its user. */
const cancelMs = 5_000
/** Refusals of a running engine until the box gets a new machine. */
const refusalsMax = 3
/** Whoever makes more changes than this in a spool makes them for nothing else: from then on it is looked at by the clock. */
const noticesMax = 20_000

/** Runs a command, or goes on with one that an earlier process began. Nothing is ever run twice. */
export async function runCommand(
  use: CommandUses,
  box: Box,
  command: Command,
  onOutput: (printed: Printed) => void,
): Promise<CommandResult> {
  const name = commandName(command.callId, command.index)
  const known = await box.ledger.find(name)
  if (known !== null) {
    onOutput({ stdout: known.stdout, stderr: known.stderr })
    return known
  }
  if (Buffer.byteLength(command.text) > commandBytesMax || command.text.includes('\0')) {
    return refused(`a command has at most ${commandBytesMax} bytes and no NUL character`)
  }
  await using spool = new Spool(box.folder.spool, name, command.captureBytes)
  const startedAt = Date.now()
  const killsBefore = await countMemoryKills(box.engineId)
  const renewed = (await box.ledger.begin(name, command.responseId)) && (await begin(use, box, spool, command))
  const printed = { stdout: '', stderr: '' }
  const tell = (more: Printed | null) => {
    if (more === null) return
    printed.stdout += more.stdout ?? ''
    printed.stderr += more.stderr ?? ''
    onOutput(more)
  }
  const record = await follow(use, box, spool, command, tell)
  // Deleted under way: there is nothing left to say it in, and nobody to say it to.
  if (box.gone) throw new Error('the box is gone')
  tell(await spool.take())
  tell(spool.end())
  tell(noteOf(box, record, await ranOutOfMemory(box, killsBefore, startedAt)))
  if (renewed)
    tell(note('Before it the container was restarted, because left processes took all it had; files are kept.'))
  if (wasCrowdedOut(record, printed.stderr)) {
    box.crowded = true
    tell(note('The container is restarted with the next command; files are kept, running processes are gone.'))
  }
  const result: CommandResult = { ...printed, outcome: outcomeOf(record), interrupted: record === null }
  await box.ledger.finish(name, result)
  await spool.remove()
  return result
}

/**
 * Until it returns the command may or may not run; a second supervisor in the same spool ends without running it. True when
 * the box had to get a new machine because what earlier commands left behind let nothing run.
 */
async function begin(use: CommandUses, box: Box, spool: Spool, command: Command): Promise<boolean> {
  let renewed = await makeSpool(use, box, spool)
  const inside = `/run/spool/${spool.folder.slice(box.folder.spool.length + 1)}`
  const options = {
    command: [supervise, inside, String(command.timeoutMs), String(command.captureBytes), workingFolder, command.text],
    user: `${use.uid}:${use.uid}`,
    env: box.env,
    folder: workingFolder,
  }
  const until = Date.now() + engineAwayMs
  for (let refusals = 0, dead = false; ;) {
    try {
      if (dead) await use.revive(box)
      dead = false
      await use.engine.startExec(await use.engine.prepareExec(box.engineId, options))
      return renewed
    } catch (error) {
      if ((await spool.aliveAt()) !== null) return renewed
      if (box.gone || Date.now() > until) return renewed
      if (error instanceof NotRunning) dead = true
      else if (error instanceof EngineAway || ++refusals < refusalsMax) await sleep(engineRetryMs)
      else if (renewed) throw error
      else {
        // The engine is well and the box takes nothing: processes that commands left fill its limit.
        dead = renewed = true
        refusals = 0
      }
    }
  }
}

async function makeSpool(use: CommandUses, box: Box, spool: Spool): Promise<boolean> {
  const made = !box.crowded && (await spool.make(use.uid))
  if (made) return false
  // What was removed is still held open, or processes fill the limit. Neither can be undone from outside.
  await use.revive(box, { newSpool: true })
  box.crowded = false
  if (!(await spool.make(use.uid))) throw new Error('a new spool has no room')
  return true
}

/** Waits for the record. Null: the command is gone without one. */
async function follow(
  use: CommandUses,
  box: Box,
  spool: Spool,
  { timeoutMs, isCancelled }: Command,
  tell: (printed: Printed | null) => void,
): Promise<ExitRecord | null> {
  let wake: () => void = () => undefined
  let notices = 0
  const watcher = spool.watch(() => {
    notices += 1
    if (notices === noticesMax) watcher.close()
    wake()
  })
  const began = Date.now()
  let checkedAt = Date.now()
  let rescueAt = began + timeoutMs + overdueMs
  let told = false
  try {
    for (;;) {
      const changed = new Promise<void>((resolve) => {
        wake = resolve
      })
      const record = await spool.findRecord()
      if (record !== null) return record
      tell(await spool.take())
      if (box.died || box.gone) return await spool.findRecord()
      const now = Date.now()
      if (now - checkedAt > silentMs / 4) {
        checkedAt = now
        const aliveAt = (await spool.aliveAt()) ?? began
        if (now - aliveAt > silentMs) return await spool.findRecord()
        if (!(await isRunning(use, box))) return await spool.findRecord()
      }
      if (!told && isCancelled()) {
        told = true
        await spool.cancel()
        rescueAt = now + cancelMs
      }
      if (now > rescueAt) {
        // Its supervisor was stopped or killed by the command itself: everything of that user ends.
        rescueAt = Number.POSITIVE_INFINITY
        await rescue(use, box)
      }
      await Promise.race([changed, sleep(lookEveryMs)])
    }
  } finally {
    watcher.close()
  }
}

async function isRunning({ engine }: CommandUses, box: Box): Promise<boolean> {
  // An engine that is away says nothing about its containers: they live on without it.
  return await engine.isRunning(box.engineId).catch(() => true)
}

/** Ends everything that runs as the commands' user. The main process is another's and stays. */
export async function rescue({ engine, uid }: CommandUses, box: Box): Promise<void> {
  const command = ['sh', '-c', 'kill -9 -1; sleep 0.2; kill -9 -1']
  const kill = () => engine.runExec(box.engineId, { command, user: `${uid}:${uid}`, env: [], folder: '/' })
  await bounded(10_000, kill).catch(() => undefined)
}

function outcomeOf(record: ExitRecord | null): CommandResult['outcome'] {
  if (record?.outcome === 'timeout') return { type: 'timeout' }
  const code = record === null || record.outcome === 'cancelled' ? 137 : (record.exit_code ?? 255)
  return { type: 'exit', exit_code: code }
}

const killedCode = 137
/** As the supervisor says when it could not start a process. */
const refusedCode = 254
const refusedText = 'The command was not started: the process limit'

const wasCrowdedOut = (record: ExitRecord | null, stderr: string) =>
  record?.exit_code === refusedCode && stderr.startsWith(refusedText)

const note = (text: string): Printed => ({ stderr: `\n[switchyard] ${text}\n` })

/** The kernel's own count where it can be read; of a box that died, what the engine said. */
async function ranOutOfMemory(box: Box, killsBefore: number | null, startedAt: number): Promise<boolean> {
  const kills = box.died ? null : await countMemoryKills(box.engineId)
  return kills === null || killsBefore === null ? box.oomAt >= startedAt : kills > killsBefore
}

/** What the command's own output does not say. */
function noteOf(box: Box, record: ExitRecord | null, outOfMemory: boolean): Printed | null {
  if (record === null && box.died) {
    return note(
      outOfMemory
        ? 'The container ran out of memory and was restarted; files are kept, running processes are gone.'
        : 'The container ended and is restarted with the next command; files are kept, running processes are gone.',
    )
  }
  if (record === null) {
    return note('The command was interrupted. It may have taken effect and is not run again.')
  }
  if (record.outcome === 'cancelled') return note('The command was ended because its response was cancelled.')
  if (outOfMemory) {
    return record.exit_code === killedCode
      ? note('The command was killed because the container ran out of memory.')
      : note('The container ran out of memory meanwhile, and processes in it were killed.')
  }
  return null
}

const refused = (reason: string): CommandResult => ({
  stdout: '',
  stderr: `[switchyard] The command was not run: ${reason}.\n`,
  outcome: { type: 'exit', exit_code: 126 },
  interrupted: false,
})
