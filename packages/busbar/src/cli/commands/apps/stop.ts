import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarError } from '../../../contract/errors.ts'
import { isAlive, pidNamespace } from '../../../shared/process/process-identity.ts'
import { stopApp } from '../../../supervisor/admin/operations/app.ts'
import { findMeant, listRuns, type Run, type RunningApps } from '../../admin/find-runs.ts'
import type { WaitingApp } from '../../background/waiting-apps.ts'
import { printResult } from '../../admin/print-result.ts'
import type { CommandContext } from '../../command.ts'

/** Milliseconds for the end of the processes, in addition to the app's `stopTimeout`. */
const extraTime = 7000

/** Milliseconds between two looks at a process that ends. */
const lookInterval = 20

/** How often it looks for an app again whose run has ended before it was asked to stop. */
const looks = 10

/** `busbar stop`: stops the runs of an app, and returns when they have ended. */
export async function stop(context: CommandContext): Promise<number> {
  const stopped = await stopMeant(context)
  const lines = stopped.map(({ name, pid, took }) => `${name} (process ${pid}) has stopped after ${took} ms`)
  printResult(context, { ok: true, stopped }, lines.length === 0 ? 'no app runs' : lines.join('\n'))
  return 0
}

/** A run that has ended by itself may have crashed. Then the app waits for its restart, or runs. */
async function stopMeant(context: CommandContext): Promise<readonly StoppedRun[]> {
  const stopped: StoppedRun[] = []
  let crashed = await stopAll(await findAll(context), stopped)
  for (let look = 1; crashed !== undefined && look < looks; look++) {
    await sleep(5 * lookInterval)
    const found = await findAll(context).catch((error: unknown) => {
      if (!hasEnded(error)) throw error
    })
    if (found !== undefined) crashed = await stopAll(found, stopped)
  }
  if (crashed !== undefined && stopped.length === 0) throw crashed
  return stopped
}

/** Adds to `stopped`. Returns the error of a run that has ended before it was asked. */
async function stopAll(
  { runs, silent, waiting }: RunningApps,
  stopped: StoppedRun[],
): Promise<BusbarError | undefined> {
  const outcomes = await Promise.allSettled([...runs.map(stopRun), ...waiting.map(stopWaiting)])
  for (const outcome of outcomes) if (outcome.status === 'fulfilled') stopped.push(outcome.value)
  const failures = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  const failure = failures.find((reason) => !hasEnded(reason))
  if (failure !== undefined) throw BusbarError.from(failure)
  if (silent.length > 0) throw stuck(silent.map(({ pid }) => pid))
  return failures.length === 0 ? undefined : BusbarError.from(failures[0])
}

async function findAll({ flags, terminal, operands }: CommandContext): Promise<RunningApps> {
  return flags.all === true ? await listRuns(terminal.env) : await findMeant(operands[0], { flags, terminal })
}

function hasEnded(error: unknown): boolean {
  return BusbarError.is(error, 'APP_NOT_RUNNING')
}

function stuck(pids: readonly number[]): BusbarError {
  return new BusbarError('DEADLINE_EXCEEDED', {
    message: `the apps of these processes do not answer: ${pids.join(', ')}; the others have stopped`,
    hint: 'Their supervisors are stuck or suspended: continue them (kill -CONT), or end them (kill -KILL).',
  })
}

export interface StoppedRun {
  readonly name: string
  readonly root: string
  readonly pid: number
  /** Milliseconds. */
  readonly took: number
}

/** Rejects with DEADLINE_EXCEEDED if the process outlives its own limits. */
export async function stopRun({ status: { app }, admin }: Run): Promise<StoppedRun> {
  const began = performance.now()
  const { pid, namespace, stopTimeout } = await admin.json(stopApp, {}, { timeout: 5000 })
  // In a container, the process ID is that of another process here.
  const isHere = namespace === pidNamespace()
  const runs = (): boolean => (isHere ? isAlive(pid) : existsSync(admin.socketPath))
  await untilEnded(app, { pid, runs, limit: stopTimeout + extraTime })
  return { name: app.name, root: app.root, pid, took: Math.round(performance.now() - began) }
}

/** No admin socket reaches an app that waits for its restart. */
async function stopWaiting(app: WaitingApp): Promise<StoppedRun> {
  const began = performance.now()
  const { name, root, pid } = app
  process.kill(pid, 'SIGTERM')
  await untilEnded(app, { pid, runs: () => isAlive(pid), limit: extraTime })
  return { name, root, pid, took: Math.round(performance.now() - began) }
}

interface Ending {
  readonly pid: number
  /** Whether it still runs. */
  readonly runs: () => boolean
  /** Milliseconds. */
  readonly limit: number
}

async function untilEnded({ name }: { readonly name: string }, { pid, runs, limit }: Ending): Promise<void> {
  const began = performance.now()
  // A process that has ended and is not yet reaped by its parent counts as alive: it is brief.
  while (runs()) {
    if (performance.now() - began > limit)
      throw new BusbarError('DEADLINE_EXCEEDED', {
        message: `${name} (process ${pid}) still runs ${Math.round(performance.now() - began)} ms after it was asked to stop`,
        hint: `Look at its log, or run kill -KILL ${pid} to end it, in its container if it runs in one.`,
      })
    await sleep(lookInterval)
  }
}
