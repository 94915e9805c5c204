import type { FaultCode } from '@switchyard/contracts/errors.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Bucket, Metric } from './buckets.ts'
import { rateHeaders } from './rate-headers.ts'
import type { Verdict } from './verdict.ts'

const words: Record<Exclude<Metric, 'spend'>, { code: FaultCode; says: string }> = {
  RPM: { code: 'rate_limit_exceeded', says: 'requests per min (RPM)' },
  RPD: { code: 'rate_limit_exceeded', says: 'requests per day (RPD)' },
  TPM: { code: 'token_rate_limit_exceeded', says: 'tokens per min (TPM)' },
  TPD: { code: 'token_rate_limit_exceeded', says: 'tokens per day (TPD)' },
  IPM: { code: 'image_rate_limit_exceeded', says: 'images per min (IPM)' },
  files: { code: 'rate_limit_exceeded', says: 'attached files per min' },
  audio: { code: 'audio_rate_limit_exceeded', says: 'audio minutes per min' },
}

export interface Refused {
  readonly orgId: string
  readonly projectId: string
  /** Model or limit group, as the request named it. */
  readonly name: string
}

/** The 429 of a refused request: which limit bound, how far it was used, and when to come back. */
export function refusal(verdict: Verdict, { orgId, projectId, name }: Refused): Fault {
  const { binding } = verdict
  if (binding === null) throw new Error('a refusal has a limit that bound')
  const headers = rateHeaders(verdict)
  const where = binding.level === 'organization' ? `organization ${orgId}` : `project ${projectId}`
  if (binding.metric === 'spend') return spentOut(binding, where, headers)
  const { code, says } = words[binding.metric]
  const used = Math.ceil((verdict.before[verdict.buckets.indexOf(binding)] ?? 0) - 1e-6)
  const figures = `Limit ${binding.limit}, Used ${Math.min(used, binding.limit)}, Requested ${binding.cost}.`
  const retryAfterMs = verdict.retryAfterMs
  if (retryAfterMs === null) {
    const message = `Request too large for ${name} in ${where} on ${says}: ${figures} The limit is smaller than this one request: ${binding.metric === 'files' ? 'send fewer files at once' : 'shorten it or ask for fewer tokens'}.`
    return new Fault('request_above_limit', message, { headers })
  }
  const message = `Rate limit reached for ${name} in ${where} on ${says}: ${figures} Please try again in ${(retryAfterMs / 1_000).toFixed(3)}s.`
  return new Fault(code, message, { headers, retryAfterMs })
}

const usd = (nanos: number) => (nanos / 1e9).toFixed(2)

function spentOut({ limit, level }: Bucket, where: string, headers: Record<string, string>): Fault {
  const whose = level === 'project' ? 'monthly spend limit of the project' : 'monthly usage limit'
  return new Fault(
    'insufficient_quota',
    `The ${whose} of ${usd(limit)} USD is reached in ${where}. Waiting for a moment does not help: see GET /v1/organization/usage_tier, raise the limit, or wait for the next month.`,
    { headers },
  )
}
