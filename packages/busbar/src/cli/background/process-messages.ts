/**
 * What the process that runs an app reports to the one that started it: to the outer process of
 * `start`, which passes it on to `start -d`.
 */
import type { App, LogSettings } from '../../config/app.ts'
import type { BusbarError, ErrorRecord } from '../../contract/errors.ts'
import type { ListedAddress } from '../../supervisor/admin/operations/describe.ts'
import type { StartRecord } from '../../supervisor/admin/start-record.ts'
import type { PageAddress } from '../dashboard/run-page.ts'

/** Marks the processes of an app in the background. */
export const detachedVariable = 'BUSBAR_DETACHED'

export type StartMessage = Serving | Failed | Restarting

/** The app serves. From now on a crash is worth a restart. */
export interface Serving {
  readonly type: 'serving'
  readonly pid: number
  /** Milliseconds that a stop may take, with its `stopDelay`. */
  readonly stopTimeout: number
  readonly maxRestarts: number | undefined
  readonly stableAfter: number | undefined
  readonly logs: LogSettings | undefined
  /** For commands that look for the app while it waits for a restart. */
  readonly record: StartRecord
  readonly addresses: readonly ListedAddress[]
  readonly entrance: 'native' | 'portable'
  /** Of `--open`. */
  readonly page: PageAddress | undefined
}

/** The app could not start, or gave up. */
export interface Failed {
  readonly type: 'failed'
  readonly error: ErrorRecord
}

/**
 * The whole app stops and starts again in the same process. Until it serves, a failure is a crash.
 */
export interface Restarting {
  readonly type: 'restarting'
}

/** Does nothing in a process that nobody waits for. */
export function reportServing(
  { name, root, stopTimeout, stopDelay = 0, maxRestarts, stableAfter, logs }: App,
  command: Pick<StartRecord, 'args' | 'folder' | 'isDetached'>,
  seen: Pick<Serving, 'addresses' | 'entrance' | 'page'>,
): void {
  const record = { ...command, name, root }
  const supervision = { stopTimeout: stopDelay + stopTimeout, maxRestarts, stableAfter }
  send({ type: 'serving', pid: process.pid, ...supervision, logs, record, ...seen })
}

export function reportRestarting(): void {
  send({ type: 'restarting' })
}

export function reportFailed(error: BusbarError): void {
  send({ type: 'failed', error: error.toRecord() })
}

/** From the outer process to `start -d`, which may have gone. Other parents expect no message. */
export function passOn(message: StartMessage): void {
  if (process.connected && process.env[detachedVariable] !== undefined) send(message)
}

export function isStartMessage(message: unknown): message is StartMessage {
  const { type } = (message ?? {}) as { type?: unknown }
  return type === 'serving' || type === 'failed' || type === 'restarting'
}

function send(message: StartMessage): void {
  // An error means that the other process has just gone.
  process.send?.(message, undefined, undefined, () => {})
}
