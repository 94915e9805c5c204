import { skillBytesMax, skillFilesMax } from '@switchyard/contracts/skills.ts'
import { crc32 } from 'node:zlib'
import { fromBufferPromise, type Entry, type ZipFile } from 'yauzl'
import { InvalidSkill, isScript, type SkillFile } from './skill-file.ts'
import { checkPath, shown } from './skill-path.ts'

/** Files, and the folders that archives may list beside them. */
const entriesMax = 2 * skillFilesMax
const stored = 0
const deflated = 8
const encryptedFlag = 0x1
const typeMask = 0o170000
const regularType = 0o100000
const folderType = 0o040000
const executeBits = 0o111

const zipStarts = [Buffer.from('PK\u0003\u0004'), Buffer.from('PK\u0005\u0006')]

export function looksLikeArchive(bytes: Buffer): boolean {
  return zipStarts.some((start) => bytes.subarray(0, start.length).equals(start))
}

/**
 * Reads an archive of someone we do not trust. What its headers claim is checked or not believed: sizes are counted as
 * the bytes come out, names are taken as bytes, and only plain files are let through.
 */
export async function readArchive(zip: Buffer): Promise<SkillFile[]> {
  try {
    // Names stay bytes: the library would guess an old code page for what is not marked as UTF-8.
    const archive = await fromBufferPromise(zip, { decodeStrings: false, validateEntrySizes: true })
    return await readEntries(archive)
  } catch (error) {
    if (error instanceof InvalidSkill) throw error
    throw new InvalidSkill('The archive is not a readable zip.', { cause: error })
  }
}

async function readEntries(archive: ZipFile): Promise<SkillFile[]> {
  if (archive.entryCount > entriesMax) throw new InvalidSkill(`The archive has more than ${entriesMax} entries.`)
  const files: SkillFile[] = []
  const spans: Span[] = []
  let bytesLeft = skillBytesMax
  for await (const entry of archive.eachEntry()) {
    const { path, folder } = checkEntry(entry)
    spans.push(await spanOf(archive, entry))
    if (folder) continue
    if (files.length >= skillFilesMax) throw new InvalidSkill(`There are more than ${skillFilesMax} files.`)
    const bytes = await readContent(archive, entry, bytesLeft)
    bytesLeft -= bytes.length
    const executable = (modeOf(entry) & executeBits) !== 0 || isScript(bytes)
    files.push({ path, bytes, executable })
  }
  refuseOverlaps(spans)
  return files
}

const modeOf = (entry: Entry) => entry.externalFileAttributes >>> 16

function checkEntry(entry: Entry): { path: string; folder: boolean } {
  const name = readName(entry.fileName as unknown as Buffer)
  const folder = name.endsWith('/')
  const path = folder ? name.slice(0, -1) : name
  checkPath(path)
  if ((entry.generalPurposeBitFlag & encryptedFlag) !== 0) throw new InvalidSkill(`${shown(path)} is encrypted.`)
  if (entry.compressionMethod !== stored && entry.compressionMethod !== deflated) {
    throw new InvalidSkill(`${shown(path)} is packed in a way that is not supported; use deflate.`)
  }
  // Looked at whatever system the archive says it is from, because those who unpack it may look too.
  const type = modeOf(entry) & typeMask
  if (type !== 0 && type !== (folder ? folderType : regularType)) {
    throw new InvalidSkill(`${shown(path)} is neither a plain file nor a folder: links and devices are refused.`)
  }
  return { path, folder }
}

function readName(name: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(name)
  } catch (error) {
    throw new InvalidSkill('A name in the archive is not UTF-8.', { cause: error })
  }
}

async function readContent(archive: ZipFile, entry: Entry, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  let crc = 0
  for await (const chunk of await archive.openReadStreamPromise(entry)) {
    bytes += (chunk as Buffer).length
    if (bytes > bytesMax) throw new InvalidSkill(`The archive unpacks to more than ${skillBytesMax} bytes.`)
    crc = crc32(chunk as Buffer, crc)
    chunks.push(chunk as Buffer)
  }
  if (crc !== entry.crc32) throw new InvalidSkill('The archive is damaged.')
  return Buffer.concat(chunks, bytes)
}

interface Span {
  readonly start: number
  readonly end: number
}

async function spanOf(archive: ZipFile, entry: Entry): Promise<Span> {
  const { fileDataStart } = await archive.readLocalFileHeaderPromise(entry, { minimal: true })
  return { start: entry.relativeOffsetOfLocalHeader, end: fileDataStart + entry.compressedSize }
}

/** Entries that share bytes are how a small archive becomes a large one; no honest one has them. */
function refuseOverlaps(spans: readonly Span[]): void {
  let end = 0
  for (const span of spans.toSorted((a, b) => a.start - b.start)) {
    if (span.start < end) throw new InvalidSkill('Entries of the archive overlap.')
    end = span.end
  }
}
