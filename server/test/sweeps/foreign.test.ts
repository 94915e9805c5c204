import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '@switchyard/contracts/operation.ts'
import { z } from 'zod'
import { newId } from '#platform/std/ids.ts'
import type { CallReply } from '../call-operation.ts'
import { replaceAt, valueAt, type Example } from './example.ts'
import { exampleOf, isOffered, sweptOperations } from './examples.ts'
import { ask, ownPlace, siblingPlace, strangerPlace, type Place } from './place.ts'
import { idsOf, snapshot } from './snapshot.ts'
import { sweepApp } from './sweep-app.ts'

/** Differs from reply to reply without saying anything about the object. */
const perReply = new Set(['x-request-id', 'date', 'openai-processing-ms'])

const headersOf = (reply: CallReply<unknown>) =>
  Object.fromEntries([...reply.headers].filter(([name]) => !perReply.has(name)))

/** An id of the same form and time that nobody has: where only its place in an order counts, it has the same place. */
const madeUp = (id: string) => id.replace(/(?<=[-_][^-_]{10})[^-_]+$/, newId('').slice(10))

/** Models and their limit groups are the operator's, and a version is a number within its skill: none belongs to a project. */
const everybodys = new Set(['model', 'rate_limit_id', 'version'])

/** Where the ids of a place are foreign to the caller. A project next door is open to the admin of both. */
function foreignPaths(operation: Operation, example: Example, there: Place): string[] {
  const names = Object.keys(example.params ?? {}).filter((name) => !everybodys.has(name))
  const params = names.map((name) => `params.${name}`)
  const paths = [...params, ...(example.references ?? [])]
  if (operation.auth !== 'admin_key' || there.org.id !== there.app.org.id) return paths
  if (!params.includes('params.project_id')) return []
  return paths.filter((path) => /^params\.(?!project_id$)/.test(path))
}

/** A refusal may repeat an id of the path, which the caller knows already. */
const unnamed = ({ text }: CallReply<unknown>, { params = {} }: Example) =>
  Object.entries(params).reduce((said, [name, id]) => said.replaceAll(id, `{${name}}`), text)

/** Someone else's ids at these paths give what nobody's ids give, and change nothing. */
async function seesNothing(here: Place, operation: Operation, own: Example, theirs: Example, paths: string[]) {
  const put = (idFor: (path: string) => string) =>
    paths.reduce((example, path) => replaceAt(example, path, idFor(path)), own)
  const foreign = put((path) => valueAt(theirs, path))
  const unknown = put((path) => madeUp(valueAt(theirs, path)))
  const before = await snapshot(here.app)
  const reply = await ask(here, operation, foreign)
  const expected = await ask(here, operation, unknown)
  const about = `${paths.join(' and ')}: ${reply.status} ${reply.text}`
  assert.deepEqual([reply.status, unnamed(reply, foreign)], [expected.status, unnamed(expected, unknown)], about)
  assert.deepEqual(headersOf(reply), headersOf(expected))
  assert.deepEqual(await snapshot(here.app), before, 'something was changed')
  if (isOffered(operation) && paths.some((path) => path.startsWith('params.'))) {
    assert.equal(reply.status, 404, about)
    assert.match(reply.error?.code ?? '', /(^|_)not_found$/)
  }
}

test('an object of another project or organisation answers byte for byte as one that never was', async (t) => {
  const app = await sweepApp(t)
  const here = ownPlace(app)
  for (const operation of sweptOperations()) {
    await t.test(operation.id, async () => {
      for (const there of [siblingPlace(app), strangerPlace(app)]) {
        const own = await exampleOf(operation, here)
        const theirs = await exampleOf(operation, there)
        const paths = foreignPaths(operation, own, there)
        for (const path of paths) await seesNothing(here, operation, own, theirs, [path])
        if (paths.length > 1) await seesNothing(here, operation, own, theirs, paths)
      }
    })
  }
})

/** What must not be seen: everything of the other organisation and, inside a project, of the project next door. */
async function hiddenFrom(operation: Operation, here: Place): Promise<string[]> {
  const { app } = here
  const strangers = [...(await idsOf(app, 'org_id', app.otherOrg.id)), app.otherOrg.id, app.otherOrg.project.id]
  const neighbours = await idsOf(app, 'project_id', app.other.id)
  const inProject = operation.auth === 'project_key' || operation.path.includes('{project_id}')
  return [...strangers, ...(inProject ? neighbours : [])]
}

const isRequired = ({ query }: Operation, name: string): boolean =>
  query instanceof z.ZodObject && !z.safeParse(query.shape[name] as z.ZodType, undefined).success

/** As wide as it can be asked: nothing is named that the place itself has. */
function withoutReferences(operation: Operation, { params = {}, query = {}, references = [] }: Example): Example {
  const named = new Set(references.map((path) => path.split('.')[1]))
  const kept = Object.entries(query).filter(([name]) => !named.has(name) || isRequired(operation, name))
  return { params, query: Object.fromEntries(kept) }
}

test('what can be read or listed never shows anything of another project or organisation', async (t) => {
  const app = await sweepApp(t)
  const here = ownPlace(app)
  const swept = sweptOperations()
  for (const there of [siblingPlace(app), strangerPlace(app)]) {
    for (const operation of swept) await exampleOf(operation, there)
  }
  for (const operation of swept.filter(({ method }) => method === 'GET')) {
    const hidden = await hiddenFrom(operation, here)
    assert.ok(hidden.length > 10)
    const reply = await ask(here, operation, withoutReferences(operation, await exampleOf(operation, here)))
    assert.equal(reply.status, 200, reply.text)
    assert.deepEqual(
      hidden.filter((id) => reply.text.includes(id)),
      [],
      operation.id,
    )
  }
})
