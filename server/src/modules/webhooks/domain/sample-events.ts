import type { WebhookEventType } from '@switchyard/contracts/webhook-events.ts'

const sampleIds = {
  response: 'resp_sample000000000000000000000',
  batch: 'batch_sample00000000000000000000',
  'eval.run': 'evalrun_sample000000000000000000',
  'fine_tuning.job': 'ftjob-sample0000000000000000000',
} as const

const call = {
  call_id: 'rtc_sample000000000000000000000',
  sip_headers: [
    { name: 'From', value: 'sip:+15550100@sip.example.com' },
    { name: 'To', value: 'sip:+15550199@sip.example.com' },
    { name: 'Call-ID', value: 'sample-call-id@sip.example.com' },
  ],
}

const usageTier = { id: 'org-sample00000000000000000000', previous_tier: 'free', tier: 'tier_1' }

/** Data as a real event of the type has it, with ids that name nothing. */
export function sampleData(type: WebhookEventType, endpointId: string): Record<string, unknown> {
  if (type === 'realtime.call.incoming') return call
  if (type === 'webhook_endpoint.disabled') return { id: endpointId, reason: 'This is a sample.' }
  if (type === 'organization.usage_tier.updated') return usageTier
  const kind = type.slice(0, type.lastIndexOf('.')) as keyof typeof sampleIds
  return { id: sampleIds[kind] }
}
