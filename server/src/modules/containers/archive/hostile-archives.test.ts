import { skillBytesMax, skillFilesMax } from '@switchyard/contracts/skills.ts'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import { posix, win32 } from 'node:path'
import { test } from 'node:test'
import { crc32, deflateRawSync } from 'node:zlib'
import { rawZip, type RawEntry } from '../testing/raw-zip.ts'
import { arrangeFiles } from './arrange-files.ts'
import { readArchive } from './read-archive.ts'
import { InvalidSkill } from './skill-file.ts'
import { writeArchive } from './write-archive.ts'

const unpack = async (zip: Buffer) => arrangeFiles(await readArchive(zip))

const good: RawEntry = { name: 'SKILL.md', content: 'hello' }
const named = (name: string | Buffer): RawEntry[] => [good, { name, content: 'x' }]
const mode = (type: number): RawEntry[] => [good, { name: 'a', content: '/etc/passwd', mode: type | 0o777 }]
const many = (count: number): RawEntry[] => Array.from({ length: count }, (_, at) => ({ name: `f${at}`, content: '' }))
const zeros = deflateRawSync(Buffer.alloc(skillBytesMax + 1), { level: 1 })

const hostile: [says: string, zip: Buffer, reason: RegExp][] = [
  ['nothing', Buffer.alloc(0), /not a readable zip/],
  ['something else', Buffer.from('PK\u0003\u0004 but no zip'), /not a readable zip/],
  ['no entries', rawZip([]), /no files/],
  ['folders only', rawZip([{ name: 'a/', mode: 0o040755 }]), /no files/],
  ['an absolute path', rawZip(named('/etc/passwd')), /absolute/],
  ['a drive', rawZip(named('C:/x')), /absolute/],
  ['a drive without a slash', rawZip(named('c:x')), /absolute/],
  ['a climbing path', rawZip(named('../x')), /leads out/],
  ['a path that climbs later', rawZip(named('a/b/../../../x')), /leads out/],
  ['a path that climbs at its end', rawZip(named('a/..')), /leads out/],
  ['a folder that climbs', rawZip([good, { name: '../', mode: 0o040755 }]), /leads out/],
  ['a backslash', rawZip(named('a\\..\\..\\x')), /backslash/],
  ['an empty step', rawZip(named('a//b')), /empty step/],
  ['a dot step', rawZip(named('./a')), /empty step/],
  ['an empty name', rawZip(named('')), /empty/],
  ['a NUL', rawZip(named('a\u0000.txt')), /control character/],
  ['a line break', rawZip(named('a\nb')), /control character/],
  ['a name that is not UTF-8', rawZip(named(Buffer.from([0x61, 0xff, 0xfe]))), /not UTF-8/],
  ['half a surrogate as UTF-8', rawZip(named(Buffer.from([0xed, 0xa0, 0x80]))), /not UTF-8/],
  ['a name without end', rawZip(named('x'.repeat(256))), /longer than/],
  ['a path without end', rawZip(named('x/'.repeat(600) + 'x')), /longer than|deeper/],
  ['a path too deep', rawZip(named('x/'.repeat(40) + 'x')), /deeper/],
  ['a symbolic link', rawZip(mode(0o120000)), /links and devices/],
  ['a block device', rawZip(mode(0o060000)), /links and devices/],
  ['a character device', rawZip(mode(0o020000)), /links and devices/],
  ['a pipe', rawZip(mode(0o010000)), /links and devices/],
  ['a socket', rawZip(mode(0o140000)), /links and devices/],
  ['a folder that claims to be a file', rawZip([good, { name: 'a', mode: 0o040755 }]), /links and devices/],
  ['a file that claims to be a folder', rawZip([good, { name: 'a/', mode: 0o100644 }]), /links and devices/],
  ['an encrypted entry', rawZip([good, { name: 'a', flags: 0x801 }]), /encrypted/],
  ['strong encryption', rawZip([good, { name: 'a', flags: 0x841 }]), /encrypted|not a readable/],
  ['an unknown method', rawZip([good, { name: 'a', method: 14 }]), /not supported/],
  ['a name twice', rawZip([good, good]), /twice/],
  ['a name twice in other letters', rawZip([...named('Readme.md'), { name: 'README.MD' }]), /twice/],
  ['a name twice in other marks', rawZip([...named('\u00e9'), { name: 'e\u0301' }]), /twice/],
  [
    'a file that is a folder',
    rawZip([good, { name: 'a', content: 'x' }, { name: 'a/b', content: 'x' }]),
    /a file and a folder/,
  ],
  ['a file that is a folder in other letters', rawZip([good, { name: 'A' }, { name: 'a/b' }]), /a file and a folder/],
  ['one file too many', rawZip(many(skillFilesMax + 1)), /more than 500 files/],
  ['many folders', rawZip(Array.from({ length: 1_001 }, (_, at) => ({ name: `d${at}/`, mode: 0o040755 }))), /entries/],
  ['more entries than there are', rawZip([good], 900), /not a readable zip/],
  [
    'a bomb that says what it is',
    rawZip([{ name: 'a', packed: zeros, claimedBytes: skillBytesMax + 1 }]),
    /unpacks to more/,
  ],
  [
    'a bomb that says it is small',
    rawZip([{ name: 'a', packed: zeros, claimedBytes: 10 }]),
    /not a readable zip|unpacks/,
  ],
  ['content shorter than claimed', rawZip([{ name: 'a', content: 'x', claimedBytes: 10 }]), /not a readable zip/],
  [
    'content that is torn',
    rawZip([{ name: 'a', content: 'hello'.repeat(99), packed: Buffer.from('no') }]),
    /not a readable/,
  ],
  ['content that was changed', rawZip([{ name: 'a', content: 'hello', crc: 1 }]), /damaged/],
  ['entries that share their bytes', rawZip([good, { name: 'b', sharing: 0 }, { name: 'c', sharing: 0 }]), /overlap/],
  ['a local header that is not there', rawZip([{ ...good, offsetBy: 3 }]), /not a readable zip/],
]
for (const [says, zip, reason] of hostile) {
  test(`an archive with ${says} is refused with the reason`, async () => {
    await assert.rejects(unpack(zip), (error) => {
      assert.ok(error instanceof InvalidSkill, String(error))
      assert.match(error.message, reason)
      return true
    })
  })
}

test('files that each fit are refused by what they unpack to together', async () => {
  const bytes = skillBytesMax / 2
  const content = Buffer.alloc(bytes)
  const half = { packed: deflateRawSync(content, { level: 1 }), crc: crc32(content), claimedBytes: bytes }
  const two = [
    { ...half, name: 'a' },
    { ...half, name: 'b' },
  ]
  assert.deepEqual(
    (await unpack(rawZip(two))).map((file) => file.bytes.length),
    [bytes, bytes],
  )
  await assert.rejects(unpack(rawZip([...two, { name: 'c', content: 'x' }])), /unpacks to more/)
})

const step = fc.oneof(
  fc.constantFrom('a', 'B', 'readme.md', '.env', 'ä'),
  fc.constantFrom('..', '.', '', '...', 'SKILL.md', 'a', 'A', 'C:', '~', '-rf', '\u202e', '__MACOSX', 'con', ' '),
  fc.string({ maxLength: 8 }),
  fc.string({ unit: 'binary', maxLength: 4 }),
)
const name = fc
  .tuple(fc.constantFrom('', '', '', '', '', '/', '//', './', '../', '\\'), fc.array(step, { maxLength: 3 }))
  .map(([start, steps]) => `${start}${steps.join('/')}`)

test('no archive that is taken has a path that leads out of its folder, on any system', async () => {
  let taken = 0
  await fc.assert(
    fc.asyncProperty(fc.array(name, { minLength: 1, maxLength: 3 }), async (names) => {
      const zip = rawZip(names.map((each) => ({ name: each, content: 'x' })))
      const files = await unpack(zip).catch((error: unknown) => {
        assert.ok(error instanceof InvalidSkill, String(error))
        return []
      })
      for (const { path } of files) {
        taken += 1
        assert.equal(posix.resolve('/skill', path), `/skill/${path}`)
        assert.ok(win32.resolve('D:\\skill', path).startsWith('D:\\skill\\'), path)
      }
    }),
    { numRuns: 1_000 },
  )
  assert.ok(taken > 100, `only ${taken} were taken: the test shows nothing`)
})

test('whatever bytes of an archive are changed, it is read or refused, and never anything else', async () => {
  const whole = rawZip([good, { name: 'scripts/run.sh', content: '#!/bin/sh\n', mode: 0o100755 }])
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 6 }),
      async (changes) => {
        const zip = Buffer.from(whole)
        for (const [at, value] of changes) zip[at] = value
        await unpack(zip).catch((error: unknown) => assert.ok(error instanceof InvalidSkill, String(error)))
      },
    ),
    { numRuns: 500 },
  )
})

test('what is taken is written as an archive of ours: the same bytes every time, with SKILL.md at the root', async () => {
  const entries: RawEntry[] = [
    { name: 'my-skill/', mode: 0o040755 },
    { name: 'my-skill/scripts/run.sh', content: 'echo', mode: 0o100755 },
    { name: 'my-skill/SKILL.md', content: 'hello' },
    { name: 'my-skill/ä.txt', content: 'x', flags: 0 },
    { name: 'my-skill/empty', content: '' },
    { name: '__MACOSX/my-skill/._SKILL.md', content: 'junk' },
  ]
  const files = await unpack(rawZip(entries))
  assert.deepEqual(
    files.map(({ path, bytes, executable }) => [path, bytes.toString(), executable]),
    [
      ['SKILL.md', 'hello', false],
      ['empty', '', false],
      ['scripts/run.sh', 'echo', true],
      ['ä.txt', 'x', false],
    ],
  )
  const zip = await writeArchive(files)
  assert.deepEqual(await writeArchive(await unpack(rawZip(entries.toReversed()))), zip)
  assert.deepEqual(await unpack(zip), files)
})
