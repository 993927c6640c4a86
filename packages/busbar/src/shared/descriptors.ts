/**
 * How many descriptors this process has left. All of its threads share one table, and a process without a free entry can
 * neither accept, nor hand a connection over, nor open a file, nor start a worker. So connections take none of the last ones.
 */
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'

// Programs may put their own in the place of these.
const { openSync, closeSync } = fs

/** A file that may be read under Node's permission model, too. */
const probed = fileURLToPath(import.meta.url)

/** Starting a process takes 10 for a moment, starting a thread 5, and `busbar ps` 2. */
const leastReserve = 12
const mostReserve = 64

/** What @types/node does not know yet. */
interface Report {
  excludeNetwork: boolean
  getReport(): { readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } } }
}

/** Connections get no descriptor from this one on. */
let first = Infinity
let reserve = mostReserve

/** The soft limit of this process; Infinity where there is none. Before it has threads: a report stops each of them. */
export function descriptorLimit(): number {
  const report = process.report as unknown as Report | undefined
  if (process.platform === 'win32' || report === undefined) return Infinity
  // Without this Node would look up the names of all peers.
  const { excludeNetwork } = report
  report.excludeNetwork = true
  const { userLimits } = report.getReport()
  report.excludeNetwork = excludeNetwork
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Infinity
}

/** An eighth of the limit, within bounds. Connections take none of these. */
function reserveOf(limit: number): number {
  return Math.max(leastReserve, Math.min(mostReserve, Math.floor(limit / 8)))
}

/** In each thread, before it takes connections. */
export function reserveDescriptors(limit: number): void {
  reserve = reserveOf(limit)
  first = limit - reserve
}

/** How many connections take none of; of this thread. */
export function reservedDescriptors(): number {
  return reserve
}

/**
 * Whether another connection may be taken, or made. The system gives out the lowest free number, so the number of a file that is
 * opened now says that all below it are taken. Takes 1.5 µs.
 */
export function hasDescriptors(): boolean {
  return first === Infinity || lowestFree() < first
}

/** How many connections may be made that need a second descriptor each, later: half of what is left now. */
export function pairsOfDescriptors(): number {
  return first === Infinity ? Infinity : Math.max(0, Math.floor((first - lowestFree()) / 2))
}

function lowestFree(): number {
  try {
    const descriptor = openSync(probed, 'r')
    closeSync(descriptor)
    return descriptor
  } catch (error) {
    // Anything else says nothing of descriptors.
    return isExhaustion(error) ? Infinity : 0
  }
}

export function isExhaustion(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'EMFILE' || code === 'ENFILE'
}
