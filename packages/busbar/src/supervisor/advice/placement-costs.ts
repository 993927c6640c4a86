/** The costs of calls on this machine: measured once, and kept in the user's cache. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import * as z from 'zod'
import { BusbarError } from '../../contract/errors.ts'
import { busyMachine, costTable, type PlacementCosts, placementCosts } from '../../observe/advice/placement-costs.ts'
import { acceleratorsVariable, defaultAccelerators, type AcceleratorName } from '../../shared/accelerators.ts'
import { machineTime } from './machine-time.ts'
import { cacheFolder } from '../../shared/process/cache-folder.ts'
import { moduleFile } from '../../shared/package-files.ts'

const program = fileURLToPath(moduleFile('calibration/main'))
/** Milliseconds. It takes ten seconds on a machine that has time. */
const limit = 180_000
/** Milliseconds in which the load of the machine is looked at. */
const glance = 500

/** `used`: milliseconds of processor time of the measurement itself. */
const output = costTable.extend({ used: z.number() })

type Accelerators = readonly AcceleratorName[] | undefined

/** Undefined if they were not measured with this Node, on this machine, by this user. */
export async function readCosts(accelerators: Accelerators): Promise<PlacementCosts | undefined> {
  try {
    return placementCosts.safeParse(JSON.parse(await readFile(fileOf(accelerators), 'utf8'))).data
  } catch {
    // There is no file, or it is damaged: it is written anew.
    return undefined
  }
}

/**
 * Whether others distorted the costs when they were measured, and use less than half of those
 * processors now. The app itself is one of the others.
 */
export async function isCalmer({ others }: PlacementCosts, signal: AbortSignal): Promise<boolean> {
  if (others <= busyMachine) return false
  const before = machineTime()
  await sleep(glance, undefined, { signal })
  return (machineTime() - before) / glance < others / 2
}

let underWay: Promise<PlacementCosts> | undefined

/**
 * Measures them. If that is under way, waits for it: two measurements would disturb each other.
 * Aborting `signal` ends a measurement that this call has begun.
 */
export async function measureCosts(accelerators: Accelerators, signal: AbortSignal): Promise<PlacementCosts> {
  while (underWay !== undefined) {
    // Whoever has begun it may have ended it.
    const known = await underWay.catch(() => undefined)
    if (known !== undefined) return known
    signal.throwIfAborted()
  }
  underWay = measure(accelerators, signal)
  try {
    return await underWay
  } finally {
    underWay = undefined
  }
}

/**
 * In a process of its own, which uses a processor for some seconds. A cache that cannot be
 * written is not an error: the next time they are measured again.
 */
async function measure(accelerators: Accelerators, signal: AbortSignal): Promise<PlacementCosts> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const names = namesOf(accelerators)
  const options = {
    env: { ...env, [acceleratorsVariable]: names === '' ? 'none' : names },
    timeout: limit,
    signal,
    windowsHide: true,
  }
  try {
    const before = { at: performance.now(), machine: machineTime() }
    const { stdout } = await promisify(execFile)(process.execPath, [program], options)
    const { used, ...measured } = output.parse(JSON.parse(stdout))
    const all = machineTime() - before.machine
    const others = Math.max(0, all - used) / (performance.now() - before.at)
    const costs = { ...measured, measuredAt: Date.now(), others, machine: machineName(), node: process.version }
    await keep(fileOf(accelerators), costs).catch(() => {})
    return costs
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { stderr?: string }
    const why = stderr.trim().split('\n').at(-1)
    throw new BusbarError('INTERNAL', {
      message: `the costs of calls could not be measured: ${why === '' || why === undefined ? message : why}`,
      cause,
    })
  }
}

/** A reader never sees half of it. */
async function keep(file: string, costs: PlacementCosts): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}`
  await writeFile(draft, `${JSON.stringify(costs, undefined, 2)}\n`, { mode: 0o600 })
  await rename(draft, file)
}

function fileOf(accelerators: Accelerators): string {
  const identity = [machineName(), availableParallelism(), process.version, process.arch, namesOf(accelerators)]
  const hash = createHash('sha256').update(identity.join('\n')).digest('hex').slice(0, 12)
  return join(cacheFolder(process.env), `placement-costs-${hash}.json`)
}

function machineName(): string {
  return cpus()[0]?.model.trim() || process.arch
}

function namesOf(accelerators: Accelerators = defaultAccelerators): string {
  return [...accelerators].sort().join(',')
}
