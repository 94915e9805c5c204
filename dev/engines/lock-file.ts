import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { recordedProcessLives, recordProcess } from '../processes.ts'
import { becomesTrue } from './wait-until.ts'

/** Runs the work while no other process of this machine holds the same lock; waits for its turn within the bound. */
export async function withLock<Result>(file: string, boundMs: number, work: () => Promise<Result>): Promise<Result> {
  mkdirSync(dirname(file), { recursive: true })
  if (!(await becomesTrue(() => take(file), boundMs))) {
    throw new Error(`${file} was held by another process for more than ${boundMs} ms`)
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

// The record is written first and then linked, so that whoever sees the lock also sees who holds it.
function take(file: string): boolean {
  const record = `${file}.${randomUUID()}`
  recordProcess(record, process.pid)
  try {
    linkSync(record, file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    if (recordedProcessLives(file) === false) breakLock(file)
    return false
  } finally {
    rmSync(record, { force: true })
  }
}

// Between the look and the move, the lock may have passed to a living process, to whom it is given back.
function breakLock(file: string): void {
  const moved = `${file}.${randomUUID()}`
  try {
    renameSync(file, moved)
    if (recordedProcessLives(moved) === true) linkSync(moved, file)
  } catch (error) {
    if (!['ENOENT', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  } finally {
    rmSync(moved, { force: true })
  }
}
