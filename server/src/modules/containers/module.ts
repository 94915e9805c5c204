import type { Files } from '#modules/files/index.ts'
import type { Orgs } from '#modules/orgs/index.ts'
import type { Blobs } from '#platform/blobs/blobs.ts'
import type { Database } from '#platform/db/db.ts'
import { dueSweep } from '#platform/db/due-sweep.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Mesh } from '#platform/mesh/mesh.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { sandboxHost, type HostSettings } from './host/host.ts'
import {
  createContainerFileRoute,
  deleteContainerFileRoute,
  listContainerFilesRoute,
  retrieveContainerFileContentRoute,
  retrieveContainerFileRoute,
} from './routes/container-files.ts'
import {
  createContainerRoute,
  deleteContainerRoute,
  listContainersRoute,
  listEgressReceiptsRoute,
  retrieveContainerRoute,
} from './routes/containers.ts'
import { createJobs, type ContainerJobs } from './jobs.ts'
import { createShell, type ContainerShell } from './shell.ts'
import { createSkills } from './skills.ts'
import { sweepContainers, sweepInlineOrphans, type SweepUses } from './steps/sweep-containers.ts'
import type { ContainersTables } from './store/tables.ts'

export interface ContainersUses {
  readonly db: Database
  readonly blobs: Blobs
  readonly files: Files
  readonly orgs: Orgs
  readonly mesh: Mesh
  readonly meshKeys: readonly Buffer[]
  readonly log: Log
  readonly activeMax: number
  readonly sweepMs: number
  readonly host: HostSettings
}

export interface Containers {
  readonly routes: Route[]
  /** The hosted shell. */
  readonly shell: ContainerShell
  /** Private containers for work of the product itself. */
  readonly jobs: ContainerJobs
  /** Run by the role worker. `inUse` says which containers a response that has not ended refers to. */
  sweeps(inUse: SweepUses['inUse']): Part[]
  /** Run by the role sandbox. */
  host(): Part[]
}

const sweepLeaseMs = 5_000
const orphanSweepMs = 3_600_000

export function createContainers(uses: ContainersUses): Containers {
  const { db: database, blobs, log } = uses
  const skills = createSkills({ db: database, blobs, log })
  const db = database.as<ContainersTables>()
  const use = { ...uses, db, skills }
  return {
    routes: [
      createContainerRoute(use),
      listContainersRoute(use),
      retrieveContainerRoute(use),
      deleteContainerRoute(use),
      createContainerFileRoute(use),
      listContainerFilesRoute(use),
      retrieveContainerFileRoute(use),
      retrieveContainerFileContentRoute(use),
      deleteContainerFileRoute(use),
      listEgressReceiptsRoute(use),
      ...skills.routes,
    ],
    shell: createShell(use),
    jobs: createJobs(use),
    sweeps(inUse) {
      const sweep = { db, blobs, inUse }
      const platform = database.as<PlatformTables>()
      return [
        ...skills.sweeps,
        dueSweep({
          name: 'containers.expiry',
          everyMs: uses.sweepMs,
          leaseMs: Math.max(sweepLeaseMs, 2 * uses.sweepMs),
          db: platform,
          log,
          run: () => sweepContainers(sweep),
        }),
        dueSweep({
          name: 'containers.orphans',
          everyMs: orphanSweepMs,
          leaseMs: 2 * orphanSweepMs,
          db: platform,
          log,
          roundsMax: 1,
          run: async ({ signal }) => sweepInlineOrphans(sweep, await database.now(), signal),
        }),
      ]
    },
    host: () => [sandboxHost({ ...use, settings: uses.host })],
  }
}
