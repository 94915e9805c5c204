import { roleNames } from '../server/src/roles/roles.ts'

const nodesMax = 8

/** `--nodes api=2,worker=2` and `--split` as counts per role; one process with all roles when neither is given. */
export function readNodes(text: string | undefined, split: boolean): Record<string, number> {
  if (text === undefined) return split ? Object.fromEntries(roleNames.map((role) => [role, 1])) : { all: 1 }
  const nodes: Record<string, number> = Object.fromEntries(roleNames.map((role) => [role, 1]))
  for (const part of text.split(',')) {
    const [, role = '', count = ''] = /^([a-z]+)=(\d+)$/.exec(part.trim()) ?? []
    if (!(role in nodes) || Number(count) < 1 || Number(count) > nodesMax) {
      throw new Error(`--nodes ${part}: write role=count with a role of ${roleNames.join(', ')} and 1 to ${nodesMax}.`)
    }
    nodes[role] = Number(count)
  }
  return nodes
}
