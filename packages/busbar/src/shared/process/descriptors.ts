/**
 * How many file descriptors this process has left. All of its threads share one table. A process
 * without a free entry can neither accept or transfer a connection, nor open a file, nor start a
 * worker, so connections do not get the last ones.
 */
import fs from 'node:fs'
import { fileURLToPath } from 'node:url'

// Saved before programs can replace them.
const { openSync, closeSync, readdirSync } = fs

/** A file that is readable under Node's permission model, too. */
const probed = fileURLToPath(import.meta.url)

/** Starting a process takes 10 for a moment, starting a thread 5, and `busbar ps` 2. */
const leastReserve = 12
const mostReserve = 64

/** Missing in @types/node. */
interface Report {
  excludeNetwork: boolean
  getReport(): { readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } } }
}

/** Connections get no descriptor from this number up. */
let first = Infinity
let reserve = mostReserve

/**
 * The soft limit of this process; Infinity if there is none. Call it before the process has
 * threads: a report stops each of them.
 */
export function descriptorLimit(): number {
  const report = process.report as unknown as Report | undefined
  if (process.platform === 'win32' || report === undefined) return Infinity
  // Otherwise Node resolves the names of all peers.
  const { excludeNetwork } = report
  report.excludeNetwork = true
  const { userLimits } = report.getReport()
  report.excludeNetwork = excludeNetwork
  const soft = userLimits?.open_files?.soft
  return typeof soft === 'number' ? soft : Infinity
}

/** An eighth of the limit, within bounds. */
function reserveOf(limit: number): number {
  return Math.max(leastReserve, Math.min(mostReserve, Math.floor(limit / 8)))
}

/** Call it in each thread before it accepts connections. */
export function reserveDescriptors(limit: number): void {
  reserve = reserveOf(limit)
  first = limit - reserve
}

/** The number of descriptors that connections do not get. */
export function reservedDescriptors(): number {
  return reserve
}

/**
 * Whether another connection may be accepted or opened. The system hands out the lowest free
 * number, so the number of a newly opened file shows that all below it are taken. Takes 1.5 µs.
 */
export function hasDescriptors(): boolean {
  return first === Infinity || lowestFree() < first
}

/** How many connections may be opened now. */
export function descriptorsLeft(): number {
  return first === Infinity ? Infinity : Math.max(0, first - lowestFree())
}

/**
 * How many connections may be opened that later need a second descriptor each. It is asked once for
 * a long time, so it counts those that are taken above the lowest free one, too: what starts takes
 * some only for a while, and leaves gaps.
 */
export function pairsOfDescriptors(): number {
  const left = first === Infinity ? Infinity : Math.min(descriptorsLeft(), first - takenBelow(first))
  return Math.max(0, Math.floor(left / 2))
}

function lowestFree(): number {
  try {
    const descriptor = openSync(probed, 'r')
    closeSync(descriptor)
    return descriptor
  } catch (error) {
    // Other errors say nothing about descriptors.
    return isExhaustion(error) ? Infinity : 0
  }
}

/** 0 where the system does not list them. */
function takenBelow(end: number): number {
  if (process.platform !== 'linux') return 0
  try {
    return readdirSync('/proc/self/fd').filter((name) => Number(name) < end).length
  } catch {
    return 0
  }
}

export function isExhaustion(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'EMFILE' || code === 'ENFILE'
}
