/** The result of one check of `busbar doctor`. */
export interface Finding {
  readonly check: string
  /** `warn`: it works, but not as well as it could; `fail`: the app cannot run. */
  readonly state: 'ok' | 'warn' | 'fail'
  /** One phrase. */
  readonly found: string
  /** What to do, as a sentence; undefined if all is well. */
  readonly advice?: string
}

export function ok(check: string, found: string): Finding {
  return { check, state: 'ok', found }
}

export function warn(check: string, found: string, advice: string): Finding {
  return { check, state: 'warn', found, advice }
}

export function fail(check: string, found: string, advice: string): Finding {
  return { check, state: 'fail', found, advice }
}
