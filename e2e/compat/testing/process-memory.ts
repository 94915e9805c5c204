import { readFileSync, writeFileSync } from 'node:fs'

const SAMPLE_EVERY_MS = 50
const KB = 1024

export interface MemoryWatch {
  readonly startBytes: number
  /** The most that the process held while it was watched. */
  stop(): { peakBytes: number; growthBytes: number }
}

function readKb(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN)
}

/** Watches the resident memory of a process: sampled, and by the kernel's own high-water mark where that can be reset. */
export function watchMemory(pid: number): MemoryWatch {
  const markIsReset = resetHighWater(pid)
  const startBytes = readKb(pid, 'VmRSS') * KB
  let peakBytes = startBytes
  const sample = () => {
    peakBytes = Math.max(peakBytes, readKb(pid, markIsReset ? 'VmHWM' : 'VmRSS') * KB)
  }
  const timer = setInterval(sample, SAMPLE_EVERY_MS)
  return {
    startBytes,
    stop() {
      clearInterval(timer)
      sample()
      return { peakBytes, growthBytes: peakBytes - startBytes }
    },
  }
}

// proc(5): writing 5 sets the high-water mark back to what is resident now.
function resetHighWater(pid: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
    return readKb(pid, 'VmHWM') - readKb(pid, 'VmRSS') < KB
  } catch {
    return false
  }
}
