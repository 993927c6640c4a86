import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'

/** The command that users run. */
export const busbarBin: string = createRequire(import.meta.url)
  .resolve('busbar/package.json')
  .replace(/package\.json$/, 'bin/busbar.js')

export type Run = 'shared' | 'thread' | 'process'

/** How an app would run: the output of `busbar check --json`. */
export interface AppPlan {
  readonly places: readonly PlannedWorker[]
  readonly listeners: readonly PlannedListener[]
  readonly services: readonly PlannedService[]
}

export interface PlannedListener {
  readonly id: string
  readonly url: string
  /** PEM file, for a gateway with TLS. */
  readonly certificate?: string
}

/** A thread or process. */
export interface PlannedWorker {
  readonly name: string
  readonly kind: Run | 'command'
  readonly hosts: readonly string[]
}

export interface PlannedService {
  readonly name: string
  readonly run: Run
  readonly path: string
  readonly entry: string
}

type Checked =
  | ({ readonly ok: true } & AppPlan)
  | { readonly ok: false; readonly error: { readonly message: string; readonly hint?: string } }

/** `run`: where all services run that can run there. Throws the problems of the app. */
export async function readAppPlan(folder: string, run?: Run): Promise<AppPlan> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const args = [busbarBin, 'check', folder, '--json', ...(run === undefined ? [] : ['--run', run])]
  // With an invalid config it exits with another code, and prints the error.
  execFile(process.execPath, args, (error, stdout) => resolve(stdout || error?.message || ''))
  const printed = await promise
  const checked: Checked = printed.startsWith('{')
    ? (JSON.parse(printed) as Checked)
    : { ok: false, error: { message: printed } }
  if (checked.ok) return checked
  throw new Error([checked.error.message, checked.error.hint].filter(Boolean).join('\n'))
}
