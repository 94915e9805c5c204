import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { deleteProjectApiKey, listProjectApiKeys } from '@switchyard/contracts/organization/project-api-keys.ts'
import { sql } from 'kysely'
import { attacks } from '#platform/http/testing/markup-attacks.ts'
import { testApp } from '../../../../test/test-app.ts'
import { filledRun, type Filling } from '../testing/filled-run.ts'

async function reports(t: TestContext) {
  const app = await testApp(t)
  const open = async (path: string, key = app.project.key) => {
    const headers = { authorization: `Bearer ${key}` }
    const reply = await fetch(`${app.baseUrl}${path}`, { headers, redirect: 'manual' })
    return { status: reply.status, headers: reply.headers, text: await reply.text() }
  }
  const fill = (filling: Omit<Filling, 'projectId'>) => filledRun(app.db, { projectId: app.project.id, ...filling })
  return { app, open, fill }
}

/** Numbers of the rows that a page lists, and where it leads. */
const rowsOf = (text: string) => [...text.matchAll(/\/rows\/(\d+)(?:\?show=\w+)?"/g)].map(([, n]) => Number(n))
const linkOf = (text: string, rel: 'prev' | 'next') => {
  const href = new RegExp(`rel="${rel}"\\s+href="([^"]+)"`).exec(text)?.[1]
  return href?.replaceAll('&amp;', '&') ?? null
}
const plain = (text: string) => text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')

describe('the report of a run', () => {
  test('has counts, criteria, usage, and its failing rows first with why [S1-2.8-v]', async (t) => {
    const { open, fill } = await reports(t)
    const { path } = await fill({ rows: 20 })
    const { status, text, headers } = await open(path)
    assert.deepEqual([status, headers.get('refresh')], [200, null])
    const words = plain(text)
    assert.match(words, /Completed.*Pass rate 89\.4 % of 19 judged Passed 17 Failed 2 Errored 1/)
    assert.match(words, /label String check 89\.4 % 17 2 1/)
    assert.match(words, /small-1 20 620 40/)
    assert.deepEqual(rowsOf(text).slice(0, 4), [8, 4, 14, 1])
    assert.match(words, /Errored ticket .* the prompt was refused by its content filter\. Not judged/)
    assert.match(text, /<del>Account<\/del>/)
    assert.match(text, /<ins>Other<\/ins>/)
  })

  test('lists every row once, page by page and back, and by outcome', async (t) => {
    const { open, fill } = await reports(t)
    const { path } = await fill({ rows: 170 })
    const pagesMax = 10
    const walk = async (from: string, rel: 'prev' | 'next') => {
      const seen: number[][] = []
      let at: string | null = from
      for (let page = 0; at !== null && page < pagesMax; page += 1) {
        const { text } = await open(at)
        seen.push(rowsOf(text))
        const next = linkOf(text, rel)
        if (next === null) return { seen, last: at }
        at = next
      }
      return { seen, last: at ?? from }
    }
    const { seen, last } = await walk(path, 'next')
    assert.deepEqual(
      seen.map((rows) => rows.length),
      [50, 50, 50, 20],
    )
    const all = seen.flat()
    assert.deepEqual(
      all.toSorted((a, b) => a - b),
      Array.from({ length: 170 }, (_, at) => at + 1),
    )
    assert.deepEqual(all.slice(0, 5), [8, 58, 108, 158, 4])
    const back = await walk(last, 'prev')
    assert.deepEqual(back.seen.toReversed().flat(), all)
    const failed = rowsOf((await open(`${path}?show=fail`)).text)
    assert.deepEqual(
      failed,
      Array.from({ length: 17 }, (_, at) => at * 10 + 4),
    )
    assert.match((await open(`${path}?show=fail&after=pass-9999`)).text, /no more rows this way/)
    assert.equal((await open(`${path}?show=%27&after=x&before=fail-`)).status, 200)
  })

  test('asks for itself again while the run is under way, unless paused', async (t) => {
    const { open, fill } = await reports(t)
    const { path } = await fill({ rows: 1_000, graded: 450, status: 'in_progress' })
    const running = await open(path)
    assert.equal(running.headers.get('refresh'), '5')
    assert.match(plain(running.text), /Running .* 450 of 1,000 rows, 45\.0 % · about .* left · Updated every 5 s/)
    assert.equal((await open(`${path}?live=off`)).headers.get('refresh'), null)
    const waiting = await open(`${path}/rows/900`)
    assert.match(plain(waiting.text), /Row 900 Not judged yet/)
  })

  test('says why a run failed', async (t) => {
    const { open, fill } = await reports(t)
    const error = { code: 'empty_source', message: 'The file has no rows.' }
    const { path } = await fill({ rows: 0, status: 'failed', error })
    const { text, headers } = await open(path)
    assert.match(plain(text), /The run failed\. The file has no rows\. empty_source/)
    assert.equal(headers.get('refresh'), null)
  })

  test('of another project is not there, just like one that never was', async (t) => {
    const { app, open, fill } = await reports(t)
    const { path, evalId } = await fill({ rows: 3 })
    for (const key of [app.other.key, app.otherOrg.project.key]) {
      for (const place of [path, `${path}/rows/1`, `${path}?row=2`]) {
        const foreign = await open(place, key)
        const never = await open(place.replace(/evalrun_\w+/, `evalrun_${'0'.repeat(24)}`), key)
        assert.deepEqual([foreign.status, never.status], [404, 404])
        assert.equal(foreign.text, never.text)
      }
    }
    assert.equal((await open(`/dashboard/evals/eval_other/runs/${path.split('/').at(-1) ?? ''}`)).status, 404)
    assert.equal((await open(path, app.org.adminKey)).status, 401)
    assert.equal((await fetch(`${app.baseUrl}${path}`)).status, 401)
    assert.ok(!(await (await fetch(`${app.baseUrl}${path}`)).text()).includes('Support tickets'))
    await sql`update evals.eval set deleted_at = now() where id = ${evalId}`.execute(app.db.kysely)
    assert.equal((await open(path)).status, 404)
  })

  test('stays open for whoever signed in until their key is revoked', async (t) => {
    const { app, fill } = await reports(t)
    const { path } = await fill({ rows: 3 })
    const signedIn = await fetch(`${app.baseUrl}/dashboard/sign-in`, {
      method: 'POST',
      headers: { origin: app.baseUrl },
      body: new URLSearchParams({ key: app.project.key, next: path }),
      redirect: 'manual',
    })
    assert.deepEqual([signedIn.status, signedIn.headers.get('location')], [303, path])
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    const status = async () => (await fetch(`${app.baseUrl}${path}`, { headers: { cookie } })).status
    assert.equal(await status(), 200)
    const params = { project_id: app.project.id }
    const { body } = await app.call(listProjectApiKeys, { params })
    const key = body.data[0]?.id ?? ''
    assert.equal((await app.call(deleteProjectApiKey, { params: { ...params, key_id: key } })).status, 200)
    assert.equal(await status(), 401)
  })
})

describe('a row of a report', () => {
  test('has its own page with item, conversation and the texts that were compared', async (t) => {
    const { open, fill } = await reports(t)
    const { path, runId } = await fill({ rows: 20 })
    const jump = await open(`${path}?row=4&show=fail`)
    assert.deepEqual([jump.status, jump.headers.get('location')], [303, `${path}/rows/4?show=fail`])
    const { text } = await open(`${path}/rows/4?show=fail`)
    const words = plain(text)
    assert.match(words, /Row 4 ✕ Failed .* Tokens in 31 Tokens out 2/)
    assert.ok(words.includes(`outputitem_${runId.slice('evalrun_'.length)}_3`))
    assert.match(words, /label ✕ Failed String check · eq · score 0 Expected exactly Account Got Other/)
    assert.deepEqual([linkOf(text, 'prev'), linkOf(text, 'next')], [null, `${path}/rows/14?show=fail`])
    for (const row of ['21', '0', '-1', '1e3', '999999999999']) {
      assert.equal((await open(`${path}/rows/${row}`)).status, 404, row)
    }
  })

  test('too large for the list is shown on its page as far as there is room, whatever its criteria', async (t) => {
    const { app, open, fill } = await reports(t)
    const twice = { type: 'string_check', operation: 'ne', input: '{{ item }}', reference: '{{ item.ticket }}' }
    const criteria = Array.from({ length: 100 }, (_, at) => ({ ...twice, name: `criterion ${at}`, id: `c${at}` }))
    const { path, runId } = await fill({ rows: 2, criteria })
    const item = { ticket: `begin ${'word '.repeat(700_000)} end`, label: 'Hardware' }
    const results = criteria.map(({ id: name, type }) => ({ name, type, passed: true, score: 1 }))
    await sql`update evals.result set results = ${JSON.stringify(results)}, passed = ${criteria.map(() => true)}
      where run_id = ${runId}`.execute(app.db.kysely)
    await sql`update evals.row set item = ${JSON.stringify(item)} where run_id = ${runId} and n = 0`.execute(
      app.db.kysely,
    )
    const list = await open(path)
    assert.match(list.text, /Too large to show here/)
    assert.ok(list.text.length < 80_000, `${list.text.length} characters`)
    const { text } = await open(`${path}/rows/1`)
    assert.ok(text.includes(item.ticket.slice(0, 50_000)))
    assert.ok(text.length < 1_000_000, `${text.length} characters`)
    assert.match(plain(text), /Only the beginning is shown; the API has all of it\./)
    assert.match(plain(text), /criterion 99 ✓ Passed String check · ne · score 1 There is no room for its texts/)
  })
})

test('whatever stands in the data of a run is shown as text', async (t) => {
  const { app, open, fill } = await reports(t)
  for (const attack of attacks.map((one) => one.replaceAll('\0', ''))) {
    const criteria = [
      {
        type: 'string_check',
        name: attack,
        input: '{{ sample.output_text }}',
        operation: 'eq',
        reference: '{{ item.label }}',
        id: 'c',
      },
      {
        type: 'label_model',
        name: attack,
        model: attack,
        input: [],
        labels: [attack],
        passing_labels: [attack],
        id: 'd',
      },
    ]
    const error = { code: attack, message: attack }
    const { path, runId, evalId } = await fill({ rows: 8, criteria, name: attack, status: 'failed', error })
    const sample = {
      input: [{ role: attack, content: attack }],
      output: [{ role: attack, content: attack }],
      finish_reason: attack,
      model: attack,
      usage: null,
      error,
    }
    const results = [
      { name: 'c', type: 'string_check', passed: false, score: 0 },
      { name: 'd', type: 'label_model', passed: false, score: 0, label: attack, sample, error },
    ]
    await sql`update evals.eval set name = ${attack} where id = ${evalId}`.execute(app.db.kysely)
    await sql`update evals.row set item = ${JSON.stringify({ [attack]: attack, label: `${attack} ` })} where run_id = ${runId}`.execute(
      app.db.kysely,
    )
    await sql`update evals.result set sample = ${JSON.stringify(sample)}, results = ${JSON.stringify(results)}, passed = '{f,f}'
      where run_id = ${runId}`.execute(app.db.kysely)
    await sql`update evals.run set model = ${attack} where id = ${runId}`.execute(app.db.kysely)
    for (const place of [path, `${path}/rows/8`, `${path}/rows/4`]) {
      const { status, text } = await open(place)
      assert.equal(status, 200)
      const body = text.replace(/<style>.*<\/style>/s, '').replaceAll(/="[^"<>]*"/g, '')
      assert.doesNotMatch(body, /<(?:script|iframe|img|\u017fcript|!--)|["']/i, attack)
      for (const [tag] of body.matchAll(/<[^>]*>/g)) assert.doesNotMatch(tag, /\son|srcdoc/i, attack)
    }
  }
})
