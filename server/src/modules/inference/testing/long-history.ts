import type { StoredItem } from '@switchyard/contracts/responses/items.ts'

/** A conversation with an item of every kind. */
export const longHistory: readonly StoredItem[] = [
  {
    type: 'message',
    id: 'msg_0',
    role: 'developer',
    status: 'completed',
    content: [{ type: 'input_text', text: 'Be brief.' }],
  },
  {
    type: 'message',
    id: 'msg_1',
    role: 'user',
    status: 'completed',
    content: [
      { type: 'input_text', text: 'Look.' },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'low' },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,BBBB' },
    ],
  },
  { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Thinking.' }] },
  {
    type: 'message',
    id: 'msg_2',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'I will see.', annotations: [] }],
  },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
  { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'count', input: '42' },
  { type: 'shell_call', id: 'sh_1', call_id: 'call_3', status: 'completed', action: { commands: ['ls'] } },
  {
    type: 'local_shell_call',
    id: 'lsh_1',
    call_id: 'call_4',
    status: 'completed',
    action: { type: 'exec', command: ['pwd'], env: {} },
  },
  {
    type: 'apply_patch_call',
    id: 'apc_1',
    call_id: 'call_5',
    status: 'completed',
    operation: { type: 'delete_file', path: 'a' },
  },
  {
    type: 'function_call_output',
    id: 'fco_1',
    call_id: 'call_1',
    output: [
      { type: 'input_text', text: 'Rain.' },
      { type: 'input_image', image_url: 'https://example.com/rain.png' },
    ],
  },
  { type: 'custom_tool_call_output', id: 'cto_1', call_id: 'call_2', output: 'counted' },
  {
    type: 'shell_call_output',
    id: 'sho_1',
    call_id: 'call_3',
    output: [{ stdout: 'a\n', stderr: '', outcome: { type: 'exit', exit_code: 0 }, created_by: 'us' }],
  },
  { type: 'local_shell_call_output', id: 'lsh_1', output: '/home' },
  { type: 'apply_patch_call_output', id: 'apo_1', call_id: 'call_5', status: 'failed', output: 'no such file' },
  {
    type: 'message',
    id: 'msg_3',
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text: 'Go on.' }],
  },
]
