/**
 * Why the entrance of the app has answered in place of a service. The native entrance has some of
 * these reasons too, under the same names (`crates/entrance/src/http1/refusal.rs`).
 */

/** Each with the status of its response. The order is that of the cells: new ones come last. */
export const refusalStatus = {
  malformed: 400,
  /** CONNECT: the gateway is no proxy. */
  not_implemented: 400,
  certificate_missing: 403,
  no_route: 404,
  head_timeout: 408,
  body_timeout: 408,
  body_too_large: 413,
  extension_too_large: 413,
  head_too_large: 431,
  internal: 500,
  hung_up: 502,
  worker_died: 502,
  response_malformed: 502,
  /** No instance of the service serves. */
  not_serving: 503,
  no_worker: 503,
  overloaded: 503,
  connection_limit: 503,
  stopping: 503,
  response_timeout: 504,
} as const

export type RefusalReason = keyof typeof refusalStatus

export const refusalReasons = Object.keys(refusalStatus) as readonly RefusalReason[]

/** Of one worker, with room for more reasons. A multiple of 128 bytes, as all in the table. */
export const refusalCells = 32

export interface RefusalCount {
  readonly status: number
  readonly reason: string
  readonly count: number
}

/** Of one writer. They wrap at 32 bits. */
export class RefusalCounts {
  readonly #cells: Uint32Array

  constructor(cells: Uint32Array = new Uint32Array(refusalCells)) {
    this.#cells = cells
  }

  get all(): readonly RefusalCount[] {
    return listRefusals(this.#cells)
  }

  count(reason: RefusalReason): void {
    const at = refusalReasons.indexOf(reason)
    this.#cells[at] = this.#cells[at]! + 1
  }
}

/** `counts`: in the order of {@link refusalReasons}. */
export function listRefusals(counts: ArrayLike<number>): readonly RefusalCount[] {
  return refusalReasons.map((reason, at) => ({ status: refusalStatus[reason], reason, count: counts[at]! }))
}

/** Those of all entrances of an app, in the order of their statuses. */
export function sumRefusals(...lists: readonly (readonly RefusalCount[])[]): readonly RefusalCount[] {
  const sums = new Map<string, RefusalCount>()
  for (const one of lists.flat()) {
    const key = `${one.status} ${one.reason}`
    sums.set(key, { ...one, count: one.count + (sums.get(key)?.count ?? 0) })
  }
  return [...sums.values()].sort((one, other) => one.status - other.status || (one.reason < other.reason ? -1 : 1))
}
