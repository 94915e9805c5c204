import type { Container } from '@switchyard/contracts/containers.ts'
import type { ContainerId } from '@switchyard/contracts/ids.ts'
import type { ContainerRow } from '../store/containers.ts'

const seconds = (date: Date) => Math.floor(date.getTime() / 1_000)

export function containerView(row: ContainerRow): Container {
  return {
    id: row.id as ContainerId,
    object: 'container',
    created_at: seconds(row.created_at),
    name: row.name,
    status: row.status === 'expired' ? 'expired' : 'active',
    expires_after: { anchor: 'last_active_at', minutes: row.expires_minutes },
    last_active_at: seconds(row.last_active_at),
    expires_at: seconds(row.expires_at),
    memory_limit: row.memory_limit,
    network_policy:
      row.allowed_domains === null
        ? { type: 'disabled' }
        : { type: 'allowlist', allowed_domains: [...row.allowed_domains] },
    skills: row.skills.map(({ type, skill_id, version, name }) => ({
      type,
      ...(skill_id === undefined ? {} : { skill_id }),
      ...(version === undefined ? {} : { version }),
      name,
    })),
    ...(row.status_reason === null ? {} : { status_reason: row.status_reason }),
  }
}
