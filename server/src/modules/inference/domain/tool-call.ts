import { ProviderFault } from './provider-fault.ts'
import type { PatchOperation, ToolCall, ToolRef } from './turn.ts'

type Fields = Record<string, unknown>

/** The call that a model's arguments ask for. */
export function toolCallOf(tool: ToolRef, text: string): ToolCall {
  switch (tool.type) {
    case 'function':
      return { type: 'function', name: tool.name, arguments: text }
    case 'custom':
      return { type: 'custom', name: tool.name, input: inputOf(text) }
    case 'shell':
      return shellCallOf(fieldsOf(tool.type, text))
    case 'apply_patch':
      return { type: 'apply_patch', operation: operationOf(fieldsOf(tool.type, text)) }
    case 'local_shell':
      return localShellCallOf(fieldsOf(tool.type, text))
  }
}

/** A model that ignores the form and just writes is taken at its word. */
function inputOf(text: string): string {
  try {
    const { input } = JSON.parse(text) as { input?: unknown }
    return typeof input === 'string' ? input : text
  } catch {
    return text
  }
}

function refuse(tool: string, what: string): never {
  throw new ProviderFault('malformed', `The model called ${tool} with arguments that cannot be used: ${what}.`)
}

function fieldsOf(tool: string, text: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return refuse(tool, 'they are not JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(tool, 'they are no object')
  return value as Fields
}

const isText = (value: unknown): value is string => typeof value === 'string'

function textsOf(tool: string, fields: Fields, name: string): string[] {
  const value = fields[name]
  if (Array.isArray(value) && value.length > 0 && value.every(isText)) return value
  return refuse(tool, `${name} must be a list of texts`)
}

function countOf(tool: string, fields: Fields, name: string): number | null {
  const value = fields[name] ?? null
  if (value === null || (Number.isSafeInteger(value) && (value as number) >= 0)) return value as number | null
  return refuse(tool, `${name} must be a whole number`)
}

function textOf(tool: string, fields: Fields, name: string): string | null {
  const value = fields[name] ?? null
  return value === null || isText(value) ? value : refuse(tool, `${name} must be text`)
}

function shellCallOf(fields: Fields): ToolCall {
  return {
    type: 'shell',
    commands: textsOf('shell', fields, 'commands'),
    timeoutMs: countOf('shell', fields, 'timeout_ms'),
    maxOutputLength: countOf('shell', fields, 'max_output_length'),
  }
}

function localShellCallOf(fields: Fields): ToolCall {
  const env = (fields['env'] ?? {}) as Record<string, string>
  if (typeof env !== 'object' || Array.isArray(env) || !Object.values(env).every(isText)) {
    return refuse('local_shell', 'env must be an object of texts')
  }
  return {
    type: 'local_shell',
    command: textsOf('local_shell', fields, 'command'),
    env,
    timeoutMs: countOf('local_shell', fields, 'timeout_ms'),
    user: textOf('local_shell', fields, 'user'),
    workingDirectory: textOf('local_shell', fields, 'working_directory'),
  }
}

function operationOf(fields: Fields): PatchOperation {
  const operation = (fields['operation'] ?? {}) as Fields
  const { type, path, diff } = operation
  if (!isText(path) || path === '') return refuse('apply_patch', 'operation.path must be text')
  if (type === 'delete_file') return { type, path }
  if (type !== 'create_file' && type !== 'update_file') return refuse('apply_patch', 'operation.type is not known')
  if (!isText(diff)) return refuse('apply_patch', 'operation.diff must be text')
  return { type, path, diff }
}
