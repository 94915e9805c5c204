import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import { Fault } from '#platform/errors/fault.ts'

/** Calls that wait for an answer from the client, and the answers to them. */
const answerTypes = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
  shell_call: 'shell_call_output',
  local_shell_call: 'local_shell_call_output',
  apply_patch_call: 'apply_patch_call_output',
} as const

const callNames: Record<keyof typeof answerTypes, string> = {
  function_call: 'function call',
  custom_tool_call: 'custom tool call',
  shell_call: 'shell call',
  local_shell_call: 'local shell call',
  apply_patch_call: 'apply_patch call',
}

type CallType = keyof typeof answerTypes
type CallItem = Extract<StoredItem, { type: CallType }>
type AnswerItem = Extract<StoredItem, { type: (typeof answerTypes)[CallType] }>

const callTypeOf = new Map<string, CallType>(
  Object.entries(answerTypes).map(([call, answer]) => [answer, call as CallType]),
)

const isCall = (item: StoredItem): item is CallItem => item.type in answerTypes
const isAnswer = (item: StoredItem): item is AnswerItem => callTypeOf.has(item.type)

/** A local shell's answer has no `call_id`: its id is the id of the call. Clients send either of the call's two. */
const answered = (item: AnswerItem) => (item.type === 'local_shell_call_output' ? item.id : item.call_id)
const namesOf = (item: CallItem) => (item.type === 'local_shell_call' ? [item.id, item.call_id] : [item.call_id])

/**
 * Every answer has its call, once; every call of the history has its answer. `history` came before this request,
 * `items` are what it brought. (contract 1.8)
 */
export function checkAnswers(history: readonly StoredItem[], items: readonly StoredItem[]): void {
  const open = new Map<string, CallItem>()
  const closed = new Set<string>()
  const take = (item: StoredItem) => {
    if (isCall(item)) for (const name of namesOf(item)) open.set(`${item.type} ${name}`, item)
    else if (isAnswer(item)) close(item)
  }
  const close = (item: AnswerItem) => {
    const type = callTypeOf.get(item.type)
    const name = `${type} ${answered(item)}`
    const call = open.get(name)
    if (call === undefined) {
      const twice = closed.has(name)
      throw new Fault(
        'invalid_value',
        twice
          ? `There are two outputs for the call ${answered(item)}.`
          : `No ${type === undefined ? 'call' : callNames[type]} found for the output with call id ${answered(item)}.`,
        { param: 'input' },
      )
    }
    for (const other of namesOf(call)) {
      open.delete(`${call.type} ${other}`)
      closed.add(`${call.type} ${other}`)
    }
  }
  for (const item of history) take(item)
  for (const item of items) take(item)
  for (const call of open.values()) {
    // One that was cut off was never made: nobody can answer it.
    if ('status' in call && call.status === 'incomplete') continue
    throw new Fault('invalid_value', `No tool output found for ${callNames[call.type]} ${namesOf(call).at(-1)}.`, {
      param: 'input',
    })
  }
}

/**
 * A local shell's answer that came under the id of its call gets the call's other name: two items of one history with one
 * id could not be told apart.
 */
export function nameAnswers(history: readonly StoredItem[], items: readonly StoredItem[]): StoredItem[] {
  const calls = [...history, ...items].filter((item) => item.type === 'local_shell_call')
  const callIds = new Map(calls.map((call) => [call.id, call.call_id]))
  return items.map((item) =>
    item.type === 'local_shell_call_output' ? { ...item, id: callIds.get(item.id) ?? item.id } : item,
  )
}

/** A local shell call is in progress until its answer has come; from then on its copy in the history is completed. */
export function settleCalls(items: readonly StoredItem[]): StoredItem[] {
  const settled = new Set(items.filter(isAnswer).map(answered))
  return items.map((item) =>
    isCall(item) && item.status === 'in_progress' && namesOf(item).some((name) => settled.has(name))
      ? { ...item, status: 'completed' }
      : item,
  )
}
