import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, test, type TestContext } from 'node:test'
import type { KeyId } from '@switchyard/contracts/ids.ts'
import { Fault } from '#platform/errors/fault.ts'
import { createSealer } from '#platform/secrets/seal.ts'
import { isStorable } from '#platform/std/storable-text.ts'
import type { Principal } from '../principal.ts'
import { principals, testServer } from '../testing/test-server.ts'
import { html } from './html.ts'
import { createSessions } from './sessions.ts'
import { placeAfter } from './sign-in.ts'

const things = '/dashboard/things/thing_1'
const keyId = 'key_1' as KeyId

async function dashboard(t: TestContext, publicUrl = 'http://127.0.0.1') {
  const inForce = new Map<string, Principal>([[keyId, principals['sk-proj-good'] as Principal]])
  let now = new Date('2026-01-01T00:00:00Z')
  const sealer = createSealer({ keys: [{ id: 'test', key: randomBytes(32) }] })
  const sessions = createSessions({
    authenticate: async (token) => principals[token] ?? null,
    principalOf: async (id) => inForce.get(id) ?? null,
    sealer,
    clock: { now: () => now },
  })
  const show = async ({ params }: { params: Readonly<Record<string, string>> }) => {
    assert.ok(isStorable(params['thing_id'] ?? ''), 'PostgreSQL would not take it')
    if (params['thing_id'] !== 'thing_1') throw new Fault('not_found', 'No such <thing>.')
    return { title: 'A <thing>', main: html`<p>It is here.</p>`, refreshSeconds: 5 }
  }
  const page = { id: 'pages.thing', path: '/dashboard/things/{thing_id}', needs: 'things.write', show } as const
  const projectName = async () => 'Project <1>'
  const server = await testServer(t, { pages: { pages: [page], sessions, projectName, publicUrl } })
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}`, { headers, redirect: 'manual' })
  const post = (path: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${server.url}${path}`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { origin: server.url, ...headers },
      redirect: 'manual',
    })
  const signIn = async () => {
    const reply = await post('/dashboard/sign-in', { key: 'sk-proj-good', next: things })
    return { reply, cookie: reply.headers.get('set-cookie')?.split(';')[0] ?? '' }
  }
  const wait = (seconds: number) => (now = new Date(now.getTime() + seconds * 1_000))
  return { server, get, post, signIn, inForce, wait, sealer }
}

describe('a page', () => {
  test('asks for a sign-in at its own address, whether or not there is something', async (t) => {
    const { get } = await dashboard(t)
    const there = await get(things)
    const gone = await get('/dashboard/things/thing_2')
    const unknown = await get('/dashboard/nothing')
    assert.deepEqual([there.status, gone.status, unknown.status], [401, 401, 401])
    const neutral = (text: string) => text.replaceAll(/value="[^"]*"/g, '')
    const text = await there.text()
    assert.match(text, /name="next" value="\/dashboard\/things\/thing_1"/)
    assert.equal(neutral(await gone.text()), neutral(text))
    assert.equal(neutral(await unknown.text()), neutral(text))
  })

  test('opens with the cookie of the sign-in, and with the key itself', async (t) => {
    const { get, signIn } = await dashboard(t)
    const { reply, cookie } = await signIn()
    assert.deepEqual([reply.status, reply.headers.get('location')], [303, things])
    const set = reply.headers.get('set-cookie') ?? ''
    assert.match(set, /; Path=\/dashboard; Max-Age=43200; HttpOnly; SameSite=Strict$/)
    assert.ok(!set.includes('sk-proj-good'))
    for (const headers of [{ cookie }, { authorization: 'Bearer sk-proj-good' }]) {
      const page = await get(things, headers)
      assert.deepEqual([page.status, page.headers.get('refresh')], [200, '5'])
      const text = await page.text()
      assert.match(text, /A &lt;thing&gt; · Switchyard/)
      assert.match(text, /Project &lt;1&gt;/)
    }
  })

  test('runs no script, loads nothing and stands in no frame', async (t) => {
    const { get, signIn } = await dashboard(t)
    const { cookie } = await signIn()
    for (const [path, status] of [
      [things, 200],
      ['/dashboard/things/x', 404],
      ['/dashboard/sign-in', 200],
    ] as const) {
      const page = await get(path, { cookie })
      const policy = page.headers.get('content-security-policy') ?? ''
      const style = /<style>(.*)<\/style>/s.exec(await page.text())?.[1] ?? ''
      const hash = createHash('sha256').update(style).digest('base64')
      assert.equal(page.status, status)
      assert.equal(
        policy,
        `default-src 'none'; style-src 'sha256-${hash}'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      )
      const others = ['x-content-type-options', 'cache-control', 'content-type', 'referrer-policy']
      assert.deepEqual(
        others.map((name) => page.headers.get(name)),
        ['nosniff', 'no-store', 'text/html; charset=utf-8', 'same-origin'],
      )
    }
  })

  test('says in words what is not there or not allowed', async (t) => {
    const { get, signIn, inForce, server } = await dashboard(t)
    const { cookie } = await signIn()
    const gone = await get('/dashboard/things/thing_2', { cookie })
    assert.deepEqual([gone.status, (await gone.text()).includes('No such &lt;thing&gt;.')], [404, true])
    for (const path of ['/dashboard/things/a%00b', '/dashboard/nothing/at/all']) {
      assert.equal((await get(path, { cookie })).status, 404, path)
    }
    inForce.set(keyId, principals['sk-proj-narrow'] as Principal)
    const narrow = await get(things, { cookie })
    assert.deepEqual([narrow.status, (await narrow.text()).includes('lacks the scope things.write')], [403, true])
    assert.deepEqual(server.observed.map(({ operation, status }) => `${operation} ${status}`).slice(-3), [
      'pages.thing 404',
      'pages.unknown 404',
      'pages.thing 403',
    ])
  })
})

describe('a session', () => {
  test('ends with its key, with its time, and with the sign-out', async (t) => {
    const { get, post, signIn, inForce, wait } = await dashboard(t)
    const { cookie } = await signIn()
    inForce.delete(keyId)
    assert.equal((await get(things, { cookie })).status, 401)
    inForce.set(keyId, principals['sk-proj-good'] as Principal)
    assert.equal((await get(things, { cookie })).status, 200)
    wait(12 * 60 * 60)
    assert.equal((await get(things, { cookie })).status, 401)
    const out = await post('/dashboard/sign-out', {}, { cookie })
    assert.deepEqual([out.status, out.headers.get('location')], [303, '/dashboard/sign-in'])
    assert.match(out.headers.get('set-cookie') ?? '', /^switchyard_session=; Path=\/dashboard; Max-Age=0;/)
  })

  test('cannot be made up, changed or taken to another project', async (t) => {
    const { get, signIn, inForce, sealer } = await dashboard(t)
    const { cookie } = await signIn()
    const other = sealer.seal('{"key":"key_1","project":"proj_1","until":9999999999}', 'another.purpose')
    const damaged = `${cookie.slice(0, -2)}${cookie.endsWith('AA') ? 'BB' : 'AA'}`
    for (const made of [
      damaged,
      'switchyard_session=x',
      `switchyard_session=${other}`,
      `${cookie}${'A'.repeat(2_000)}`,
    ]) {
      assert.equal((await get(things, { cookie: made })).status, 401, made)
    }
    const { scope } = principals['sk-proj-good'] as Principal
    inForce.set(keyId, { scope: { ...scope, projectId: 'proj_2' } as never, granted: null })
    assert.equal((await get(things, { cookie })).status, 401)
  })

  test('begins only with a project key in force', async (t) => {
    const { post, server } = await dashboard(t)
    for (const key of ['sk-admin-good', 'adsk_good', 'sk-proj-unknown', '', 'x'.repeat(1_000)]) {
      const reply = await post('/dashboard/sign-in', { key, next: things })
      assert.deepEqual([reply.status, reply.headers.get('set-cookie')], [401, null], key)
      assert.match(await reply.text(), /This key does not open the dashboard/)
    }
    assert.ok(!JSON.stringify(await server.lines()).includes('sk-proj-unknown'))
  })

  test('is not begun or ended by a form of another site', async (t) => {
    const { post } = await dashboard(t)
    const form = { key: 'sk-proj-good' }
    const foreign = [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]
    for (const headers of foreign) {
      const replies = await Promise.all(
        ['/dashboard/sign-in', '/dashboard/sign-out'].map((path) =>
          post(path, form, headers as Record<string, string>),
        ),
      )
      assert.deepEqual(
        replies.map((reply) => [reply.status, reply.headers.get('set-cookie')]),
        [
          [403, null],
          [403, null],
        ],
      )
    }
  })

  test('has a cookie for https alone where people come by https', async (t) => {
    const { signIn } = await dashboard(t, 'https://switchyard.example')
    assert.match((await signIn()).reply.headers.get('set-cookie') ?? '', /; SameSite=Strict; Secure$/)
  })

  test('is found again when a link on another site leads here', async (t) => {
    const { get, signIn } = await dashboard(t)
    const first = await get(things, { 'sec-fetch-site': 'cross-site' })
    assert.deepEqual([first.status, first.headers.get('refresh')], [401, '0'])
    const { cookie } = await signIn()
    assert.equal((await get(things, { 'sec-fetch-site': 'same-origin', cookie })).status, 200)
    assert.equal((await get(things, { 'sec-fetch-site': 'same-origin' })).headers.get('refresh'), null)
  })
})

test('forms are small, and of the form type', async (t) => {
  const { server, post } = await dashboard(t)
  const large = await post('/dashboard/sign-in', { key: 'x'.repeat(10_000) })
  assert.deepEqual([large.status, large.headers.get('content-type')], [413, 'text/html; charset=utf-8'])
  const json = { method: 'POST', body: '{}', headers: { origin: server.url, 'content-type': 'application/json' } }
  assert.equal((await fetch(`${server.url}/dashboard/sign-in`, json)).status, 415)
})

test('after the sign-in one comes to a page of the dashboard and nowhere else', () => {
  for (const ours of ['/dashboard/', '/dashboard/evals/eval_1/runs/evalrun_2?show=fail&after=fail-12']) {
    assert.equal(placeAfter(ours), ours)
  }
  const elsewhere = [
    null,
    '',
    'https://evil.example/dashboard/',
    '//evil.example/dashboard/',
    '/dashboard//evil.example',
    '/dashboard/../v1/files',
    '/dashboard\\evil',
    '/dashboard/\n/x',
    '/dashboard/%2e%2e/',
    '/dashboardx/',
    'javascript:alert(1)',
    `/dashboard/${'a'.repeat(1_000)}`,
    // Answered at once, however long one could think about it.
    `/dashboard/${'a'.repeat(450)}!`,
    `/dashboard/${'a/'.repeat(200)}!`,
  ]
  for (const given of elsewhere) assert.equal(placeAfter(given), '/dashboard/', String(given))
})
