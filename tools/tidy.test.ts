import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { tidy } from './tidy.ts'
import type { Layers } from './tidy/finding.ts'

const stored = JSON.parse(readFileSync(new URL('./layers.json', import.meta.url), 'utf8')) as Layers
const layers: Layers = { ...stored, filesMin: 10 }

const module = 'server/src/modules'
const CLEAN: Record<string, string> = {
  'ARCHITECTURE.md':
    '# Map\n\n## Modules\n\n| Module | Owns |\n|---|---|\n| `orgs` | keys |\n| `files` | files |\n\n## Roles\n\n- `api`\n',
  'packages/contracts/src/index.ts': "export { files } from './files.ts'\n",
  'packages/contracts/src/files.ts': "import { z } from 'zod'\n\nexport const files = z.object({})\n",
  'packages/contracts/src/files.test.ts':
    "import { test } from 'node:test'\nimport { files } from './files.ts'\n\ntest('x', () => files)\n",
  'server/migrations/0001-platform-init.sql':
    'create schema platform;\ncreate table platform.lease (id text primary key);\n',
  'server/migrations/0002-files-init.sql':
    "create schema if not exists files;\ncreate table files.file (id text, note text default 'orgs.project'); -- like orgs.project\ncreate index file_by_id on files.file (id);\ncreate trigger kept before update or truncate on files.file execute function files.refuse();\ninsert into files.file (id) values ('a') on conflict do update set id = 'b';\n",
  'server/src/main.ts': "import { wire } from './wiring.ts'\n\nawait wire(process.argv)\n",
  'server/src/wiring.ts':
    "import { newFiles } from '#modules/files/index.ts'\nimport { Fault } from '#platform/errors/fault.ts'\n\nexport async function wire(args: string[]) {\n  return newFiles(args, Fault)\n}\n",
  'server/src/platform/errors/fault.ts': 'export class Fault extends Error {\n  static of = () => fetch\n}\n',
  'server/src/platform/config/settings.ts': 'export const readSettings = () => process.env\n',
  'server/src/platform/http/server.ts':
    "import fastify from 'fastify'\nimport type { Files } from '@switchyard/contracts'\n\nexport interface Listening { listen(port: number): void }\nexport const table = { start() { fastify().listen(1) }, stop: (): Promise<void> => fetch('x').then(() => {}) }\nexport function serve(options: { port: number }): { close: () => void } {\n  setInterval(() => {}, options.port)\n  return { close() {} }\n}\nexport const half = (a: number) => a / 2 // not a /regex/\n",
  [`${module}/orgs/index.ts`]: "export type { Org } from './domain/org.ts'\n",
  [`${module}/orgs/domain/org.ts`]:
    "import { createHash } from 'node:crypto'\nimport { Fault } from '#platform/errors/fault.ts'\n\nexport const hash = (s: string) => createHash('sha256').update(s + Fault.name)\n",
  [`${module}/files/index.ts`]: "export { newFiles } from './module.ts'\n",
  [`${module}/files/module.ts`]:
    "import type { Org } from '#modules/orgs/index.ts'\nimport { insertFile } from './store/files.ts'\n\nexport const newFiles = (org: Org) => insertFile(org)\n",
  [`${module}/files/store/files.ts`]:
    "import { sql } from 'kysely'\n\nexport const insertFile = (tx: Tx) => tx.insertInto('files.file').values({ purpose: 'evals' })\nexport const count = sql`select count(*) from files.file`\n",
  [`${module}/files/store/files.int.test.ts`]:
    "import { testApp } from '../../../../test/app.ts'\n\nconst url = process.env.SOME_URL\nawait testApp(url)\n",
  'server/test/app.ts':
    "import { insertFile } from '#modules/files/store/files.ts'\n\nexport const testApp = insertFile\n",
  'server/src/commands/doctor.ts': "export const doctor = async () => await import('../../../dev/dev.ts')\n",
  'dev/dev.ts': "import { serve } from '../server/src/platform/http/server.ts'\n\nserve(process.env)\n",
}

const clean = (): Map<string, string> => new Map(Object.entries(CLEAN))

function rulesOf(files: Map<string, string>): string[] {
  return tidy(files, layers).findings.map((finding) => `${finding.rule} ${finding.path}`)
}

test('a clean tree has no findings and says how many files were read', () => {
  const report = tidy(clean(), layers)
  assert.deepEqual(report, { filesRead: Object.keys(CLEAN).length, findings: [] })
})

/** What is planted where, and the rule that must see it. */
const PLANTED: [promise: string, rule: string, path: string, text: string][] = [
  [
    'contracts import only zod',
    'contracts',
    'packages/contracts/src/ids.ts',
    "import { randomUUID } from 'node:crypto'\n",
  ],
  [
    'contracts do not import the server',
    'layers',
    'packages/contracts/src/ids.ts',
    "import { serve } from '../../../server/src/platform/http/server.ts'\n",
  ],
  [
    'platform never names a module',
    'layers',
    'server/src/platform/http/x.ts',
    "import { newFiles } from '#modules/files/index.ts'\n",
  ],
  [
    'platform never names a module, not even for a type',
    'layers',
    'server/src/platform/http/x.ts',
    "import type { Org } from '#modules/orgs/index.ts'\n",
  ],
  [
    'platform does not import wiring',
    'layers',
    'server/src/platform/http/x.ts',
    "import { wire } from '../../wiring.ts'\n",
  ],
  ['a module does not import wiring', 'layers', `${module}/files/x.ts`, "export { wire } from '../../wiring.ts'\n"],
  [
    'the product does not import dev',
    'layers',
    `${module}/files/x.ts`,
    "const dev = () => import('../../../../dev/dev.ts')\n",
  ],
  [
    'the product does not import the test harness',
    'layers',
    'server/src/x.ts',
    "import { testApp } from '../test/app.ts'\n",
  ],
  [
    'an edge outside the table is refused',
    'module-edge',
    `${module}/orgs/x.ts`,
    "import { newFiles } from '#modules/files/index.ts'\n",
  ],
  [
    'a module is entered by its front door',
    'front-door',
    `${module}/files/x.ts`,
    "import { hash } from '#modules/orgs/domain/org.ts'\n",
  ],
  ['wiring too uses the front door', 'front-door', 'server/src/x.ts', "import '#modules/orgs/domain/org.ts'\n"],
  [
    'a test too uses the front door',
    'front-door',
    `${module}/files/x.test.ts`,
    "import { hash } from '#modules/orgs/domain/org.ts'\n",
  ],
  [
    'a layer is crossed visibly',
    'import-form',
    `${module}/files/x.ts`,
    "import { Fault } from '../../platform/errors/fault.ts'\n",
  ],
  [
    'inside a module paths are relative',
    'import-form',
    `${module}/files/x.ts`,
    "import { newFiles } from '#modules/files/index.ts'\n",
  ],
  [
    'the engine SDK stays under durable',
    'package-home',
    `${module}/files/x.ts`,
    "import * as restate from '@restatedev/restate-sdk'\n",
  ],
  [
    'fastify stays under http',
    'package-home',
    'server/src/platform/db/x.ts',
    "import type { FastifyInstance } from 'fastify'\n",
  ],
  [
    'domain does not read files',
    'pure-domain',
    `${module}/files/domain/x.ts`,
    "import { readFileSync } from 'node:fs'\n",
  ],
  ['domain does not open sockets', 'pure-domain', `${module}/files/domain/x.ts`, "import net from 'node:net'\n"],
  ['domain does not query', 'pure-domain', `${module}/files/domain/x.ts`, "import { sql } from 'kysely'\n"],
  [
    'domain does not know the database',
    'pure-domain',
    `${module}/files/domain/x.ts`,
    "import { tx } from '#platform/db/tx.ts'\n",
  ],
  [
    'domain does not call the store',
    'pure-domain',
    `${module}/files/domain/x.ts`,
    "import { insertFile } from '../store/files.ts'\n",
  ],
  [
    'domain does not fetch',
    'pure-domain',
    `${module}/files/domain/x.ts`,
    'export const get = (url: string) => fetch(url)\n',
  ],
  [
    'the environment is read in config only',
    'environment',
    `${module}/files/x.ts`,
    'export const port = () => process.env.PORT\n',
  ],
  [
    'the environment is not read by another name',
    'environment',
    'server/src/x.ts',
    "import { env } from 'node:process'\n",
  ],
  ['no top-level await', 'work-at-import', 'server/src/x.ts', 'export const x = await load()\n'],
  ['no connection at import', 'work-at-import', 'server/src/x.ts', 'export const pool = new pg.Pool({ max: 1 })\n'],
  ['no listening at import', 'work-at-import', 'server/src/x.ts', 'const server = create()\nserver.listen(80)\n'],
  ['no timer at import', 'work-at-import', 'packages/client/src/x.ts', 'if (ready) {\n  setInterval(() => {}, 5)\n}\n'],
  ['no process at import', 'work-at-import', 'server/src/x.ts', "export const child = wrap({ child: spawn('ls') })\n"],
  [
    'no file read at import',
    'work-at-import',
    'server/src/x.ts',
    "const f = (a: number) => a + 1\nconst text = readFileSync('x')\n",
  ],
  ['no default export', 'default-export', 'tools/x.ts', 'export default function x() {}\n'],
  ['no default export by another way', 'default-export', 'tools/x.ts', 'const x = 1\nexport { x as default }\n'],
  [
    'a store names only its own schema',
    'schema-owner',
    `${module}/files/store/x.ts`,
    "export const q = (tx: Tx) => tx.selectFrom('orgs.project as p')\n",
  ],
  [
    'raw SQL names only its own schema',
    'schema-owner',
    `${module}/files/store/x.ts`,
    'export const q = sql`select 1 from files.file join orgs.project on true`\n',
  ],
  [
    'platform names no schema of a module',
    'schema-owner',
    'server/src/platform/db/x.ts',
    "export const q = 'select id from orgs.project'\n",
  ],
  [
    'a route holds no SQL',
    'sql-home',
    `${module}/files/routes/x.ts`,
    "export const q = (tx: Tx) => tx.selectFrom('files.file')\n",
  ],
  ['a migration names its owner', 'migration-name', 'server/migrations/0003-more.sql', 'select 1;\n'],
  ['a migration has a number of its own', 'migration-name', 'server/migrations/0002-orgs-x.sql', 'select 1;\n'],
  [
    'a migration stays in its schema',
    'schema-owner',
    'server/migrations/0003-files-x.sql',
    'alter table orgs.project add x int;\n',
  ],
  [
    'a migration does not refer to another schema',
    'schema-owner',
    'server/migrations/0003-files-x.sql',
    'create table files.x (p text references orgs.project);\n',
  ],
  [
    'a migration writes the schema out',
    'schema-owner',
    'server/migrations/0003-files-x.sql',
    'create table if not exists stray (id text);\n',
  ],
  [
    'a migration does not use public',
    'schema-owner',
    'server/migrations/0003-files-x.sql',
    'create index concurrently a on public.stray (id);\n',
  ],
  [
    'a migration makes only its own schema',
    'schema-owner',
    'server/migrations/0003-files-x.sql',
    'create schema other;\n',
  ],
  ['files are kebab-case', 'file-name', 'dev/devStack.ts', 'export const x = 1\n'],
  ['folders are kebab-case', 'file-name', 'dev/my_folder/x.ts', 'export const x = 1\n'],
  ['long files are refused', 'file-size', 'dev/x.ts', 'export const x = 1\n'.repeat(stored.linesMax + 1)],
]

for (const [promise, rule, path, text] of PLANTED) {
  test(`tidy sees: ${promise}`, () => {
    const findings = tidy(clean().set(path, text), layers).findings
    assert.deepEqual(
      findings.map((finding) => `${finding.rule} ${finding.path}`),
      [`${rule} ${path}`],
    )
    assert.ok((findings[0]?.fix.length ?? 0) > 20, 'the finding says how to fix it')
  })
}

test('the line of a finding is the line of the fault', () => {
  const text =
    "/* two\n lines */\nimport type { Org } from '#modules/orgs/index.ts'\n\nexport const a = process.env.A\n"
  const found = tidy(clean().set(`${module}/files/x.ts`, text), layers).findings
  assert.deepEqual(
    found.map((finding) => finding.line),
    [5],
  )
})

test('words in comments and strings break no rule', () => {
  const text =
    "// process.env and import x from '#modules/files/store/y.ts'\nexport const help = `set process.env.X, then ${'new Pool()'} await`\nexport const re = /[/'\"]process.env/\n"
  assert.deepEqual(rulesOf(clean().set('server/src/x.ts', text)), [])
})

test('a module that is unknown or untold is reported', () => {
  const files = clean().set(`${module}/parcels/index.ts`, 'export const x = 1\n')
  assert.deepEqual(rulesOf(files), [`module-list ${module}/parcels`, 'architecture ARCHITECTURE.md'])
})

test('a module that is told of but gone is reported', () => {
  const text = `${CLEAN['ARCHITECTURE.md']}`.replace('| `orgs`', '| `limits` | tiers |\n| `orgs`')
  assert.deepEqual(rulesOf(clean().set('ARCHITECTURE.md', text)), ['architecture ARCHITECTURE.md'])
})

test('edges that name no module or run in a circle are reported', () => {
  const bent = { ...layers, modules: { ...layers.modules, orgs: ['files', 'parcels'] } }
  const messages = tidy(clean(), bent).findings.map((finding) => finding.message)
  assert.ok(messages.includes('orgs uses parcels, which is no module'))
  assert.ok(messages.includes('files uses itself through others'))
})

test('reading too few files is a failure, not a clean tree', () => {
  const report = tidy(new Map([...clean()].slice(0, 1)), { ...layers, filesMin: 2 })
  assert.ok(report.findings.some((finding) => finding.rule === 'files-read'))
})
