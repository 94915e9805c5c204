import type { OpenAI } from 'openai'
import { toFile } from 'openai'
import { sleep } from '#platform/std/clock.ts'
import { writeArchive } from '../../server/src/modules/containers/archive/write-archive.ts'
import { untilDone } from '../responses/background-works.ts'
import type { SandboxFleet } from './sandbox-fleet.ts'

export interface Expiring {
  readonly id: string
  readonly fileId: string
  /** Whether it is used all the time, and so lives on. */
  readonly kept: boolean
}

const requestMs = 60_000
const readEveryMs = 20_000
/** Short: an answer that is lost with the process that had it must not cost the container its minute. */
const readMs = 5_000

/** Writes every change of state down with its time, so that lateness is PostgreSQL's own word. */
export async function watchExpiry(fleet: SandboxFleet): Promise<void> {
  await fleet.db.query(`
    create table if not exists public.container_end (id text, due timestamptz, at timestamptz, status text);
    create or replace function public.note_container_end() returns trigger language plpgsql as
      $$ begin insert into public.container_end values (new.id, old.expires_at, clock_timestamp(), new.status);
         return new; end $$;
    create or replace trigger note_container_end after update of status on containers.container
      for each row when (new.status is distinct from old.status) execute function public.note_container_end()`)
}

/** The file that every container gets a copy of. */
export async function uploadShared(fleet: SandboxFleet, canary: string): Promise<string> {
  const file = await toFile(Buffer.from(`shared ${canary}\n`), 'shared.txt')
  const { id } = await untilDone(() => fleet.client().files.create({ file, purpose: 'user_data' }))
  return id
}

/** One with a minute to live, with a copied file, a skill that came along and an uploaded file, each marked. */
export async function createExpiring(
  fleet: SandboxFleet,
  given: { readonly canary: string; readonly sharedFileId: string; readonly kept: boolean },
): Promise<Expiring> {
  const client = fleet.client()
  const { id } = await untilDone(async () =>
    client.containers.create(
      {
        name: 'expiring',
        expires_after: { anchor: 'last_active_at', minutes: 1 },
        file_ids: [given.sharedFileId],
        skills: [await inlineSkill(given.canary)],
      },
      { timeout: requestMs },
    ),
  )
  const { id: fileId } = await untilDone(async () =>
    client.containers.files.create(
      id,
      { file: await toFile(Buffer.from(`upload ${given.canary}\n`), 'upload.txt') },
      { timeout: requestMs },
    ),
  )
  return { id, fileId, kept: given.kept }
}

/** Content of a zip is compressed, names are not: the mark is in both. */
async function inlineSkill(canary: string): Promise<OpenAI.Responses.InlineSkill> {
  const text = `---\nname: marked\ndescription: Marked.\n---\n\n${canary}\n`
  const zip = await writeArchive([
    { path: 'SKILL.md', bytes: Buffer.from(text), executable: false },
    { path: `${canary}.txt`, bytes: Buffer.from(canary), executable: false },
  ])
  return {
    type: 'inline',
    name: 'marked',
    description: 'Marked.',
    source: { type: 'base64', media_type: 'application/zip', data: zip.toString('base64') },
  }
}

export interface Kept {
  readonly reads: number
  /** The longest time from one read that was answered to the next. */
  readonly gapMs: number
}

/** Reads its file every twenty seconds until told to stop; one that is not answered is asked again at once. */
export async function keepActive(fleet: SandboxFleet, { id, fileId }: Expiring, signal: AbortSignal): Promise<Kept> {
  const client = fleet.client(0)
  let last = performance.now()
  let gapMs = 0
  for (let reads = 0; ; reads += 1) {
    await sleep(readEveryMs, signal).catch(() => undefined)
    if (signal.aborted) return { reads, gapMs }
    await untilDone(async () => {
      const options = { timeout: readMs }
      const reply = await client.containers.files.content.retrieve(fileId, { container_id: id }, options)
      await reply.arrayBuffer()
    }).catch(() => undefined)
    gapMs = Math.max(gapMs, performance.now() - last)
    last = performance.now()
  }
}
