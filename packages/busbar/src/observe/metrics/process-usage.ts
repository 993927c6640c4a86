/** What Linux knows of a process. Other systems have only what Node says of its own. */
import { readdirSync, readFileSync, statSync } from 'node:fs'

export interface ProcessUsage {
  /** Seconds. */
  readonly user?: number
  readonly system?: number
  /** Bytes. */
  readonly virtual?: number
  readonly heap?: number
  readonly descriptors?: number
  readonly maxDescriptors?: number
}

/** USER_HZ, the same on every Linux that Node runs on. */
const ticksPerSecond = 100

/** Empty if the process has ended, or belongs to another user. */
export function usageOf(pid: number): ProcessUsage {
  const own = pid === process.pid ? process.cpuUsage() : undefined
  // The second field is the name in parentheses, which may contain anything.
  const fields = read(pid, 'stat')?.split(') ').at(-1)?.split(' ')
  const [user, system] = own
    ? [own.user / 1e6, own.system / 1e6]
    : [fields && Number(fields[11]) / ticksPerSecond, fields && Number(fields[12]) / ticksPerSecond]
  const status = read(pid, 'status') ?? ''
  const limit = /^Max open files\s+(\d+)/m.exec(read(pid, 'limits') ?? '')?.[1]
  return present({
    user,
    system,
    virtual: kibOf(status, 'VmSize'),
    heap: kibOf(status, 'VmData'),
    descriptors: descriptorsOf(pid),
    maxDescriptors: limit === undefined ? undefined : Number(limit),
  })
}

function kibOf(status: string, name: string): number | undefined {
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]
  return kib === undefined ? undefined : Number(kib) * 1024
}

/** Since Linux 6.2 the size of the folder is their number. Before, it is 0. */
function descriptorsOf(pid: number): number | undefined {
  const folder = `/proc/${pid}/fd`
  try {
    return statSync(folder).size || readdirSync(folder).length
  } catch {
    return undefined
  }
}

function read(pid: number, file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return undefined
  }
}

function present(usage: { readonly [Name in keyof ProcessUsage]: number | undefined }): ProcessUsage {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined))
}
