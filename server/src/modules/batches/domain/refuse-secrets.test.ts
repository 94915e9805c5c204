import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '#platform/errors/fault.ts'
import { refuseSecrets } from './refuse-secrets.ts'

test('a request that carries domain_secrets is refused by the tool that does, and their values are not repeated', () => {
  const secrets = [{ domain: 'a.example', name: 'TOKEN', value: 'hunter2' }]
  const shell = { type: 'shell', environment: { network_policy: { domain_secrets: secrets } } }
  assert.throws(
    () => refuseSecrets({ tools: [{ type: 'shell' }, shell] }),
    (error) => error instanceof Fault && error.param === 'tools[1]' && !error.message.includes('hunter2'),
  )
})

test('a function may describe a parameter of that name', () => {
  refuseSecrets({ tools: [{ type: 'function', name: 'f', parameters: { properties: { domain_secrets: {} } } }] })
  refuseSecrets({})
})
