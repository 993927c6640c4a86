import type { StdioOptions } from 'node:child_process'
import { closeSync, fstatSync, openSync, readdirSync } from 'node:fs'

type Listed = Exclude<StdioOptions, string>

/** Limits how many are hidden: each takes a descriptor of the process limit. */
const most = 4096

/**
 * Starts a child that inherits no connection of this process besides those in `stdio`. Node passes
 * connections to threads by a `dup` without close-on-exec (24.21), so every child started meanwhile
 * would hold them open: their peers would not notice a dead worker, or a `destroy`, as long as that
 * child lives. A descriptor cannot be closed in the child from here, but it can be replaced: each
 * becomes `/dev/null`. Only Linux needs this: macOS closes everything that is not named. Costs
 * 1.4 µs per descriptor of this process.
 */
export function withoutConnections<S extends StdioOptions, T>(stdio: S, start: (stdio: S) => T): T {
  const named: Listed = typeof stdio === 'string' ? [stdio, stdio, stdio] : stdio
  const connections = sockets().filter((at) => at > 2 && isUnnamed(named[at]))
  if (connections.length === 0) return start(stdio)
  const nothing = openAbove(Math.max(...connections))
  try {
    // The same entries, and more after them.
    return start(covered(named, connections, nothing) as S)
  } finally {
    closeSync(nothing)
  }
}

/**
 * Opens `/dev/null` with a number above `highest` if one is free: a child needs an extra descriptor
 * for each one that is replaced by a lower number, and may not have enough. The system hands out
 * the lowest free number, so lower ones are opened first.
 */
function openAbove(highest: number): number {
  const opened = [openSync('/dev/null', 'r+')]
  try {
    while (opened.at(-1)! < highest) opened.push(openSync('/dev/null', 'r+'))
  } catch {
    // None is free. The child may then fail to start, which is retried.
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

/** `ignore` lets a child inherit the descriptor of that number, except for the first three. */
function isUnnamed(one: Listed[number]): boolean {
  return one === undefined || one === null || one === 'ignore'
}

/** The sockets among this process's descriptors. */
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

/** Other threads may close theirs meanwhile. */
function isSocket(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isSocket()
  } catch {
    return false
  }
}
