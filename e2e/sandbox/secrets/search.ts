import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Checks } from '../../load/checks.ts'
import type { Canary, Form } from './canary.ts'

const chunkBytes = 4 * 1024 * 1024
/** Longer than any form, so that none is missed between two chunks. */
const overlapBytes = 256
const procBytes = 64 * 1024
const findsShown = 5
const controlsEnough = 3
const filesMax = 200_000
const depthMax = 40
const windowBytes = 4
const hashBits = 20

const hashAt = (bytes: Buffer, at: number) =>
  Math.imul(
    (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24),
    0x9e3779b1,
  ) >>>
  (32 - hashBits)

/** Looks for many texts at once: of every so many bytes four are looked up among all parts of all texts. */
class Finder {
  readonly #forms: readonly Form[]
  readonly #known = new Uint8Array(1 << hashBits)
  readonly #stride: number
  readonly #longest: number

  constructor(forms: readonly Form[]) {
    this.#forms = forms
    const lengths = forms.map(({ bytes }) => bytes.length)
    this.#stride = Math.min(...lengths) - windowBytes + 1
    this.#longest = Math.max(...lengths)
    for (const { bytes } of forms) {
      for (let at = 0; at + windowBytes <= bytes.length; at += 1) this.#known[hashAt(bytes, at)] = 1
    }
  }

  find(bytes: Buffer): Form | null {
    for (let at = 0; at + windowBytes <= bytes.length; at += this.#stride) {
      if (this.#known[hashAt(bytes, at)] === 0) continue
      const around = bytes.subarray(Math.max(0, at - this.#longest), at + this.#longest)
      const found = this.#forms.find((form) => around.includes(form.bytes))
      if (found !== undefined) return found
    }
    return null
  }
}

/** One place that is searched for canaries in every form, and for known texts that prove that it was read. */
export class Store {
  readonly name: string
  readonly #finder: Finder
  readonly #controls: Set<string>
  readonly #finds: string[] = []
  bytes = 0
  files = 0
  controls = 0

  constructor(name: string, canary: Canary, controls: readonly string[]) {
    this.name = name
    this.#finder = new Finder(canary.forms())
    this.#controls = new Set(controls)
  }

  look(bytes: Buffer, where: string): void {
    this.bytes += bytes.length
    const found = this.#finder.find(bytes)
    if (found !== null) this.#finds.push(`${found.name} in ${where}`)
    if (this.controls >= controlsEnough) return
    for (const text of this.#controls) {
      if (!bytes.includes(text)) continue
      this.#controls.delete(text)
      this.controls += 1
      if (this.controls >= controlsEnough) return
    }
  }

  lookText(text: string, where: string): void {
    this.look(Buffer.from(text), where)
  }

  /** A file in pieces; one that is gone meanwhile is nothing. */
  async lookFile(path: string): Promise<void> {
    try {
      await using file = await open(path, 'r')
      const { size } = await file.stat()
      // What /proc has says nothing of its size.
      const piece = Math.min(chunkBytes, Math.max(size, procBytes))
      const buffer = Buffer.alloc(piece + overlapBytes)
      let kept = 0
      for (;;) {
        const { bytesRead } = await file.read(buffer, kept, piece, null)
        if (bytesRead === 0) break
        this.look(buffer.subarray(0, kept + bytesRead), path)
        this.bytes -= kept
        const end = kept + bytesRead
        kept = Math.min(overlapBytes, end)
        buffer.copy(buffer, 0, end - kept, end)
      }
      this.files += 1
    } catch (error) {
      if (!isGone(error)) throw error
    }
  }

  /** Every file below a folder, and the names of all of them. */
  async lookFolder(folder: string, leaveOut: (name: string) => boolean = () => false, depth = 0): Promise<void> {
    if (depth > depthMax || this.files > filesMax) throw new Error(`${folder} is too deep or too large`)
    const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
      if (isGone(error)) return []
      throw error
    })
    for (const entry of entries) {
      if (leaveOut(entry.name)) continue
      const path = join(folder, entry.name)
      this.lookText(entry.name, path)
      if (entry.isDirectory()) await this.lookFolder(path, leaveOut, depth + 1)
      else if (entry.isFile()) await this.lookFile(path)
    }
  }

  get found(): boolean {
    return this.#finds.length > 0
  }

  /** How much was looked at. */
  get read(): string {
    return `${(this.bytes / 1024 ** 2).toFixed(2)} MiB${this.files > 0 ? ` in ${this.files} files` : ''}`
  }

  tell(checks: Checks): void {
    const { controls, read } = this
    const finds = this.#finds
    const shown = finds.slice(0, findsShown).join('; ')
    const detail = `${read}, ${controls} known texts found`
    checks.expect(
      `no secret in ${this.name}`,
      finds.length === 0 && controls > 0,
      finds.length === 0 ? detail : `${detail}; ${finds.length} finds: ${shown}`,
    )
  }
}

/** Encodings of a whole value in which the search would not see it. */
export function formsMissed(canary: Canary): string[] {
  const value = canary.valueOf('planted')
  const bytes = Buffer.from(value)
  const encodings: Record<string, string | Buffer> = {
    raw: value,
    'in a URL': encodeURIComponent(value),
    'in JSON': JSON.stringify({ value }),
    hex: bytes.toString('hex'),
    'as PostgreSQL shows bytes': `\\x${bytes.toString('hex')}`,
    'in two bytes a character': Buffer.from(value, 'utf16le'),
    ...Object.fromEntries(
      ['', 'u', 'us'].map((before) => [`base64 after "${before}"`, Buffer.from(before + value).toString('base64')]),
    ),
    'in base64url': Buffer.from(`user:${value}`).toString('base64url'),
    'without its end': value.slice(0, value.length / 2),
    'without its beginning': value.slice(value.length / 2 - partMax),
  }
  return Object.entries(encodings).flatMap(([name, encoded]) => {
    const store = new Store(name, canary, [])
    store.look(Buffer.concat([Buffer.alloc(7, '-'), Buffer.from(encoded), Buffer.alloc(9, '=')]), name)
    return store.found ? [] : [name]
  })
}

/** Of the part that all values end with, nothing is missing. */
const partMax = 8

const goneCodes = new Set(['ENOENT', 'ESRCH', 'ENOTDIR', 'EACCES', 'ENXIO', 'EINVAL'])
const isGone = (error: unknown) => goneCodes.has((error as NodeJS.ErrnoException).code ?? '')
