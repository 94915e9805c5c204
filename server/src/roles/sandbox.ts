import type { Part } from '#platform/lifecycle/module.ts'
import type { Wired } from '../wiring.ts'

/** Containers of this machine. */
export function sandboxParts({ containers }: Wired): Part[] {
  return containers.host()
}
