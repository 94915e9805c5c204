import { constants, watch } from 'node:fs'
import { chown, mkdir, open, statfs, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import { removeTree } from './remove-tree.ts'

/** What a command prints beyond this is not kept, for each of its streams. */
export const captureBytes = 1024 * 1024
/** No text of a JSON document in the database has a NUL; it is shown as what cannot be shown, of the same length. */
const noText = '\uFFFD'
const recordBytesMax = 4_096
const roomBytes = 3 * captureBytes
const roomFiles = 32
const chunkBytes = 64 * 1024
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants

export interface ExitRecord {
  readonly outcome: 'exit' | 'timeout' | 'cancelled'
  readonly exit_code?: number
}

/**
 * The folder in which a command leaves its record. It belongs to the command's user, who may put anything in the place of
 * these files, or remove them: links are not followed, what is no regular file is not read, and every read is bounded. What
 * it prints is read from files that were opened before it began.
 */
export class Spool {
  readonly folder: string
  readonly #streams: { readonly stdout: Stream; readonly stderr: Stream }

  constructor(root: string, name: string, capture = captureBytes) {
    this.folder = join(root, name)
    const stream = (file: string) => new Stream(join(this.folder, file), capture)
    this.#streams = { stdout: stream('stdout'), stderr: stream('stderr') }
  }

  /** False when there is no room for what a command may print: something removed is still held open. */
  async make(uid: number): Promise<boolean> {
    const { bavail, bsize, ffree } = await statfs(dirname(this.folder))
    if (bavail * bsize < roomBytes || ffree < roomFiles) return false
    await mkdir(this.folder, { mode: 0o700 })
    if (process.getuid?.() === 0) await chown(this.folder, uid, uid)
    await Promise.all([this.#streams.stdout.make(uid), this.#streams.stderr.make(uid)])
    return true
  }

  /** What was printed since the last time. */
  async take(): Promise<{ stdout?: string; stderr?: string } | null> {
    const [stdout, stderr] = await Promise.all([this.#streams.stdout.take(), this.#streams.stderr.take()])
    if (stdout === '' && stderr === '') return null
    return { ...(stdout === '' ? {} : { stdout }), ...(stderr === '' ? {} : { stderr }) }
  }

  /** The end of what was printed: half a character is shown as what it is. */
  end(): { stdout?: string; stderr?: string } | null {
    const [stdout, stderr] = [this.#streams.stdout.end(), this.#streams.stderr.end()]
    if (stdout === '' && stderr === '') return null
    return { ...(stdout === '' ? {} : { stdout }), ...(stderr === '' ? {} : { stderr }) }
  }

  /** Null while the command runs. */
  async findRecord(): Promise<ExitRecord | null> {
    const text = await readBounded(join(this.folder, 'exit'), recordBytesMax)
    if (text === null || text.length === 0) return null
    try {
      return readRecord(JSON.parse(text.toString()))
    } catch {
      // Written by the command itself, in place of ours.
      return { outcome: 'exit', exit_code: 255 }
    }
  }

  /** When it last said that it runs; null before it began. */
  async aliveAt(): Promise<number | null> {
    const file = await openPlain(join(this.folder, 'alive'))
    if (file === null) return null
    try {
      return (await file.stat()).mtimeMs
    } finally {
      await file.close()
    }
  }

  /** Calls back on every change. The caller also looks from time to time: a notice may be lost. */
  watch(onChange: () => void): { close(): void } {
    try {
      const watcher = watch(this.folder, onChange)
      watcher.on('error', () => undefined)
      return watcher
    } catch {
      return { close: () => undefined }
    }
  }

  /** Asks the command's supervisor to end it now. */
  async cancel(): Promise<void> {
    const file = await open(join(this.folder, 'cancel'), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644).catch(
      () => null,
    )
    await file?.close()
  }

  async remove(): Promise<void> {
    await removeTree(this.folder)
  }

  /** What is held open cannot be unmounted. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#streams.stdout.close(), this.#streams.stderr.close()])
  }
}

class Stream {
  readonly #path: string
  readonly #decoder = new StringDecoder('utf8')
  readonly #max: number
  #file: FileHandle | null = null
  #at = 0

  constructor(path: string, max: number) {
    this.#path = path
    this.#max = max
  }

  async make(uid: number): Promise<void> {
    this.#file = await open(this.#path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
    if (process.getuid?.() === 0) await this.#file.chown(uid, uid)
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = null
  }

  async take(): Promise<string> {
    this.#file ??= await openPlain(this.#path)
    let text = ''
    while (this.#file !== null && this.#at < this.#max) {
      const bytes = await readFrom(this.#file, this.#at, Math.min(chunkBytes, this.#max - this.#at))
      if (bytes.length === 0) break
      this.#at += bytes.length
      text += this.#decoder.write(bytes)
    }
    return text.replaceAll('\0', noText)
  }

  end(): string {
    return this.#decoder.end()
  }
}

async function openPlain(path: string) {
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null)
  if (file === null) return null
  if ((await file.stat()).isFile()) return file
  await file.close()
  return null
}

async function readBounded(path: string, max: number): Promise<Buffer | null> {
  const file = await openPlain(path)
  if (file === null) return null
  try {
    return await readFrom(file, 0, max)
  } finally {
    await file.close()
  }
}

async function readFrom(file: FileHandle, at: number, max: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(max), 0, max, at)
  return buffer.subarray(0, bytesRead)
}

function readRecord(value: unknown): ExitRecord {
  const { outcome, exit_code: code } = (value ?? {}) as { outcome?: unknown; exit_code?: unknown }
  if (outcome === 'timeout' || outcome === 'cancelled') return { outcome }
  return { outcome: 'exit', exit_code: typeof code === 'number' && Number.isInteger(code) ? code : 255 }
}
