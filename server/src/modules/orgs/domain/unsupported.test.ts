import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '#platform/errors/fault.ts'
import { refuseResidency, refuseUnsupported } from './unsupported.ts'

const faultWith = (code: string, param: string) => (error: unknown) =>
  error instanceof Fault && error.code === code && error.param === param

test('a field that cannot be honoured is refused by name, and null says nothing', () => {
  refuseUnsupported({ external_key_id: null, role_id: undefined })
  assert.throws(() => refuseUnsupported({ external_key_id: 'k' }), faultWith('unsupported_value', 'external_key_id'))
})

test('only GLOBAL is a residency this server can keep its word about', () => {
  refuseResidency({ residency: 'GLOBAL' })
  refuseResidency({ residency: null, geography: 'GLOBAL' })
  assert.throws(() => refuseResidency({ residency: 'JP_STORAGE' }), faultWith('unsupported_value', 'residency'))
  assert.throws(() => refuseResidency({ geography: 'eu' }), faultWith('unsupported_value', 'geography'))
  assert.throws(
    () => refuseResidency({ residency: 'GLOBAL', geography: 'GLOBAL' }),
    faultWith('mutually_exclusive_parameters', 'geography'),
  )
})
