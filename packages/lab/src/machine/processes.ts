import { readdir, readFile } from 'node:fs/promises'

/**
 * What the processes of one arm have used, read from `/proc`: an arm is started as the leader of a session of its own,
 * so all that it starts can be found by that session's number, even what has lost its parent.
 */
export interface Usage {
  /** CPU seconds so far, in user and kernel mode, children that have ended included. */
  readonly cpuSeconds: number
  /** Proportional set size: memory shared between processes is divided among them. Bytes. */
  readonly pss: number
  readonly rss: number
  readonly processes: number
}

export const canReadProcesses = process.platform === 'linux'

/** Kernel ticks per second, as `/proc` counts them: 100 on every Linux that Node runs on (`getconf CLK_TCK`). */
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
 * CPU seconds with the kernel's full resolution; `/proc/<pid>/stat` counts hundredths, but also of threads and
 * children that have ended, which the other knows nothing of: the larger is right.
 */
export async function cpuSecondsOf(session: number): Promise<number> {
  const members = await membersOf(session)
  const exact = await Promise.all(members.map((member) => schedulerSeconds(member.pid)))
  return members.reduce((sum, member, at) => sum + Math.max(exact[at] ?? 0, member.ticks / ticksPerSecond), 0)
}

/** Those that run or could; what has ended and only waits to be noticed by its parent is no more. */
export async function pidsOf(session: number): Promise<number[]> {
  return (await membersOf(session)).filter(({ state }) => state !== 'Z').map(({ pid }) => pid)
}

interface Member {
  pid: number
  state: string
  ticks: number
}

async function membersOf(session: number): Promise<Member[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')))
  return stats.flatMap((stat, at) => {
    // The second field is the command's name in brackets and may hold anything, brackets and spaces included.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (Number(fields[3]) !== session) return []
    const ticks = [11, 12, 13, 14].reduce((sum, field) => sum + Number(fields[field]), 0)
    return [{ pid: Number(pids[at]), state: fields[0]!, ticks }]
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
