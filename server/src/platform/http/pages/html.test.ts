import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { attacks } from '../testing/markup-attacks.ts'
import { html } from './html.ts'

describe('markup with values in it', () => {
  test('shows every value as the text that it is', () => {
    for (const attack of attacks) {
      const { text } = html`<p title="${attack}">${[attack, html`<b>${attack}</b>`]}</p>`
      const inside = text.replaceAll(/<\/?[pb](?: title="[^"<>]*")?>/g, '')
      assert.doesNotMatch(inside, /[<>]/, attack)
    }
  })

  test('gives back any text to whoever reads it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (given) => {
        const { text } = html`${given}`
        assert.doesNotMatch(text, /[<>"']/)
        const names: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' }
        assert.equal(
          text.replaceAll(/&(lt|gt|quot|#39|amp);/g, (_all, name: string) => names[name] ?? ''),
          given,
        )
      }),
    )
  })

  test('leaves out what is nothing, and refuses an attribute without quotes', () => {
    assert.equal(html`<p>${null}${undefined}${false}${0}</p>`.text, '<p>0</p>')
    assert.throws(() => html`<p title=${'x'}></p>`, /between quotes/)
  })
})
