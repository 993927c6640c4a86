import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BusbarError, restoreError } from '../../contract/errors.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { detachedVariable, type Failed, isStartMessage, type Serving } from './process-messages.ts'
import { ownFolder, ownName } from './own-folder.ts'
import type { Flags } from '../command.ts'

export interface DetachedStart {
  /** The arguments after `busbar start`, with an absolute path. */
  readonly args: readonly string[]
  readonly folder: string
  /** The app's folder, config or program. */
  readonly location: string
  readonly terminal: Terminal
}

/**
 * Starts an app that outlives this process and its terminal. Resolves when the app serves. Rejects
 * with its error if it does not; then nothing runs any more.
 */
export async function startDetached({ args, folder, location, terminal }: DetachedStart): Promise<Serving> {
  const { env } = terminal
  const errors = join(ownFolder(env, 'stderr'), `${ownName(location)}.log`)
  const child = withFile(errors, (stderr) =>
    spawn(process.execPath, [...process.execArgv, process.argv[1]!, 'start', ...args], {
      cwd: folder,
      env: { ...env, [detachedVariable]: '1' },
      // A session of its own: neither the end of the terminal nor Ctrl-C reaches it.
      detached: true,
      stdio: ['ignore', 'ignore', stderr, 'ipc'],
    }),
  )
  using _stop = stopWithThis(child)
  const outcome = await untilStarted(child)
  if (outcome.type === 'serving') {
    child.disconnect()
    child.unref()
    return outcome
  }
  if (outcome.type === 'failed') throw restoreError(outcome.error)
  throw new BusbarError('PROGRAM_EXITED', {
    message: `the process of the app ended before it served (${outcome.how})`,
    hint: lastLines(errors) || `See ${errors}.`,
  })
}

interface Ended {
  readonly type: 'ended'
  readonly how: string
}

/** A failure is reported first and then followed by the exit, which is awaited. */
async function untilStarted(child: ChildProcess): Promise<Serving | Failed | Ended> {
  const { promise, resolve } = Promise.withResolvers<Serving | Failed | Ended>()
  let failed: Failed | undefined
  child.on('message', (message) => {
    if (!isStartMessage(message)) return
    if (message.type === 'serving') resolve(message)
    else if (message.type === 'failed') failed = message
  })
  child.once('error', ({ message }) => resolve({ type: 'ended', how: message }))
  child.once('exit', (code, signal) => resolve(failed ?? { type: 'ended', how: signal ?? `exit code ${code}` }))
  return await promise
}

/** A start that is interrupted leaves nothing behind. */
function stopWithThis(child: ChildProcess): Disposable {
  const stop = (): void => void child.kill('SIGTERM')
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const signal of signals) process.on(signal, stop)
  return {
    [Symbol.dispose]() {
      for (const signal of signals) process.off(signal, stop)
    },
  }
}

function withFile<T>(file: string, use: (descriptor: number) => T): T {
  const descriptor = openSync(file, 'a', 0o600)
  try {
    ftruncateSync(descriptor)
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

function lastLines(file: string): string {
  return readFileSync(file, 'utf8').trimEnd().split('\n').slice(-10).join('\n')
}

/** Flags of `busbar start -d` that are about this command, not about the app. */
const ownFlags: ReadonlySet<string> = new Set(['detach', 'json', 'verbose'])

/** The arguments with which the app starts again, from any folder. `location`: absolute. */
export function startArguments(flags: Flags, location: string): string[] {
  const texts = Object.entries(flags)
    .filter(([name, value]) => !ownFlags.has(name) && value !== undefined)
    .map(([name, value]) => (value === true ? `--${name}` : `--${name}=${value}`))
  return [...texts, location]
}
