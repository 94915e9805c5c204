import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operations } from '@switchyard/contracts/operations.ts'
import type { Route } from '#platform/http/route.ts'
import { callOperation } from '../call-operation.ts'
import { sweptOperations } from './examples.ts'
import { sweepApp } from './sweep-app.ts'

test('every operation has a route: without a key it asks for one', async (t) => {
  const app = await sweepApp(t)
  for (const operation of sweptOperations()) {
    const params = Object.fromEntries([...operation.path.matchAll(/\{(.+?)\}/g)].map(([, name]) => [name ?? '', 'x']))
    const reply = await callOperation(app.baseUrl, operation, { params, key: null })
    assert.equal(reply.status, 401, `${operation.id} is not mounted: ${reply.text}`)
  }
})

test('every route of every module belongs to an operation of the list, once', async (t) => {
  const app = await sweepApp(t)
  const routes = Object.values(app.wired).flatMap((part) => (part as { routes?: readonly Route[] }).routes ?? [])
  const mounted = routes.map(({ operation }) => operation.id).toSorted()
  assert.deepEqual(mounted, operations.map(({ id }) => id).toSorted())
  const listed = new Set(operations)
  for (const { operation } of routes) assert.ok(listed.has(operation), `${operation.id} is not the listed one`)
})

test('no two operations share an id, or a method and path', () => {
  const ids = new Set(operations.map(({ id }) => id))
  const places = new Set(operations.map(({ method, path }) => `${method} ${path.replaceAll(/\{.+?\}/g, '{}')}`))
  assert.equal(ids.size, operations.length)
  assert.equal(places.size, operations.length)
})
