import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'

/** The command that users run. */
export const bin: string = createRequire(import.meta.url)
  .resolve('busbar/package.json')
  .replace(/package\.json$/, 'bin/busbar.js')

export type Run = 'shared' | 'thread' | 'process'

/** How an app would run: what `busbar check --json` tells. */
export interface Plan {
  readonly places: readonly PlannedPlace[]
  readonly listeners: readonly PlannedListener[]
  readonly services: readonly PlannedService[]
}

export interface PlannedListener {
  readonly id: string
  readonly url: string
  /** A PEM file, of a gateway that speaks TLS. */
  readonly certificate?: string
}

/** A thread or process. */
export interface PlannedPlace {
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
  | ({ readonly ok: true } & Plan)
  | { readonly ok: false; readonly error: { readonly message: string; readonly hint?: string } }

/** With `run`: as it would be with all services there that can be. Throws with what is wrong with the app. */
export async function planOf(folder: string, run?: Run): Promise<Plan> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const args = [bin, 'check', folder, '--json', ...(run === undefined ? [] : ['--run', run])]
  // A config that is wrong ends it with another code, and says so in what it prints.
  execFile(process.execPath, args, (error, stdout) => resolve(stdout || error?.message || ''))
  const printed = await promise
  const checked: Checked = printed.startsWith('{')
    ? (JSON.parse(printed) as Checked)
    : { ok: false, error: { message: printed } }
  if (checked.ok) return checked
  throw new Error([checked.error.message, checked.error.hint].filter(Boolean).join('\n'))
}
