import type { ChatCompletionRequest, Fixture } from '@copilotkit/aimock'

const asked = /\brun\b[^`]*`[^`]+`/i
const quoted = /`([^`]+)`/g
const artifact = /\/mnt\/data\/[\w./-]*\w/g

/** ``Run `date`.`` calls the shell with what stands between backticks. A fixture file cannot quote what it was asked. */
export const runCommands: Fixture[] = [
  { match: { userMessage: asked, hasToolResult: true }, response: (request) => ({ content: sayDone(request) }) },
  {
    match: { userMessage: asked, toolName: 'shell' },
    response: (request) => ({
      toolCalls: [{ name: 'shell', arguments: JSON.stringify({ commands: commandsOf(request) }) }],
    }),
  },
  { match: { userMessage: asked }, response: { content: 'Declare the shell tool, and I will run it.' } },
]

function commandsOf(request: ChatCompletionRequest): string[] {
  return Array.from(lastQuestion(request).matchAll(quoted), ([, command = '']) => command)
}

/** Names the files that the commands name, by their full path: that is what becomes a citation. */
function sayDone(request: ChatCompletionRequest): string {
  const files = new Set(commandsOf(request).flatMap((command) => command.match(artifact) ?? []))
  return files.size === 0 ? 'I have run it.' : `I have run it. See ${[...files].join(' and ')}.`
}

function lastQuestion({ messages }: ChatCompletionRequest): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content
  if (typeof content === 'string') return content
  return (content ?? []).map(({ text }) => text ?? '').join('\n')
}
