import type { MemoryLimit } from '@switchyard/contracts/containers.ts'

const gib = 1024 ** 3
const diskPerMemory = 10
const diskBytesMin = 10 * gib

const memory: Readonly<Record<MemoryLimit, number>> = { '1g': gib, '4g': 4 * gib, '16g': 16 * gib, '64g': 64 * gib }

export const memoryBytesOf = (limit: MemoryLimit): number => memory[limit]

/** What fits under /mnt/data. */
export const diskBytesOf = (memoryBytes: number): number => Math.max(diskBytesMin, diskPerMemory * memoryBytes)
