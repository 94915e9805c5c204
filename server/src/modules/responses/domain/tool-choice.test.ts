import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutputItem } from '@switchyard/contracts/responses/items.ts'
import type { CreateResponse } from '@switchyard/contracts/responses/request.ts'
import { testAsked } from '../testing/asked.ts'
import { noUsage, type LiveResponse } from './live-response.ts'
import { turnTools } from './tool-choice.ts'

const f = { type: 'function' as const, name: 'f' }
const g = { type: 'function' as const, name: 'g' }
const hosted = { type: 'shell' as const, environment: { type: 'container_auto' as const } }
const ran: OutputItem = { type: 'shell_call_output', id: 'sho_1', call_id: 'c', status: 'completed', output: [] }

const tools = (body: CreateResponse, output: OutputItem[] = []) => {
  const live: LiveResponse = {
    id: 'resp_1',
    projectId: 'proj_1',
    metering: null,
    asked: testAsked(body),
    context: [],
    output,
    usage: noUsage,
    nextOutputIndex: 0,
    turns: 0,
  }
  return turnTools(live)
}

test('a demand holds for the first turn only, or a hosted tool would run for ever', () => {
  const body = { tools: [hosted], tool_choice: 'required' as const }
  assert.deepEqual(tools(body).required, true)
  assert.deepEqual(tools(body, [ran]).choice, { mode: 'auto' })
})

test('one tool can be demanded by name', () => {
  const asked = tools({ tools: [f, g], tool_choice: g })
  assert.deepEqual([asked.choice, asked.required], [{ mode: 'tool', tool: g }, true])
})

test('allowed tools are the only ones that are offered', () => {
  const asked = tools({ tools: [f, g], tool_choice: { type: 'allowed_tools', mode: 'required', tools: [g] } })
  assert.deepEqual(asked.tools, [g])
  assert.deepEqual(asked.choice, { mode: 'required' })
})

test('hosted calls beyond max_tool_calls are not offered any more', () => {
  assert.equal(tools({ tools: [hosted, f], max_tool_calls: 1 }).tools.length, 2)
  assert.deepEqual(tools({ tools: [hosted, f], max_tool_calls: 1 }, [ran]).tools, [f])
})
