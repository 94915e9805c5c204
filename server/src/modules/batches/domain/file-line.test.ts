import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fileLine } from './file-line.ts'

test('every line is one JSON object on one line, whatever the name and the body hold', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (customId, body) => {
      const ended = { id: 'batch_req_1', custom_id: customId, status_code: 200, request_id: 'req_1' }
      const line = fileLine({ ...ended, body: JSON.stringify(body) }, () => 'unused')
      assert.equal(line.indexOf('\n'), line.length - 1)
      assert.deepEqual(JSON.parse(line), {
        id: 'batch_req_1',
        custom_id: customId,
        response: { status_code: 200, request_id: 'req_1', body: JSON.parse(JSON.stringify(body)) as unknown },
        error: null,
      })
    }),
  )
})

test('a line that was not done says why', () => {
  const unfinished = { custom_id: 'b', id: null, status_code: null, request_id: null, body: null }
  const line = JSON.parse(fileLine(unfinished, () => 'batch_req_2')) as Record<string, unknown>
  const { error, ...rest } = line
  assert.deepEqual(rest, { id: 'batch_req_2', custom_id: 'b', response: null })
  assert.equal((error as { code: string }).code, 'batch_expired')
})
