import type { Blobs } from '#platform/blobs/blobs.ts'
import type { Database } from '#platform/db/db.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { createSkills } from './skills.ts'

export interface ContainersUses {
  readonly db: Database
  readonly blobs: Blobs
  readonly log: Log
}

export interface Containers {
  readonly routes: Route[]
  /** Run by the role worker. */
  readonly sweeps: Part[]
}

export function createContainers(use: ContainersUses): Containers {
  const skills = createSkills(use)
  return { routes: skills.routes, sweeps: skills.sweeps }
}
