import type { StdioOptions } from 'node:child_process'
import { closeSync, fstatSync, openSync, readdirSync } from 'node:fs'

type Listed = Exclude<StdioOptions, string>

/** More than these are not kept back: each takes one of the descriptors that the system allows to a process. */
const most = 4096

/**
 * Starts a child that gets no connection of this process beside what `stdio` names. Node gives connections to threads by a
 * `dup` without close-on-exec (24.21), so that every child that starts while one is open would hold it: whoever is at its other
 * end hears nothing of a worker that dies, or of a `destroy`, as long as that child lives. A descriptor cannot be closed in a
 * child from here, but it can be given another: each of these is `/dev/null` there. Linux alone needs it: macOS closes
 * all that is not named. Costs 1.4 µs for each descriptor of this process.
 */
export function withoutConnections<S extends StdioOptions, T>(stdio: S, start: (stdio: S) => T): T {
  const named: Listed = typeof stdio === 'string' ? [stdio, stdio, stdio] : stdio
  const connections = sockets().filter((at) => at > 2 && isUnnamed(named[at]))
  if (connections.length === 0) return start(stdio)
  const nothing = openAbove(Math.max(...connections))
  try {
    // The same, and more behind it.
    return start(covered(named, connections, nothing) as S)
  } finally {
    closeSync(nothing)
  }
}

/**
 * `/dev/null`, with a number above `highest` if there is one left: a child needs one more descriptor for each that is to be given
 * one of a lower number, and may not have as many. The system gives out the lowest free number, so those below are taken first.
 */
function openAbove(highest: number): number {
  const opened = [openSync('/dev/null', 'r+')]
  try {
    while (opened.at(-1)! < highest) opened.push(openSync('/dev/null', 'r+'))
  } catch {
    // There is none: then it may be that the child cannot be started, which is tried again.
  }
  const nothing = opened.pop()!
  for (const other of opened) closeSync(other)
  return nothing
}

function covered(named: Listed, connections: readonly number[], nothing: number): Listed {
  const all: Listed = Array.from({ length: Math.max(...connections) + 1 }, (_, at) => (at < 3 ? 'pipe' : 'ignore'))
  for (const [at, one] of named.entries()) if (one != null) all[at] = one
  for (const descriptor of connections) all[descriptor] = nothing
  return all
}

/** `ignore` leaves a child what there is at that number, unless it is one of the first three. */
function isUnnamed(one: Listed[number]): boolean {
  return one === undefined || one === null || one === 'ignore'
}

/** Descriptors of this process's. */
function sockets(): number[] {
  return process.platform === 'linux' ? openDescriptors().filter(isSocket).slice(0, most) : []
}

function openDescriptors(): number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number)
  } catch {
    return []
  }
}

/** Other threads close theirs meanwhile. */
function isSocket(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isSocket()
  } catch {
    return false
  }
}
