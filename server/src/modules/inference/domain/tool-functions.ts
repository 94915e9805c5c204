import type { CustomTool, ShellTool, Tool } from '@switchyard/contracts/responses/tools.ts'

/** A tool as providers know them. */
export interface WireFunction {
  readonly name: string
  readonly description: string | null
  readonly parameters: Readonly<Record<string, unknown>>
  readonly strict: boolean | null
}

const object = (properties: Record<string, unknown>, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const texts = { type: 'array', items: { type: 'string' } }

const shellParameters = object(
  {
    commands: { ...texts, description: 'Shell commands. Each is run, in order, also after one that failed.' },
    timeout_ms: { type: ['integer', 'null'], description: 'Longest time for one command, in milliseconds.' },
    max_output_length: { type: ['integer', 'null'], description: 'Most characters of output to bring back.' },
  },
  ['commands'],
)

const patchParameters = object(
  {
    operation: object(
      {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: { type: 'string' },
        diff: { type: 'string', description: 'A V4A diff; not for delete_file.' },
      },
      ['type', 'path'],
    ),
  },
  ['operation'],
)

const localShellParameters = object(
  {
    command: { ...texts, description: 'The program and its arguments.' },
    env: { type: 'object', additionalProperties: { type: 'string' } },
    timeout_ms: { type: ['integer', 'null'] },
    user: { type: ['string', 'null'] },
    working_directory: { type: ['string', 'null'] },
  },
  ['command'],
)

const inputParameters = object({ input: { type: 'string' } }, ['input'])
const noParameters = { type: 'object', properties: {} }

/** The function that stands for a tool. */
export function functionFor(tool: Tool, name: string): WireFunction {
  switch (tool.type) {
    case 'function':
      return {
        name,
        description: tool.description ?? null,
        parameters: tool.parameters ?? noParameters,
        strict: tool.strict ?? null,
      }
    case 'custom':
      return { name, description: customDescription(tool), parameters: inputParameters, strict: null }
    case 'shell':
      return { name, description: shellDescription(tool), parameters: shellParameters, strict: null }
    case 'apply_patch':
      return {
        name,
        description: 'Creates, updates or deletes one file. Diffs are in the V4A format.',
        parameters: patchParameters,
        strict: null,
      }
    case 'local_shell':
      return {
        name,
        description: "Runs one program on the user's machine and brings back its output.",
        parameters: localShellParameters,
        strict: null,
      }
  }
}

function customDescription({ description, format }: CustomTool): string {
  const said = description ?? 'Takes free text as its input.'
  if (format?.type !== 'grammar') return said
  return `${said}\n\nThe input must match this ${format.syntax} grammar:\n${format.definition}`
}

/** What the model must know of its shell: where skills lie, and how to speak of a secret without knowing it. */
function shellDescription({ environment }: ShellTool): string {
  const lines = ['Runs shell commands and brings back what each wrote and how it ended.']
  if (environment?.type === 'local') {
    const skills = environment.skills ?? []
    if (skills.length > 0) lines.push('Skills, each a folder of instructions to read before use:')
    for (const { name, description, path } of skills) lines.push(`- ${name} (${path}): ${description}`)
  }
  if (environment?.type === 'container_auto' && environment.network_policy?.type === 'allowlist') {
    const { allowed_domains: domains, domain_secrets: secrets = [] } = environment.network_policy
    lines.push(`The network is closed except for: ${domains.join(', ')}.`)
    for (const { domain, name } of secrets) {
      lines.push(`For ${domain}, write $${name} where the secret belongs; it is put in on the way.`)
    }
  }
  return lines.join('\n')
}
