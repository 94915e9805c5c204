import { createOrgs } from '#modules/orgs/index.ts'
import { openDatabase } from '#platform/db/db.ts'
import { createLog } from '#platform/telemetry/log.ts'

/** An upload all of whose bytes are there: what it takes to meet a completion that succeeds. */
export interface ReadyUpload {
  readonly uploadId: string
  readonly partIds: readonly string[]
}

const readyMax = 8
const part = 'twelve bytes'

async function post(url: string, key: string, body: FormData | string): Promise<{ id: string }> {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` }
  if (typeof body === 'string') headers['content-type'] = 'application/json'
  const reply = await fetch(url, { method: 'POST', headers, body })
  if (!reply.ok) throw new Error(`POST ${url}: ${reply.status} ${await reply.text()}`)
  return (await reply.json()) as { id: string }
}

/** Keeps some uploads ready; the oldest is forgotten for the newest. */
export class ReadyUploads {
  readonly #baseUrl: string
  readonly #key: string
  #ready: readonly ReadyUpload[] = []

  constructor(baseUrl: string, key: string) {
    this.#baseUrl = baseUrl
    this.#key = key
  }

  get all(): readonly ReadyUpload[] {
    return this.#ready
  }

  async add(): Promise<void> {
    const announced = { bytes: part.length, filename: 'f', mime_type: 'text/plain', purpose: 'user_data' }
    const { id } = await post(`${this.#baseUrl}/v1/uploads`, this.#key, JSON.stringify(announced))
    const form = new FormData()
    form.append('data', new Blob([part]), 'f')
    const made = await post(`${this.#baseUrl}/v1/uploads/${id}/parts`, this.#key, form)
    this.#ready = [...this.#ready, { uploadId: id, partIds: [made.id] }].slice(-readyMax)
  }
}

const membersCount = 30

/** People in the organisation and its project, who no operation can bring in. */
export async function addMembers(use: {
  postgresUrl: string
  baseUrl: string
  adminKey: string
  projectId: string
}): Promise<void> {
  const db = openDatabase({
    url: use.postgresUrl,
    connectionsMax: 1,
    statementTimeoutMs: 15_000,
    applicationName: 'switchyard fuzz',
    onIdleError: () => undefined,
  })
  try {
    const orgs = createOrgs({ db, log: createLog({ level: 'warn', pretty: true, name: 'fuzz' }), cellTag: 'c0' })
    for (let at = 0; at < membersCount; at += 1) {
      const email = `member-${at}@example.com`
      const role = at % 3 === 0 ? 'owner' : 'reader'
      const invite = { email, role, projects: [{ id: use.projectId, role: 'member' }] }
      const { id } = await post(`${use.baseUrl}/v1/organization/invites`, use.adminKey, JSON.stringify(invite))
      await orgs.acceptInvite({ inviteId: id as never, email, name: `Member ${at}` })
    }
  } finally {
    await db.close()
  }
}
