import type { ErrorRecord } from '../../../contract/errors.ts'

/** What the thread that runs a config is given. */
export interface ModuleRequest {
  readonly file: string
  /** The folder of the config. */
  readonly root: string
  /** What the config's function gets as `env`, if it is not `process.env`. */
  readonly env: Readonly<Record<string, string | undefined>> | undefined
  readonly argv: readonly string[]
}

/** How the run of a config has ended. It calls `process.exit()` without a message. */
export type ModuleOutcome =
  | { readonly is: 'value'; readonly data: unknown }
  | { readonly is: 'failed'; readonly error: ErrorRecord }
  | { readonly is: 'unsettled' }
