/** What a test and the worker that runs its programs say to each other. */

/** A case by its name, or a random one by its seed. */
export type CaseKey = { readonly name: string } | { readonly seed: number }

export type ToHost =
  | { readonly type: 'serve'; readonly key: CaseKey }
  /** The caller's own entry in the program's log. */
  | { readonly type: 'add'; readonly event: string }
  | { readonly type: 'settle' }
  | { readonly type: 'close' }

export type FromHost =
  | { readonly type: 'ready' }
  | { readonly type: 'serving'; readonly path: string | undefined }
  | { readonly type: 'logged'; readonly event: string; readonly aside: boolean }
  | { readonly type: 'settled'; readonly program: readonly string[] }
  | { readonly type: 'closed' }
