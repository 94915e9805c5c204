import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFile } from '@switchyard/contracts/files.ts'
import { listInputItems } from '@switchyard/contracts/responses/operations.ts'
import { allowDomains, filesIn, newContainer, printedIn, upload } from '#modules/containers/testing/containers-kit.ts'
import { runtimes } from '#modules/containers/testing/sandbox-app.ts'
import { zipOf } from '#modules/containers/testing/skill-forms.ts'
import { newSkill } from '#modules/containers/testing/skills-kit.ts'
import { fileForm } from '#modules/files/testing/file-forms.ts'
import { auto, containerIn, hostedKit, outputsIn, reference, shellCall } from '../testing/hosted-kit.ts'

const canary = 'canary-that-nobody-may-see-55190'
const dataUrl = (text: string) => `data:text/plain;base64,${Buffer.from(text).toString('base64')}`
const message = (...content: unknown[]) => [{ type: 'message', role: 'user', content }]
const text = { type: 'input_text', text: 'Read these.' }
const inlineFile = (filename: string, content: string) => ({
  type: 'input_file',
  filename,
  file_data: dataUrl(content),
})

for (const runtime of runtimes) {
  test(`what a request brings into its container on ${runtime}`, async (t) => {
    const kit = await hostedKit(t, runtime)
    const { app } = kit
    const store = async (filename: string, content: string) =>
      (await app.call(createFile, { body: fileForm(content, { filename }) })).body.id
    const cat = shellCall(['for f in *; do echo "$f: $(cat "$f")"; done'])

    // S1-2.6-a S1-2.6-e S1-2.6-f S1-2.6-g S1-4.2-d
    await t.test('files of messages and of the tool lie under /mnt/data before the first command', async () => {
      const one = await store('a.txt', 'from the project')
      const two = await store('b.txt', 'b of the project')
      app.double.queue(cat, 'Read.')
      const response = await kit.create({
        tools: auto({ file_ids: [one] }),
        input: message(
          text,
          inlineFile('a.txt', canary),
          { type: 'input_file', file_id: two },
          inlineFile('../c', 'c'),
        ),
      })
      assert.deepEqual(outputsIn(response.output)[0]?.output[0]?.stdout.trim().split('\n'), [
        `a-1.txt: ${canary}`,
        'a.txt: from the project',
        'b.txt: b of the project',
        'c: c',
      ])
      const [first] = app.double.requests.slice(-2)
      assert.doesNotMatch(JSON.stringify(first?.body), new RegExp(`${canary}|base64`))
      assert.match(JSON.stringify(first?.body), /\/mnt\/data\/a-1\.txt/)

      const { body } = await app.call(listInputItems, { params: { response_id: response.id } })
      const [item] = body.data
      assert.ok(item?.type === 'message')
      const kept = item.content.flatMap((part) =>
        part.type === 'input_file' ? [[part.filename, part.bytes, part.file_id ?? null, 'file_data' in part]] : [],
      )
      assert.deepEqual(kept, [
        ['a-1.txt', canary.length, null, false],
        ['b.txt', 16, two, false],
        ['c', 1, null, false],
      ])
      const files = await filesIn(app, containerIn(response.output))
      assert.deepEqual(Object.keys(files).toSorted(), ['a-1.txt', 'a.txt', 'b.txt', 'c'])
      assert.ok(Object.values(files).every(({ source }) => source === 'user'))
    })

    await t.test('a later turn is told where the files were, and gets no bytes', async () => {
      app.double.queue('Thanks.', 'Still here.')
      const first = await kit.create({ input: message(text, inlineFile('notes.txt', `${canary} again`)) })
      await kit.create({ previous_response_id: first.id, tools: [] })
      assert.match(kit.told(), /notes\.txt/)
      assert.deepEqual(await kit.tablesWith(`${canary} again`), [])
    })

    await t.test(
      'files of a message go into a container that is referred to, beside those of the same name',
      async () => {
        const { id } = await newContainer(app)
        await upload(app, id, 'a.txt', 'old')
        const stored = await store('a.txt', 'stored')
        app.double.queue(cat, 'Read.')
        const { output } = await kit.create({
          tools: reference(id),
          input: message(text, inlineFile('a.txt', 'inline'), { type: 'input_file', file_id: stored }),
        })
        assert.deepEqual(outputsIn(output)[0]?.output[0]?.stdout.trim().split('\n'), [
          'a-1.txt: inline',
          'a-2.txt: stored',
          'a.txt: old',
        ])
      },
    )

    // S1-1.3-b S1-2.4-a S1-2.4-b S1-2.4-c S1-2.4-d S1-2.4-e S1-2.4-f S1-2.4-g S1-2.4-h S1-2.4-i
    await t.test('skills are mounted read-only and told to the model', async () => {
      const skill = await newSkill(app)
      const data = (await zipOf({ 'notes/deep.txt': 'inline content' })).toString('base64')
      const source = { type: 'base64', media_type: 'application/zip', data }
      const skills = [
        { type: 'skill_reference', skill_id: skill.id, version: 'latest' },
        { type: 'inline', name: 'field-notes', description: 'How to take notes.', source },
      ]
      app.double.queue(
        shellCall([
          'cd /mnt/skills && ls -d */ && head -2 csv-workbench/SKILL.md && find field-notes -type f | xargs cat',
          'touch /mnt/skills/x',
          'rm -f /mnt/skills/csv-workbench/SKILL.md',
        ]),
        'Done.',
      )
      const response = await kit.create({ tools: auto({ skills }) })
      const [look, touch, remove] = outputsIn(response.output)[0]?.output ?? []
      assert.equal(look?.stdout, 'csv-workbench/\nfield-notes/\n---\nname: csv-workbench\ninline content')
      assert.ok(touch?.outcome.type === 'exit' && touch.outcome.exit_code !== 0)
      assert.ok(remove?.outcome.type === 'exit' && remove.outcome.exit_code !== 0)
      assert.match(kit.told(), /field-notes \(\/mnt\/skills\/field-notes\): How to take notes\./)
      assert.match(kit.told(), /csv-workbench \(\/mnt\/skills\/csv-workbench\): Reads and joins/)
      assert.ok(!JSON.stringify(response).includes(data))
      const [tool] = response.tools
      assert.ok(tool?.type === 'shell' && tool.environment?.type === 'container_auto')
      assert.deepEqual(tool.environment.skills, [
        skills[0],
        { type: 'inline', name: 'field-notes', description: 'How to take notes.', source: { ...source, data: '' } },
      ])
    })
  })
}

// S1-2.1-b S1-2.1-g S1-2.1-j S1-2.2-a S1-2.2-b S1-2.2-c S1-2.2-d S1-7.1 S1-8.1
test('an environment that cannot be had is refused where it stands, and nothing is made', async (t) => {
  const kit = await hostedKit(t, 'runc')
  const { app } = kit
  const policy = (allowed_domains: string[], domain_secrets?: unknown[]) =>
    auto({ network_policy: { type: 'allowlist', allowed_domains, ...(domain_secrets && { domain_secrets }) } })
  const at = (rest: string) => `tools[0].environment.${rest}`
  assert.deepEqual(await kit.refusal({ tools: policy(['example.com']) }), [
    400,
    'domain_not_allowed',
    at('network_policy.allowed_domains[0]'),
  ])
  await allowDomains(app, ['example.com'])
  const { id: foreign } = (await app.call(createFile, { body: fileForm(), key: app.other.key })).body
  const secret = { domain: 'other.example', name: 'KEY', value: canary }
  const refused: [unknown[], number, string, string][] = [
    [policy(['example.com', 'other.example']), 400, 'domain_not_allowed', at('network_policy.allowed_domains[1]')],
    [policy(['example.com'], [secret]), 400, 'invalid_value', at('network_policy.domain_secrets[0].domain')],
    [[{ type: 'shell', environment: { type: 'elsewhere' } }], 400, 'invalid_value', at('type')],
    [auto({ memory_limit: '2g' }), 400, 'invalid_value', at('memory_limit')],
    [auto({ colour: 'red' }), 400, 'unknown_parameter', at('colour')],
    [reference('cntr_none'), 404, 'container_not_found', at('container_id')],
    [auto({ file_ids: ['file-none'] }), 404, 'not_found', at('file_ids[0]')],
    [auto({ file_ids: [foreign] }), 404, 'not_found', at('file_ids[0]')],
    [
      auto({ skills: [{ type: 'skill_reference', skill_id: 'skill_none' }] }),
      404,
      'not_found',
      at('skills[0].skill_id'),
    ],
  ]
  for (const [tools, status, code, param] of refused) {
    assert.deepEqual(await kit.refusal({ tools }), [status, code, param])
  }
  const mine = await newContainer(app)
  const theirs = await kit.ask({ tools: reference(mine.id) }, { key: app.other.key })
  assert.deepEqual([theirs.status, theirs.error.code], [404, 'container_not_found'])
  const second = [{ type: 'function', name: 'f' }, ...policy(['other.example'])]
  assert.deepEqual(await kit.refusal({ tools: second }), [
    400,
    'domain_not_allowed',
    'tools[1].environment.network_policy.allowed_domains[0]',
  ])
  const bad = { type: 'input_file', filename: 'a', file_data: 'data:text/plain;base64,***' }
  assert.equal((await kit.ask({ input: message(text, bad) })).status, 400)
  assert.equal(app.double.requests.length, 0)
  assert.equal(await kit.machines(), 0)
})

// S1-2.2-e S1-2.2-f S1-2.2-h S1-5.3-d S1-5.3-e
test('a secret is known to the model by its placeholder, and its value is in no reply, record or log', async (t) => {
  const kit = await hostedKit(t, 'runc')
  const { app } = kit
  await allowDomains(app, ['example.com'])
  const tools = auto({
    network_policy: {
      type: 'allowlist',
      allowed_domains: ['example.com'],
      domain_secrets: [{ domain: 'example.com', name: 'API_KEY', value: canary }],
    },
  })
  app.double.queue(shellCall(['env; cat /proc/self/environ; echo "$API_KEY"']), 'Done.')
  const headers = { 'idempotency-key': 'with-a-secret' }
  const first = await kit.ask({ tools }, { headers })
  assert.equal(first.body.status, 'completed', first.text)
  assert.match(outputsIn(first.body.output)[0]?.output[0]?.stdout ?? '', /\$API_KEY\n$/)
  const again = await kit.ask({ tools }, { headers })
  assert.deepEqual([again.status, again.body.id], [200, first.body.id])
  assert.equal(app.double.requests.length, 2)
  const [tool] = first.body.tools
  assert.ok(tool?.type === 'shell' && tool.environment?.type === 'container_auto')
  assert.deepEqual(tool.environment.network_policy, {
    type: 'allowlist',
    allowed_domains: ['example.com'],
    domain_secrets: [{ domain: 'example.com', name: 'API_KEY' }],
  })
  assert.match(JSON.stringify(app.double.requests[0]?.body), /\$API_KEY/)
  for (const said of [first.text, again.text, JSON.stringify(app.double.requests), await app.log()]) {
    assert.ok(!said.includes(canary))
  }
  assert.deepEqual(await kit.tablesWith(canary), [])
  assert.ok((await kit.tablesWith('API_KEY')).length > 0, 'the search finds what is there')
  assert.doesNotMatch(await printedIn(app, containerIn(first.body.output), 'env'), new RegExp(canary))
})
