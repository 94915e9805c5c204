import { Busboy } from '@fastify/busboy'
import type { MultipartBody } from '@switchyard/contracts/operation.ts'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { Fault } from '#platform/errors/fault.ts'
import { emptyNamed, putNamed, type Named } from './nested-name.ts'
import { clip } from './param-path.ts'
import type { IncomingFile } from './route.ts'
import { isStorable } from '#platform/std/storable-text.ts'
import { unknownParameter } from './validate.ts'

const fieldsMax = 50
const fieldBytesMax = 64 * 1024
const fieldNameMax = 200
const fileNameMax = 1_000
const headerPairsMax = 20
const headerBytesMax = 16 * 1024
/** Room for the boundaries and fields around the file. */
const overheadBytesMax = 1024 * 1024
/** With every byte read the parser ends at once, unless a part's header never ended: then it waits for ever. */
const finishMs = 200

export interface MultipartResult<Received> {
  readonly fields: Named
  /** One, or as many as the body allows, in the order in which they came. */
  readonly received: readonly [Received, ...Received[]]
}

export function isMultipart(type: string | undefined): boolean {
  return type !== undefined && type.slice(0, 10).toLowerCase() === 'multipart/'
}

/** The whole body: the file and what is around it. */
export function multipartBytesMax(body: MultipartBody): number {
  return body.file.bytesMax + overheadBytesMax
}

/**
 * Reads a multipart body as a stream: text fields are kept (bounded), each file part goes to `receive` as it
 * arrives. Whatever goes wrong, the receiver's stream fails and what was received is discarded.
 */
export async function readMultipart<Received>(
  request: IncomingMessage,
  body: MultipartBody,
  receive: (file: IncomingFile) => Promise<Received>,
  discard: (received: Received) => Promise<void>,
): Promise<MultipartResult<Received>> {
  const reading = new Reading(request, body, receive)
  try {
    await reading.finished
    const [first, ...rest] = await Promise.all(reading.receiving)
    if (first === undefined) {
      const param = body.file.name
      throw new Fault('missing_required_parameter', `Missing required parameter: '${param}'.`, { param })
    }
    return { fields: reading.fields, received: [first, ...rest] }
  } catch (error) {
    // What cannot be discarded now is left without a row, and the sweep of such blobs removes it.
    await Promise.allSettled(reading.receiving.map((received) => received.then(discard)))
    throw error
  }
}

const malformed = (cause?: unknown) =>
  new Fault('invalid_multipart', 'The multipart body is malformed or incomplete.', { cause })

function openParser(request: IncomingMessage, body: MultipartBody): InstanceType<typeof Busboy> {
  const filesMax = body.file.filesMax ?? 1
  try {
    return new Busboy({
      headers: request.headers as { 'content-type': string },
      preservePath: body.file.filesMax !== undefined,
      limits: {
        fields: fieldsMax,
        fieldSize: fieldBytesMax,
        fileSize: body.file.bytesMax,
        // One more is taken only to be refused by name.
        files: filesMax + 1,
        parts: fieldsMax + filesMax + 1,
        headerPairs: headerPairsMax,
        headerSize: headerBytesMax,
      },
    })
  } catch (error) {
    throw new Fault('invalid_multipart', 'The multipart header is malformed: it needs a boundary.', { cause: error })
  }
}

class Reading<Received> {
  readonly fields = emptyNamed()
  readonly receiving: Promise<Received>[] = []
  readonly #request: IncomingMessage
  readonly #body: MultipartBody
  readonly #receive: (file: IncomingFile) => Promise<Received>
  readonly #parser: InstanceType<typeof Busboy>
  readonly #finished = Promise.withResolvers<void>()
  readonly #files: Readable[] = []
  #bytes = 0
  #allRead = false
  #parsed = false
  #over = false
  #finishing: NodeJS.Timeout | undefined

  constructor(request: IncomingMessage, body: MultipartBody, receive: (file: IncomingFile) => Promise<Received>) {
    this.#request = request
    this.#body = body
    this.#receive = receive
    this.#parser = openParser(request, body)
    this.#watchParser()
    request.on('data', this.#feed).on('end', this.#end).on('error', this.#cut).on('close', this.#cut)
    if (request.destroyed) this.#cut()
  }

  get finished(): Promise<void> {
    return this.#finished.promise
  }

  #watchParser(): void {
    const tooMany = (what: string) => () =>
      this.#fail(new Fault('invalid_multipart', `The multipart body has too many ${what}.`))
    this.#parser
      .on('field', (name, value, _nameCut, valueCut) => this.#guard(() => this.#takeField(name, value, valueCut)))
      .on('file', (name, stream, filename, _encoding, type) => {
        // The parser reports a broken body on the part's stream too, where nobody may be listening yet.
        stream.on('error', () => undefined)
        this.#guard(() => this.#takeFile(name, stream, filename, type))
      })
      .on('error', (error: unknown) => this.#fail(malformed(error)))
      .on('partsLimit', tooMany('parts'))
      .on('fieldsLimit', tooMany('fields'))
      .on('filesLimit', tooMany('files'))
      .on('drain', () => this.#request.resume())
      .on('finish', () => {
        this.#parsed = true
        if (this.#allRead) this.#settle(null)
      })
  }

  // Fed by hand rather than by pipe, so that whatever the parser throws fails this request and not the process.
  readonly #feed = (chunk: Buffer): void =>
    this.#guard(() => {
      this.#bytes += chunk.length
      if (this.#bytes > multipartBytesMax(this.#body)) {
        throw new Fault('request_too_large', 'The request body is larger than this operation accepts.')
      }
      if (!this.#parser.write(chunk)) this.#request.pause()
    })

  readonly #end = (): void =>
    this.#guard(() => {
      this.#allRead = true
      // The parser is done at the last boundary, which need not be the last byte.
      if (this.#parsed) return this.#settle(null)
      this.#parser.end()
      this.#awaitFinish()
    })

  readonly #cut = (): void => {
    if (!this.#allRead) this.#fail(malformed())
  }

  #guard(work: () => void): void {
    if (this.#over) return
    try {
      work()
    } catch (error) {
      this.#fail(error instanceof Fault ? error : malformed(error))
    }
  }

  #takeField(name: string | undefined, value: string, valueCut: boolean): void {
    const known = fieldName(name)
    if (valueCut) {
      throw new Fault('string_above_max_length', `The field '${known}' is longer than ${fieldBytesMax} bytes.`, {
        param: known,
      })
    }
    putNamed(this.fields, known, storable(value, 'field', known))
  }

  #takeFile(name: string | undefined, stream: Readable, filename: string | undefined, type: string): void {
    const { name: param, bytesMax, filesMax } = this.#body.file
    const known = fieldName(name)
    if (known !== param && (filesMax === undefined || known !== `${param}[]`)) throw unknownParameter(known)
    if (this.#files.length >= (filesMax ?? 1)) {
      const said =
        filesMax === undefined ? `The part '${known}' was sent twice.` : `More than ${filesMax} files were sent.`
      throw new Fault('invalid_multipart', said, { param })
    }
    // How fetch and httpx write a quote there, as HTML says of forms.
    const given = storable((filename ?? '').replaceAll('%22', '"'), 'file name', param)
    if (given.length > fileNameMax) {
      throw new Fault('string_above_max_length', `The file name is longer than ${fileNameMax} characters.`, { param })
    }
    this.#files.push(stream)
    stream.once('limit', () =>
      this.#fail(new Fault('file_too_large', `The file is larger than ${bytesMax} bytes.`, { param })),
    )
    stream.once('close', () => this.#awaitFinish())
    const mimeType = storable(type, 'content type', param)
    const receiving = this.#receive({ filename: given === '' ? 'upload' : given, mimeType, stream })
    this.receiving.push(receiving)
    receiving.then(
      () => stream.resume(),
      (error: unknown) => this.#fail(error),
    )
  }

  #awaitFinish(): void {
    if (this.#over || !this.#allRead || this.#files.at(-1)?.closed === false) return
    this.#finishing ??= setTimeout(() => this.#fail(malformed()), finishMs)
  }

  #fail(error: unknown): void {
    if (this.#over) return
    this.#settle(error)
    this.#parser.destroy()
    for (const file of this.#files) file.destroy(error as Error)
    // What still arrives is thrown away until the reply is out.
    this.#request.resume()
  }

  #settle(error: unknown): void {
    if (this.#over) return
    this.#over = true
    clearTimeout(this.#finishing)
    this.#request.off('data', this.#feed).off('end', this.#end).off('error', this.#cut).off('close', this.#cut)
    this.#request.on('error', () => undefined)
    if (error === null) this.#finished.resolve()
    else this.#finished.reject(error)
  }
}

function fieldName(name: string | undefined): string {
  if (name === undefined) throw new Fault('invalid_multipart', 'A part of the multipart body has no name.')
  if (name.length > fieldNameMax) throw unknownParameter(name)
  return storable(name, 'field name', undefined)
}

function storable(text: string, what: string, param: string | undefined): string {
  if (isStorable(text)) return text
  throw new Fault('invalid_value', `The ${what} contains a character that cannot be stored.`, {
    param: param === undefined ? undefined : clip(param),
  })
}
