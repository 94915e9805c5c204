import assert from 'node:assert/strict'
import test from 'node:test'
import { findTwice, policyChange } from './network-policy.ts'

const before = { type: 'disabled', allowed_domains: ['a.example.com', 'b.example.com'] } as const

test('the audit log is told which domains came and went, and the new type only when it changed', () => {
  assert.deepEqual(policyChange(before, { type: 'allowlist', allowed_domains: ['b.example.com', 'c.example.com'] }), {
    type: 'allowlist',
    domains_added: ['c.example.com'],
    domains_removed: ['a.example.com'],
  })
  assert.deepEqual(policyChange(before, { ...before, allowed_domains: ['a.example.com'] }), {
    domains_added: [],
    domains_removed: ['b.example.com'],
  })
})

test('the same domains in another order are no change', () => {
  assert.equal(policyChange(before, { type: 'disabled', allowed_domains: ['b.example.com', 'a.example.com'] }), null)
})

test('a domain named twice is found where it stands the second time', () => {
  assert.equal(findTwice(['a', 'b', 'a']), 2)
  assert.equal(findTwice(['a', 'b']), null)
})
