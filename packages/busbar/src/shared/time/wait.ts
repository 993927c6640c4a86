import { AsyncResource } from 'node:async_hooks'

/** The type under which an async hook sees a {@link Wait}. */
export const waitType = 'BUSBAR_WAIT'

/**
 * A wait for something that has no handle of the waiting service's own, because services of a
 * thread share it: a timer, a thread of a pool. A program that starts is alive while it waits.
 */
export class Wait implements Disposable {
  readonly #resource: AsyncResource

  constructor() {
    this.#resource = new AsyncResource(waitType, { requireManualDestroy: true })
  }

  /** To be called once. */
  [Symbol.dispose](): void {
    this.#resource.emitDestroy()
  }
}
