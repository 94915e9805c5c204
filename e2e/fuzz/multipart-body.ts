import type { Schema } from './api.ts'
import type { Chance } from './chance.ts'
import type { KnownIds } from './known-ids.ts'
import { oddText } from './odd-values.ts'
import { valueOf } from './schema-value.ts'

export interface MultipartBody {
  readonly contentType: string
  readonly body: Buffer
}

interface Part {
  readonly head: string
  readonly content: Buffer
}

const disposition = (name: string) => `content-disposition: form-data; name="${name}"`

/** Fields as SDKs write them: `a[b]` for what is inside. */
function flatten(name: string, value: unknown): Part[] {
  if (Array.isArray(value)) return value.flatMap((item) => flatten(`${name}[]`, item))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) => flatten(`${name}[${key}]`, inner))
  }
  return [{ head: disposition(name), content: Buffer.from(String(value)) }]
}

function filePart(name: string, chance: Chance): Part {
  const head = `${disposition(name)}; filename="${chance.word(8)}.bin"\r\ncontent-type: application/octet-stream`
  return { head, content: chance.bytes(chance.pick([0, 1, 12, 300])) }
}

function partsOf(schema: Schema, chance: Chance, ids: KnownIds): Part[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    if (inner.format === 'binary') return [filePart(name, chance)]
    // Where several files may come, they come as a list or as one.
    if (inner.oneOf?.some(({ format }) => format === 'binary') === true) {
      const names = chance.pick([[name], [`${name}[]`], [`${name}[]`, `${name}[]`, name]])
      return names.map((each) => filePart(each, chance))
    }
    return schema.required?.includes(name) === true || chance.often(0.4)
      ? flatten(name, valueOf(inner, chance, ids))
      : []
  })
}

const latin1 = (text: string) => text.replaceAll(/[\r\n"]/g, ' ')

/** Only what may stand in a header at all. */
const oddBoundary = (chance: Chance) =>
  oddText(chance)
    .replaceAll(/[^\u0020-\u007e]|"/g, '?')
    .slice(0, 200)

const partMutations: ((parts: Part[], chance: Chance) => Part[])[] = [
  (parts) => parts.slice(1),
  (parts) => [...parts, ...parts],
  (parts) => parts.toReversed(),
  () => [],
  (parts, chance) => [...parts, { head: disposition(latin1(oddText(chance))), content: Buffer.from(oddText(chance)) }],
  (parts, chance) => parts.map((part) => ({ ...part, content: Buffer.from(oddText(chance)) })),
  (parts, chance) => parts.map((part) => ({ ...part, head: latin1(oddText(chance)) })),
  (parts, chance) =>
    parts.map(({ content }) => ({ head: `${disposition(latin1(oddText(chance)))}; filename="x"`, content })),
  (parts, chance) =>
    parts.map(({ head, content }) => ({ head: `${head}; filename="${latin1(oddText(chance))}"`, content })),
  (parts) => parts.map(({ head, content }) => ({ head: `${head}\r\ncontent-transfer-encoding: base64`, content })),
  (parts) =>
    parts.map(({ head, content }) => ({ head: `${head}\r\ncontent-type: text/plain; charset=utf-7`, content })),
  (parts) => Array.from({ length: 60 }, () => parts).flat(),
  (parts, chance) =>
    parts.map(({ head, content }) => ({ head: `${head}\r\nx: ${'y'.repeat(chance.pick([100, 20_000]))}`, content })),
  (parts) => [...parts, { head: disposition('purpose[a][b]'), content: Buffer.from('x') }],
  (parts) => [...parts, { head: disposition('__proto__[x]'), content: Buffer.from('x') }],
  (parts) => [...parts, { head: disposition('long'), content: Buffer.alloc(70_000, 'x') }],
]

function encode(parts: readonly Part[], boundary: string, ending: string): Buffer {
  const pieces = parts.flatMap(({ head, content }) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...pieces, Buffer.from(ending)])
}

export function multipartOf(schema: Schema, chance: Chance, ids: KnownIds, spoil: boolean): MultipartBody {
  const boundary = `b${chance.word(16)}`
  const contentType = `multipart/form-data; boundary=${boundary}`
  const parts = partsOf(schema, chance, ids)
  const end = `--${boundary}--\r\n`
  if (!spoil) return { contentType, body: encode(parts, boundary, end) }
  if (chance.often(0.6)) return { contentType, body: encode(chance.pick(partMutations)(parts, chance), boundary, end) }
  const body = encode(parts, boundary, end)
  switch (chance.below(7)) {
    case 0:
      return { contentType, body: body.subarray(0, chance.below(body.length)) }
    case 1:
      return { contentType: 'multipart/form-data', body }
    case 2:
      return { contentType: `multipart/form-data; boundary="${oddBoundary(chance)}"`, body }
    case 3:
      return { contentType, body: encode(parts, boundary, '') }
    case 4:
      return { contentType, body: Buffer.concat([Buffer.from('preamble\r\n'), body, Buffer.from('epilogue')]) }
    case 5:
      return { contentType, body: Buffer.from(body.toString('latin1').replaceAll('\r\n', '\n'), 'latin1') }
    default:
      return { contentType, body: flipped(body, chance) }
  }
}

/** Some bytes changed at random. */
export function flipped(body: Buffer, chance: Chance): Buffer {
  const copy = Buffer.from(body)
  for (let count = chance.between(1, 8); count > 0 && copy.length > 0; count -= 1)
    copy[chance.below(copy.length)] = chance.below(256)
  return copy
}
