/** The messages between a test and the worker that runs its programs. */

/** A case's name, or the seed of a random one. */
export type CaseKey = { readonly name: string } | { readonly seed: number }

export type ToHost =
  | { readonly type: 'serve'; readonly key: CaseKey }
  /** Adds the caller's entry to the program's log. */
  | { readonly type: 'add'; readonly event: string }
  | { readonly type: 'settle' }
  | { readonly type: 'close' }

export type FromHost =
  | { readonly type: 'ready' }
  | { readonly type: 'serving'; readonly path: string | undefined }
  | { readonly type: 'logged'; readonly event: string; readonly aside: boolean }
  | { readonly type: 'settled'; readonly program: readonly string[] }
  | { readonly type: 'closed' }
