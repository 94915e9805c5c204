import type { SkillEntry } from '@switchyard/contracts/containers.ts'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { BlobMissing, type Blobs } from '#platform/blobs/blobs.ts'
import type { Database } from '#platform/db/db.ts'
import { dueSweep } from '#platform/db/due-sweep.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { createSkillVersionRoute } from './routes/skills/create-skill-version.ts'
import { createSkillRoute } from './routes/skills/create-skill.ts'
import { deleteSkillVersionRoute } from './routes/skills/delete-skill-version.ts'
import { deleteSkillRoute } from './routes/skills/delete-skill.ts'
import { listSkillVersionsRoute } from './routes/skills/list-skill-versions.ts'
import { listSkillsRoute } from './routes/skills/list-skills.ts'
import { retrieveSkillContentRoute, retrieveSkillVersionContentRoute } from './routes/skills/retrieve-skill-content.ts'
import { retrieveSkillVersionRoute } from './routes/skills/retrieve-skill-version.ts'
import { retrieveSkillRoute } from './routes/skills/retrieve-skill.ts'
import { updateSkillRoute } from './routes/skills/update-skill.ts'
import { createPacking } from './steps/pack-skill.ts'
import { pinSkills, type PinnedSkill } from './steps/pin-skills.ts'
import { receiveSkill } from './steps/receive-skill.ts'
import { sweepSkillOrphans, sweepSkills } from './steps/sweep-skills.ts'
import type { SkillTables } from './store/skill-tables.ts'

export interface SkillsUses {
  readonly db: Database
  readonly blobs: Blobs
  readonly log: Log
}

export interface Skills {
  readonly routes: Route[]
  /** Run by the role worker. */
  readonly sweeps: Part[]
  /** Resolves and checks the `skills` of a request, which stand at `param` in it. */
  pin(projectId: ProjectId, entries: readonly SkillEntry[], param: string): Promise<PinnedSkill[]>
  /** The zip of a pinned skill, for `unpackSkill`. Null when the version was deleted since. */
  open(pinned: PinnedSkill): Promise<Buffer | null>
}

const sweepMs = 5_000
const orphanSweepMs = 3_600_000

export function createSkills({ db: database, blobs, log }: SkillsUses): Skills {
  const db = database.as<SkillTables>()
  const packing = createPacking()
  const use = { db, blobs, packing, receiver: receiveSkill() }
  const platform = database.as<PlatformTables>()
  return {
    routes: [
      createSkillRoute(use),
      listSkillsRoute(use),
      retrieveSkillRoute(use),
      updateSkillRoute(use),
      deleteSkillRoute(use),
      retrieveSkillContentRoute(use),
      createSkillVersionRoute(use),
      listSkillVersionsRoute(use),
      retrieveSkillVersionRoute(use),
      deleteSkillVersionRoute(use),
      retrieveSkillVersionContentRoute(use),
    ],
    sweeps: [
      dueSweep({
        name: 'containers.skills',
        everyMs: sweepMs,
        leaseMs: 2 * sweepMs,
        db: platform,
        log,
        run: ({ signal }) => sweepSkills(use, signal),
      }),
      dueSweep({
        name: 'containers.skill-orphans',
        everyMs: orphanSweepMs,
        leaseMs: 2 * orphanSweepMs,
        db: platform,
        log,
        roundsMax: 1,
        run: async ({ signal }) => sweepSkillOrphans(use, await database.now(), signal),
      }),
    ],
    pin: (projectId, entries, param) => pinSkills(use, projectId, entries, param),
    open: async (pinned) => (pinned.type === 'inline' ? pinned.inline : await readZip(blobs, pinned.blobKey)),
  }
}

async function readZip(blobs: Blobs, blob: string): Promise<Buffer | null> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of await blobs.read(blob)) chunks.push(chunk as Buffer)
  } catch (error) {
    if (error instanceof BlobMissing) return null
    throw error
  }
  return Buffer.concat(chunks)
}
