import { readdir, readFile, readlink } from 'node:fs/promises'
import { canReadProcesses, pidsOf } from './processes.ts'

/**
 * TCP ports on which a session's processes listen, in ascending order. Undefined without `/proc`.
 */
export async function listeningPorts(session: number): Promise<number[] | undefined> {
  if (!canReadProcesses) return undefined
  const pids = await pidsOf(session)
  const own = new Set((await Promise.all(pids.map(socketsOf))).flat())
  // All share the lab's network namespace, so the table of any process lists all listeners.
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')))
  const ports = tables.flatMap(listenersIn).filter(({ inode }) => own.has(inode))
  return [...new Set(ports.map(({ port }) => port))].toSorted((one, other) => one - other)
}

/** Inodes of a process's open sockets. */
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
