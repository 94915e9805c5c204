import { SettingsRefused } from '#platform/config/load.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Wired } from '../wiring.ts'
import { apiParts } from './api.ts'
import { sandboxParts } from './sandbox.ts'
import { sharedParts } from './shared.ts'
import { workerParts } from './worker.ts'

/** What each role starts. Code never asks which role it runs in; this table decides. */
const roles = {
  api: apiParts,
  worker: workerParts,
  sandbox: sandboxParts,
} as const satisfies Record<string, (wired: Wired) => Part[]>

export type Role = keyof typeof roles
export const roleNames = Object.keys(roles) as Role[]

/** `all`, or some of the names. */
export function readRoles(given: readonly string[]): Role[] {
  if (given.includes('all')) return [...roleNames]
  const unknown = given.find((name) => !roleNames.includes(name as Role))
  if (unknown !== undefined || given.length === 0) {
    throw new SettingsRefused([
      `SWITCHYARD_ROLES: ${unknown ?? 'nothing'} is not a role; take all, or some of ${roleNames.join(', ')}.`,
    ])
  }
  return roleNames.filter((name) => given.includes(name))
}

/** The parts of a process, in start order: what everything stands on first, listeners last. */
export function partsOf(chosen: readonly Role[], wired: Wired): Part[] {
  const parts = [...sharedParts(wired)]
  // The api last: by the time it takes a request, there is someone to carry it out.
  for (const role of ['sandbox', 'worker', 'api'] as const) {
    if (chosen.includes(role)) parts.push(...roles[role](wired))
  }
  return parts
}
