import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'

/** The share of the memory that stays free, for peaks of what runs already. */
const reserve = 0.1

export interface MachineMemory extends Pick<NodeJS.Process, 'availableMemory' | 'constrainedMemory'> {
  /** Bytes of all memory. */
  readonly total: () => number
  /** Bytes of cached files in the cgroup, which the kernel gives up for other uses. */
  readonly cached: () => number
}

const machine: MachineMemory = {
  availableMemory: process.availableMemory.bind(process),
  constrainedMemory: process.constrainedMemory.bind(process),
  total: totalmem,
  cached: () => cachedFiles((file) => readFileSync(file, 'utf8')),
}

/**
 * How many instances of `each` bytes the memory has room for: that of the cgroup if there is a
 * limit, else that of the machine.
 */
export function roomFor(
  each: number,
  memory: MachineMemory = machine,
): { readonly room: number; readonly available: number; readonly limit: number } {
  const constrained = memory.constrainedMemory()
  // Without a limit, Node reports 0 or a number beyond all memory.
  const isLimited = constrained > 0 && constrained < 2 ** 50
  const limit = isLimited ? constrained : memory.total()
  // A cgroup counts what it has cached as used. After a while that is all of its limit.
  const available = Math.min(limit, memory.availableMemory() + (isLimited ? memory.cached() : 0))
  const free = available - limit * reserve
  return { room: Math.max(0, Math.floor(free / Math.max(1, each))), available, limit }
}

/**
 * Bytes of files that this process's cgroup, of either version, has cached and not used of late; 0
 * if that cannot be read. In a container the cgroup may be the root of what is mounted.
 */
export function cachedFiles(read: (file: string) => string): number {
  const textOf = (file: string): string => {
    try {
      return read(file)
    } catch {
      return ''
    }
  }
  const groups = textOf('/proc/self/cgroup')
  const folders = [
    { root: '/sys/fs/cgroup', path: /^0::(\/.*)$/m.exec(groups)?.[1] },
    { root: '/sys/fs/cgroup/memory', path: /^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(\/.*)$/m.exec(groups)?.[1] },
  ]
  for (const { root, path = '/' } of folders)
    for (const folder of [join(root, path), root]) {
      const bytes = /^(?:total_)?inactive_file (\d+)$/m.exec(totalsFirst(textOf(join(folder, 'memory.stat'))))?.[1]
      if (bytes !== undefined) return Number(bytes)
    }
  return 0
}

/** Version 1 has the figures of the cgroup alone before those with its children. */
function totalsFirst(text: string): string {
  return text.includes('total_inactive_file') ? text.slice(text.indexOf('total_')) : text
}
