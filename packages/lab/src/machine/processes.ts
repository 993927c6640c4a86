import { readdir, readFile } from 'node:fs/promises'

/**
 * CPU time and memory of an arm, read from `/proc`. An arm is started as the leader of its own
 * session, so all its processes are found by the session's number, even orphans.
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

export async function usageOf(session: number, options: { memory: boolean }): Promise<Usage> {
  const members = await membersOf(session)
  const memory = options.memory ? await Promise.all(members.map((member) => memoryOf(member.pid))) : []
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
export async function cpuSecondsOf(session: number): Promise<number> {
  const members = await membersOf(session)
  const exact = await Promise.all(members.map((member) => schedulerSeconds(member.pid)))
  return members.reduce((sum, member, at) => sum + Math.max(exact[at] ?? 0, member.ticks / ticksPerSecond), 0)
}

/** Living processes, without zombies. */
export async function pidsOf(session: number): Promise<number[]> {
  return (await membersOf(session)).filter(({ state }) => state !== 'Z').map(({ pid }) => pid)
}

/**
 * Living processes that were started with this variable, such as `TMPDIR=/tmp/arm`. Finds those,
 * too, that left their session before their parent ended, as daemons do.
 */
export async function pidsWith(variable: string): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')))
  return pids.filter((_, at) => environments[at]!.split('\0').includes(variable)).map(Number)
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
async function membersOf(session: number): Promise<Member[]> {
  const all = await allProcesses()
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

async function allProcesses(): Promise<Member[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  return stats.flatMap((stat, at) => {
    // The second field is the command's name in brackets. It may have spaces and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields.length < 15) return []
    const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
    return [{ pid: Number(pids[at]), parent: Number(fields[1]), session: Number(fields[3]), state: fields[0]!, ticks }]
  })
}

/** The sum over threads of `se.sum_exec_runtime`, in `schedstat`, is in nanoseconds. */
async function schedulerSeconds(pid: number): Promise<number | undefined> {
  try {
    const threads = await readdir(`/proc/${pid}/task`)
    const texts = await Promise.all(
      threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')),
    )
    return texts.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e9
  } catch {
    return undefined
  }
}

async function memoryOf(pid: number): Promise<{ pss: number; rss: number }> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
  return { pss: bytes('Pss'), rss: bytes('Rss') }
}
