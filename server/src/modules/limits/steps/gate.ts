import type { AtGate, Gate } from '#platform/http/gate.ts'
import type { Admissions } from '../admission/admissions.ts'
import type { Bucket } from '../domain/buckets.ts'
import { estimateRequest } from '../domain/estimate-request.ts'

/** Both ways to put files into one vector store, together. */
const ingestionPerMinute = 300
/** Files that one organisation may attach. */
const attachedPerMinute = 2_000
const minuteMs = 60_000

const ledgerNames: Readonly<Record<string, string>> = {
  'chat.completions.create': 'chat_completions',
  'completions.create': 'completions',
}

/** What the HTTP server asks before a limited operation looks at its input. */
export function createGate(admissions: Admissions): Gate {
  return async (at) => {
    const { operation, scope, requestId } = at
    if (operation.limited === undefined || scope.kind !== 'project_key') return null
    const { orgId, projectId, keyId } = scope
    const charged = { orgId, projectId, keyId, requestId }
    if (operation.limited === 'model') {
      const estimate = estimateRequest(at.body)
      return await admissions.admit({ charged, operation: ledgerNames[operation.id] ?? 'responses', estimate })
    }
    const name = `vector store ${storeOf(at)}`
    return await admissions.admitPlain(charged, operation.id, name, ingestionBuckets(at, projectId))
  }
}

const storeOf = ({ params }: AtGate) => (params as { vector_store_id?: string } | null)?.vector_store_id ?? ''

function ingestionBuckets(at: AtGate, projectId: string): Bucket[] {
  const store = encodeURIComponent(storeOf(at))
  const rule = { periodMs: minuteMs, metric: 'RPM' } as const
  return [
    { ...rule, field: `${projectId}:ingest:${store}`, level: 'project', limit: ingestionPerMinute, cost: 1 },
    {
      ...rule,
      field: 'attached-files',
      level: 'organization',
      metric: 'files',
      limit: attachedPerMinute,
      cost: filesIn(at.body),
    },
  ]
}

function filesIn(body: unknown): number {
  const { file_ids: ids, files } = (body ?? {}) as { file_ids?: unknown; files?: unknown }
  return Math.max(1, Array.isArray(ids) ? ids.length : 0, Array.isArray(files) ? files.length : 0)
}
