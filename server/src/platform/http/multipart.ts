import { Busboy } from '@fastify/busboy'
import type { MultipartBody } from '@switchyard/contracts/operation.ts'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { Fault } from '#platform/errors/fault.ts'
import { emptyNamed, putNamed, type Named } from './nested-name.ts'
import type { IncomingFile } from './route.ts'
import { isStorable } from './validate.ts'

const fieldsMax = 50
const fieldBytesMax = 64 * 1024
const headerPairsMax = 20

export interface MultipartResult<Received> {
  readonly fields: Named
  readonly received: Received
}

function storable(text: string, what: string): string {
  if (isStorable(text)) return text
  throw new Fault('invalid_value', `The ${what} contains a character that cannot be stored.`)
}

/**
 * Reads a multipart body as a stream: text fields are kept (bounded), the one file part goes to `receive` as it arrives.
 * Whatever goes wrong, what was received is discarded and the request is unpiped.
 */
export async function readMultipart<Received>(
  request: IncomingMessage,
  body: MultipartBody,
  receive: (file: IncomingFile) => Promise<Received>,
  discard: (received: Received) => Promise<void>,
): Promise<MultipartResult<Received>> {
  const fields = emptyNamed()
  let receiving = null as Promise<Received> | null
  const parsed = Promise.withResolvers<void>()
  const fail = (error: unknown) => {
    request.unpipe(parser)
    parser.destroy()
    parsed.reject(asFault(error))
  }
  const parser = openParser(request)
  parser.on('field', (name, value, _nameCut, valueCut) => {
    try {
      if (valueCut) throw new Fault('request_too_large', `The field '${name.slice(0, 100)}' is too long.`)
      putNamed(fields, storable(name, 'field name'), storable(value, 'field'))
    } catch (error) {
      fail(error)
    }
  })
  parser.on('file', (name, stream, filename, _encoding, mimeType) => {
    try {
      receiving = takeFile(name, stream as unknown as Readable, filename, mimeType, body, receiving, receive)
      receiving.catch(fail)
    } catch (error) {
      stream.resume()
      fail(error)
    }
  })
  parser.on('error', fail)
  parser.on('partsLimit', () => fail(new Fault('invalid_multipart', 'The multipart body has too many parts.')))
  parser.on('fieldsLimit', () => fail(new Fault('invalid_multipart', 'The multipart body has too many fields.')))
  parser.on('finish', () => parsed.resolve())
  request.on('error', fail)
  request.on('close', () => {
    if (!request.complete) fail(new Fault('invalid_multipart', 'The request ended before the body was complete.'))
  })
  request.pipe(parser)
  try {
    await parsed.promise
    if (receiving === null) {
      throw new Fault('missing_required_parameter', `Missing required parameter: '${body.file.name}'.`, {
        param: body.file.name,
      })
    }
    return { fields, received: await receiving }
  } catch (error) {
    await receiving?.then(discard, () => undefined)
    throw error
  }
}

function openParser(request: IncomingMessage): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: request.headers as { 'content-type': string },
      limits: {
        fields: fieldsMax,
        fieldSize: fieldBytesMax,
        files: 2,
        parts: fieldsMax + 2,
        headerPairs: headerPairsMax,
      },
    })
  } catch (error) {
    throw new Fault('invalid_multipart', 'The multipart header is malformed: it needs a boundary.', { cause: error })
  }
}

function takeFile<Received>(
  name: string,
  stream: Readable,
  filename: string,
  mimeType: string,
  body: MultipartBody,
  earlier: Promise<Received> | null,
  receive: (file: IncomingFile) => Promise<Received>,
): Promise<Received> {
  if (name !== body.file.name)
    throw new Fault('unknown_parameter', `Unknown parameter: '${name.slice(0, 100)}'.`, { param: name.slice(0, 100) })
  if (earlier !== null) throw new Fault('invalid_multipart', `The part '${name}' was sent twice.`, { param: name })
  return receive({
    filename: storable(filename ?? '', 'file name') || 'upload',
    mimeType: storable(mimeType, 'content type'),
    stream: Readable.from(bounded(stream, body.file.bytesMax)),
  })
}

async function* bounded(stream: Readable, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new Fault('file_too_large', `The file is larger than ${bytesMax} bytes.`)
    yield chunk
  }
}

function asFault(error: unknown): unknown {
  if (error instanceof Fault) return error
  const text = error instanceof Error ? error.message : ''
  if (/multipart|boundary|header|Unexpected end/i.test(text)) {
    return new Fault('invalid_multipart', 'The multipart body is malformed or incomplete.', { cause: error })
  }
  return error
}
