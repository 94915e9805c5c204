import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readIdentity } from './front-matter.ts'
import { InvalidSkill } from './skill-file.ts'

const read = (text: string | Buffer) =>
  readIdentity([{ path: 'SKILL.md', bytes: Buffer.from(text), executable: false }])

const csv = { name: 'csv-1', description: 'Joins: tables, and more.' }

const good: [says: string, text: string][] = [
  ['plain', '---\nname: csv-1\ndescription: "Joins: tables, and more."\n---\n# Text\n'],
  ['no text after it', '---\nname: csv-1\ndescription: "Joins: tables, and more."\n---'],
  ['Windows line ends', '---\r\nname: csv-1\r\ndescription: "Joins: tables, and more."\r\n---\r\nText\r\n'],
  ['a byte order mark', '\ufeff---\nname: csv-1\ndescription: "Joins: tables, and more."\n---\n'],
  [
    'keys of others',
    '---\nlicense: MIT\nmetadata: {a: [1]}\nname: csv-1\ndescription: "Joins: tables, and more."\n---\n',
  ],
  ['a folded text', '---\nname: csv-1\ndescription: >\n  Joins: tables,\n  and more.\n---\n'],
]
for (const [says, text] of good) {
  test(`front matter with ${says} names the skill`, () => assert.deepEqual(read(text), csv))
}

test('what looks like a number or a truth value is still a name', () => {
  assert.deepEqual(read('---\nname: 2024\ndescription: yes\n---\n'), { name: '2024', description: 'yes' })
})

test('a description of the longest length is taken', () => {
  const description = 'x'.repeat(1_024)
  assert.deepEqual(read(`---\nname: a\ndescription: ${description}\n---\n`).description, description)
})

test('a character that is cut where reading ends does no harm', () => {
  const text = `---\nname: a\ndescription: b\n---\n${'x'.repeat(16 * 1024 - 34)}`
  for (let more = 0; more < 4; more += 1) assert.equal(read(`${text}${'x'.repeat(more)}😀`).name, 'a')
})

const fields = (name: string, description = 'b') => `---\nname: ${name}\ndescription: ${description}\n---\n`
const laughs = `a: &a [x]\n${Array.from({ length: 8 }, (_, at) => `b${at}: &b${at} [*a, *a, *a]`).join('\n')}`

const bad: [says: string, text: string | Buffer, reason: RegExp][] = [
  ['nothing', '', /front matter/],
  ['no front matter', '# Title\n', /front matter/],
  ['front matter that does not begin the file', '\n---\nname: a\ndescription: b\n---\n', /front matter/],
  ['front matter that never ends', '---\nname: a\ndescription: b\n', /front matter/],
  ['empty front matter', '---\n---\n', /name/],
  ['front matter beyond its size', `---\nname: a\ndescription: b\nc: ${'x'.repeat(20_000)}\n---\n`, /front matter/],
  ['bytes that are not UTF-8', Buffer.from([0x2d, 0x2d, 0x2d, 0x0a, 0xff]), /UTF-8/],
  ['YAML that is none', '---\nname: [a\n---\n', /YAML/],
  ['a key twice', '---\nname: a\nname: b\ndescription: c\n---\n', /YAML/],
  ['a list', '---\n- name\n- description\n---\n', /name/],
  ['no name', '---\ndescription: b\n---\n', /name/],
  ['a name of upper-case letters', fields('Csv'), /name/],
  ['a name with a space', fields('a b'), /name/],
  ['a name that climbs', fields('..'), /name/],
  ['a name of 65 letters', fields('a'.repeat(65)), /name/],
  ['a name that is a map', fields('{a: b}'), /name/],
  ['no description', '---\nname: a\n---\n', /description/],
  ['an empty description', fields('a', '""'), /description/],
  ['a long description', fields('a', 'x'.repeat(1_025)), /description/],
  ['a description that cannot be stored', fields('a', '"x\\0"'), /description/],
  ['aliases that grow', `---\nname: a\ndescription: b\n${laughs}\n---\n`, /YAML/],
  ['brackets without end', `---\nname: a\ndescription: ${'['.repeat(10_000)}\n---\n`, /YAML/],
  ['a key of the prototype', '---\n__proto__: {name: a, description: b}\n---\n', /name/],
]
for (const [says, text, reason] of bad) {
  test(`a SKILL.md with ${says} is refused`, () => {
    assert.throws(
      () => read(text),
      (error) => error instanceof InvalidSkill && reason.test(error.message),
    )
  })
}

test('a skill without SKILL.md is refused', () => {
  assert.throws(() => readIdentity([{ path: 'a/SKILL.md', bytes: Buffer.from(''), executable: false }]), /no SKILL\.md/)
})
