/** Checks of the machine and of the limits of this user. Files of `/proc` exist on Linux only. */
import { readFileSync, statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { App } from '../../config/app.ts'
import { BusbarError } from '../../contract/errors.ts'
import { testedNodes } from '../../shared/accelerators.ts'
import { descriptorLimit } from '../../shared/process/descriptors.ts'
import { claimSocket, runtimeFolder } from '../../supervisor/admin/admin-socket.ts'
import { ownFolder } from '../background/own-folder.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const mib = 1024 ** 2

export function checkNode(): Finding {
  const { node } = process.versions
  if (testedNodes.includes(Number.parseInt(node))) return ok('Node', node)
  return warn('Node', `${node}, with which Busbar was not tested`, `Use Node ${testedNodes.join(' or ')}.`)
}

/** Each connection takes one, a connection to a process or a command another. */
export function checkDescriptors(): Finding {
  const limit = descriptorLimit()
  if (limit === Infinity) return ok('descriptors', 'no limit')
  const advice = 'Raise it: ulimit -n 65536, LimitNOFILE=65536 of a unit, --ulimit nofile=65536 of a container'
  if (limit < 256) return fail('descriptors', `${limit} files and connections`, advice)
  if (limit < 10_000) return warn('descriptors', `${limit} files and connections`, advice)
  return ok('descriptors', `${limit} files and connections`)
}

/**
 * Connections that wait to be accepted. More are dropped, and their clients retry a second later.
 */
export function checkBacklog(): Finding | undefined {
  const most = numberIn('/proc/sys/net/core/somaxconn')
  if (most === undefined) return undefined
  if (most >= 1024) return ok('somaxconn', `${most} connections may wait`)
  return warn('somaxconn', `${most} connections may wait`, 'Raise it: sysctl -w net.core.somaxconn=4096')
}

/** Used by `busbar dev`. */
export function checkWatches(): Finding | undefined {
  const most = numberIn('/proc/sys/fs/inotify/max_user_watches')
  if (most === undefined) return undefined
  if (most >= 16_384) return ok('watches', `${most} folders and files`)
  const advice = 'busbar dev may miss changes. Raise it: sysctl -w fs.inotify.max_user_watches=524288'
  return warn('watches', `${most} folders and files`, advice)
}

/** Node has about ten threads, and seven more for each worker. */
export function checkTasks(): Finding | undefined {
  const text = readText('/sys/fs/cgroup/pids.max') ?? readText(join(cgroupFolder() ?? '/none', 'pids.max'))
  const most = Number(text)
  if (text === undefined) return undefined
  if (Number.isNaN(most)) return ok('tasks', 'no limit of this cgroup')
  if (most >= 200) return ok('tasks', `${most} threads and processes`)
  return warn(
    'tasks',
    `${most} threads and processes`,
    'Raise it: TasksMax= of the unit, --pids-limit of the container',
  )
}

/** Against the memory that the config gives to services. */
export function checkMemory(app: App | undefined): Finding {
  const limit = process.constrainedMemory()
  const available = process.availableMemory()
  const text = `${Math.round(available / mib)} MB available${isLimit(limit) ? ` of ${Math.round(limit / mib)} MB (cgroup)` : ''}`
  const wanted = (app?.services ?? []).reduce((sum, { memory = 0, instances }) => sum + memory * instances, 0)
  if (isLimit(limit) && wanted > limit)
    return warn(
      'memory',
      text,
      `The services may take ${Math.round(wanted / mib)} MB together (memory): lower that, or raise the limit.`,
    )
  if (available < 256 * mib) return warn('memory', text, 'Free some memory, or raise the limit of the cgroup.')
  return ok('memory', text)
}

export function checkProcessors(app: App | undefined): Finding {
  const usable = availableParallelism()
  const text = `${usable} usable`
  if (app === undefined || app.workers <= usable) return ok('processors', text)
  return warn(
    'processors',
    text,
    `The config has ${app.workers} shared workers; workers: 'auto' starts one for each processor.`,
  )
}

/** Where commands find the app. */
export async function checkSocketFolder(env: NodeJS.ProcessEnv): Promise<Finding> {
  const folder = runtimeFolder(env)
  try {
    await claimSocket(folder, process.cwd())
    return ok('sockets', folder)
  } catch (error) {
    const { message, hint = 'Set XDG_RUNTIME_DIR to a folder of your own.' } = BusbarError.from(error)
    return warn('sockets', message, `Commands will not find the app. ${hint}`)
  }
}

export function checkDisk(env: NodeJS.ProcessEnv): Finding {
  try {
    const folder = ownFolder(env)
    const { bavail, bsize } = statfsSync(folder)
    const free = bavail * bsize
    const text = `${Math.round(free / mib)} MB free in ${folder}`
    return free > 512 * mib
      ? ok('disk', text)
      : warn('disk', text, 'Free some: apps in the background write their logs there.')
  } catch (error) {
    return warn('disk', (error as Error).message, 'Set XDG_STATE_HOME: busbar start -d needs a folder to write to.')
  }
}

/** Without a limit, Node reports a number larger than any machine's memory, or 0. */
function isLimit(bytes: number): boolean {
  return bytes > 0 && bytes < 2 ** 50
}

/** Of version 2. */
function cgroupFolder(): string | undefined {
  const path = /^0::(\/.*)$/m.exec(readText('/proc/self/cgroup') ?? '')?.[1]
  return path === undefined ? undefined : join('/sys/fs/cgroup', path)
}

function numberIn(file: string): number | undefined {
  const text = readText(file)
  return text === undefined ? undefined : Number(text)
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return undefined
  }
}
