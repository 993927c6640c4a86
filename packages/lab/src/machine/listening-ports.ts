import { readdir, readFile, readlink } from 'node:fs/promises'
import { canReadProcesses, pidsOf } from './processes.ts'

/** A TCP port on which a session listens. */
export interface Listener {
  readonly port: number
  /** Values of `PORT` with which the process was started, and those above it in the session. */
  readonly given: readonly number[]
}

/**
 * TCP ports on which a session's processes listen, in ascending order. Undefined without `/proc`.
 */
export async function listeningPorts(session: number): Promise<number[] | undefined> {
  return (await sessionPorts(session))?.listeners.map(({ port }) => port)
}

export interface SessionPorts {
  /** By port, in ascending order. */
  readonly listeners: readonly Listener[]
  /** Values of `PORT` with which its living processes were started. */
  readonly given: ReadonlySet<number>
}

/** Undefined without `/proc`. */
export async function sessionPorts(session: number): Promise<SessionPorts | undefined> {
  if (!canReadProcesses) return undefined
  const processes = await Promise.all(pidsOf(session).map(describe))
  const byPid = new Map(processes.map((one) => [one.pid, one]))
  // All share the lab's network namespace, so the table of any process lists all listeners.
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')))
  const found = new Map<number, Set<number>>()
  for (const { port, inode } of tables.flatMap(listenersIn))
    for (const owner of processes.filter(({ sockets }) => sockets.has(inode))) {
      const values = found.get(port) ?? new Set()
      for (const value of portsAbove(owner, byPid)) values.add(value)
      found.set(port, values)
    }
  const listeners = [...found].map(([port, values]) => ({ port, given: [...values] }))
  return {
    listeners: listeners.toSorted((one, other) => one.port - other.port),
    given: new Set(processes.flatMap(({ port }) => port ?? [])),
  }
}

interface Described {
  readonly pid: number
  readonly parent: number
  /** Inodes of its open sockets. */
  readonly sockets: ReadonlySet<string>
  /** The variable `PORT`, if it is a number. */
  readonly port: number | undefined
}

async function describe(pid: number): Promise<Described> {
  const [sockets, environment, status] = await Promise.all([
    socketsOf(pid),
    readFile(`/proc/${pid}/environ`, 'utf8').catch(() => ''),
    readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''),
  ])
  const port = /(?:^|\0)PORT=(\d+)(?:\0|$)/.exec(environment)?.[1]
  const parent = Number(/^PPid:\s+(\d+)$/m.exec(status)?.[1] ?? 0)
  return { pid, parent, sockets: new Set(sockets), port: port === undefined ? undefined : Number(port) }
}

function* portsAbove(process: Described, byPid: ReadonlyMap<number, Described>): Generator<number> {
  for (let one: Described | undefined = process; one !== undefined; one = byPid.get(one.parent))
    if (one.port !== undefined) yield one.port
}

async function socketsOf(pid: number): Promise<string[]> {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder).catch(() => [])
  const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')))
  return targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [])
}

const listening = '0A'

function listenersIn(table: string): { port: number; inode: string }[] {
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === listening)
    .map((fields) => ({ port: Number.parseInt(fields[1]!.split(':')[1]!, 16), inode: fields[9]! }))
}
