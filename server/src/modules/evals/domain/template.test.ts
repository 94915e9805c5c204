import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RowError } from './row-error.ts'
import { compileTemplate, parsePath, render, renderedMax, variablesOf, type TemplateScope } from './template.ts'

const rendered = (text: string, scope: TemplateScope) => render(compileTemplate(text), scope)
const refused = (text: string, scope: TemplateScope, message: RegExp) =>
  assert.throws(
    () => rendered(text, scope),
    (error) => error instanceof RowError && error.code === 'template_error' && message.test(error.message),
  )

// S1-2.8-m S1-2.8-o S1-2.8-q S1-2.8-r
test('a template shows fields of the item and the output of the sample', () => {
  const scope = { item: { ticket: 'no screen', labels: ['Hardware'] }, sample: { output_text: 'Hardware' } }
  assert.equal(rendered('{{ item.ticket }}', scope), 'no screen')
  assert.equal(rendered('{{item.ticket}} → {{sample.output_text}}', scope), 'no screen → Hardware')
  assert.equal(rendered('{{ item.labels[0] }} {{ item.labels.0 }}', scope), 'Hardware Hardware')
})

test('what is not text is shown as JSON', () => {
  const item = { a: { b: [1, null, { c: true }] }, n: 0.5, no: false, none: null }
  const text = '{{ item.a }} {{ item.a.b[2] }} {{ item.n }} {{ item.no }} {{ item.none }}'
  assert.equal(rendered(text, { item }), '{"b":[1,null,{"c":true}]} {"c":true} 0.5 false null')
  assert.equal(rendered('{{ item }}', { item: { x: 1 } }), '{"x":1}')
})

test('keys that are no names are written in brackets', () => {
  const item = { 'first name': 'Ada', 'a.b': { 'größe-1': 2 } }
  assert.equal(rendered(`{{ item["first name"] }} {{ item['a.b'].größe-1 }}`, { item }), 'Ada 2')
})

test('a variable that the row does not have is named', () => {
  refused('{{ item.b }}', { item: { a: 1 } }, /no \{\{ item\.b \}\}/)
  refused('{{ item.a.b }}', { item: { a: 'text' } }, /item\.a\.b/)
  refused('{{ item.a[3] }}', { item: { a: [1] } }, /item\.a\[3\]/)
  refused('{{ sample.output_text }}', { item: {} }, /asks for a sample, and the row has none/)
  refused('{{ name }}', { item: { name: 1 } }, /\{\{ name \}\} is neither an item nor a sample/)
  refused('{{ item.a | upper }}', { item: { a: 'x' } }, /neither/)
  refused('{{ }}', { item: {} }, /neither/)
})

test('nothing that objects inherit can be reached, and nothing runs', () => {
  const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'length', 'at']
  for (const name of names) {
    refused(`{{ item.${name} }}`, { item: {} }, /has no/)
    refused(`{{ item.list.${name} }}`, { item: { list: [1] } }, /has no/)
    refused(`{{ item.text.${name} }}`, { item: { text: 'abc' } }, /has no/)
  }
  const item = JSON.parse('{"__proto__": "own"}') as unknown
  assert.equal(rendered('{{ item.__proto__ }}', { item }), 'own')
  refused('{{ process.env }}', { item: {} }, /neither/)
  refused('{{ item.constructor.constructor("return 1")() }}', { item: {} }, /neither/)
})

test('what was put in is never read as a template again', () => {
  const scope = { item: { a: '{{ item.secret }}', b: '{{', secret: 'x' } }
  assert.equal(rendered('{{ item.a }}', scope), '{{ item.secret }}')
  assert.equal(rendered('{{ item.b }} item.secret }}', scope), '{{ item.secret }}')
})

test('braces that nothing closes are text', () => {
  const scope = { item: { a: 1 } }
  for (const text of ['{{', '}}', '{{ item.a', 'item.a }}', '{ item.a }', '}}{{', '{']) {
    assert.equal(rendered(text, scope), text)
  }
  assert.equal(rendered('{"x": {{item.a}}}', scope), '{"x": 1}')
  assert.equal(rendered('{{{item.a}}}', scope), '{1}')
  assert.equal(rendered('}} {{ item.a }} {{', scope), '}} 1 {{')
})

test('a text that grows without bound is an error of the row', () => {
  const item = { a: 'x'.repeat(renderedMax / 4) }
  assert.equal(rendered('{{item.a}}'.repeat(4), { item }).length, renderedMax)
  refused('{{item.a}}'.repeat(5), { item }, /longer than/)
})

test('a value that is nested without end is an error of the row', () => {
  const depth = 200_000
  const item = { a: JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as unknown }
  refused('{{ item.a }}', { item }, /nested too deeply/)
})

test('a text of nothing but braces is read in a time that follows its length', () => {
  const length = 200_000
  for (const text of ['{{', '}}', '{{{{}}', '{{a', '{{ item.a }}', '{ {']) {
    const started = performance.now()
    compileTemplate(text.repeat(length / text.length))
    assert.ok(performance.now() - started < 1_000, text)
  }
})

test('the variables of a template are those it shows', () => {
  const variables = variablesOf(compileTemplate('a {{ item.b }} c {{ sample.output_json.d[1] }} {{ x y }}'))
  assert.deepEqual(variables, [
    { expression: 'item.b', path: ['item', 'b'] },
    { expression: 'sample.output_json.d[1]', path: ['sample', 'output_json', 'd', '1'] },
    { expression: 'x y', path: null },
  ])
})

test('paths have bounds', () => {
  assert.equal(parsePath('item' + '.a'.repeat(31))?.length, 32)
  assert.equal(parsePath('item' + '.a'.repeat(32)), null)
  assert.equal(parsePath(`item.${'a'.repeat(600)}`), null)
})

test('every text without braces is itself, and every value is found where it was put', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      fc.pre(!text.includes('{{'))
      assert.equal(rendered(text, { item: {} }), text)
    }),
  )
  const name = fc.stringMatching(/^[A-Za-z0-9_$-]{1,8}$/)
  fc.assert(
    fc.property(fc.array(name, { maxLength: 6 }), fc.json(), (names, json) => {
      let item = JSON.parse(json) as unknown
      const held = item
      for (const one of names.toReversed()) item = JSON.parse(`{${JSON.stringify(one)}:${JSON.stringify(item)}}`)
      const text = rendered(`<{{ ${['item', ...names].join('.')} }}>`, { item })
      assert.equal(text, `<${typeof held === 'string' ? held : JSON.stringify(held)}>`)
    }),
  )
})
