import { readdirSync, readFileSync } from 'node:fs'

/**
 * CPU time and memory of an arm, read from `/proc`. An arm is started as the leader of its own
 * session, so all its processes are found by the session's number, even orphans.
 *
 * All reads are synchronous: the kernel answers from memory, in some 20 µs for each file. By
 * promises they took five times the CPU time, beside the arm that is measured.
 */
export interface Usage {
  /** CPU seconds so far in user and kernel mode, including exited children. */
  readonly cpuSeconds: number
  /** Proportional set size: memory shared between processes is divided among them. Bytes. */
  readonly pss: number
  readonly rss: number
  readonly processes: number
}

export const canReadProcesses = process.platform === 'linux'

/**
 * Kernel ticks per second in `/proc`: 100 on every Linux that Node supports (`getconf CLK_TCK`).
 */
export const ticksPerSecond = 100

export function usageOf(session: number, options: { memory: boolean }): Usage {
  const members = membersOf(session)
  const memory = options.memory ? members.map((member) => memoryOf(member.pid)) : []
  return {
    cpuSeconds: members.reduce((sum, member) => sum + member.ticks, 0) / ticksPerSecond,
    pss: memory.reduce((sum, each) => sum + each.pss, 0),
    rss: memory.reduce((sum, each) => sum + each.rss, 0),
    processes: members.length,
  }
}

/**
 * CPU seconds. `schedstat` has nanoseconds, but only of living threads. `/proc/<pid>/stat` has
 * hundredths of a second and includes exited threads and children. The larger value is right.
 */
export function cpuSecondsOf(session: number): number {
  return membersOf(session).reduce(
    (sum, { pid, ticks }) => sum + Math.max(schedulerSeconds(pid), ticks / ticksPerSecond),
    0,
  )
}

/** Living processes, without zombies. */
export function pidsOf(session: number): number[] {
  return membersOf(session)
    .filter(({ state }) => state !== 'Z')
    .map(({ pid }) => pid)
}

/**
 * Living processes that were started with this variable, such as `TMPDIR=/tmp/arm`. Finds those,
 * too, that left their session before their parent ended, as daemons do.
 */
export function pidsWith(variable: string): number[] {
  return allPids().filter((pid) => textOf(`/proc/${pid}/environ`).split('\0').includes(variable))
}

interface Member {
  pid: number
  parent: number
  session: number
  state: string
  ticks: number
}

/**
 * Of the session, and of sessions that its processes have started, as Busbar does for each command.
 */
function membersOf(session: number): Member[] {
  const all = allPids().flatMap(memberWith)
  const sessions = new Set([session])
  const found = new Map<number, Member>()
  for (let before = 0; before < sessions.size + found.size;) {
    before = sessions.size + found.size
    for (const process of all) {
      if (process.pid === session || sessions.has(process.session)) found.set(process.pid, process)
      else if (found.has(process.parent)) sessions.add(process.session)
    }
  }
  return [...found.values()]
}

/** Empty if it has exited in the meantime. */
function memberWith(pid: number): [] | [Member] {
  const stat = textOf(`/proc/${pid}/stat`)
  // The second field is the command's name in brackets. It may have spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields.length < 15) return []
  const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
  return [{ pid, parent: Number(fields[1]), session: Number(fields[3]), state: fields[0]!, ticks }]
}

/** The sum over threads of `se.sum_exec_runtime`, in `schedstat`, is in nanoseconds. */
function schedulerSeconds(pid: number): number {
  const threads = namesIn(`/proc/${pid}/task`)
  const texts = threads.map((thread) => textOf(`/proc/${pid}/task/${thread}/schedstat`))
  return texts.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e9
}

function memoryOf(pid: number): { pss: number; rss: number } {
  const text = textOf(`/proc/${pid}/smaps_rollup`)
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
  return { pss: bytes('Pss'), rss: bytes('Rss') }
}

function allPids(): number[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

/** Empty if its process has exited, or belongs to another user. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Empty if its process has exited, or belongs to another user. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
