import type { Tool } from '@switchyard/contracts/responses/tools.ts'
import { functionFor, type WireFunction } from './tool-functions.ts'
import type { ToolRef } from './turn.ts'

type Kind = 'shell' | 'apply_patch' | 'local_shell'

/**
 * The tools of a turn under the names that the provider is told. A function of the caller's may be called `shell`; then
 * our shell gets the next free name, and the model's calls find back to the tool that was declared.
 */
export class DeclaredTools {
  readonly functions: WireFunction[] = []
  readonly #refs = new Map<string, ToolRef>()
  readonly #names = new Map<Kind, string>()

  constructor(tools: readonly Tool[]) {
    for (const tool of tools) {
      if ('name' in tool) this.#refs.set(tool.name, { type: tool.type, name: tool.name })
    }
    for (const tool of tools) {
      if ('name' in tool) this.functions.push(functionFor(tool, tool.name))
      else this.functions.push(functionFor(tool, this.kindName(tool.type)))
    }
  }

  /** Also for kinds that are not declared: calls of an earlier turn are still told to the provider. */
  kindName(kind: Kind): string {
    const known = this.#names.get(kind)
    if (known !== undefined) return known
    let name: string = kind
    for (let at = 2; this.#refs.has(name); at += 1) name = `${kind}_${at}`
    this.#names.set(kind, name)
    this.#refs.set(name, { type: kind })
    return name
  }

  nameOf(tool: ToolRef): string {
    return tool.type === 'function' || tool.type === 'custom' ? tool.name : this.kindName(tool.type)
  }

  /** A name that was never declared is a function's: the caller tells the model that there is no such one. */
  refOf(name: string): ToolRef {
    return this.#refs.get(name) ?? { type: 'function', name }
  }
}
