import { AsyncResource, createHook, type AsyncHook } from 'node:async_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { currentScope } from '../../mesh/scope.ts'

/**
 * Knows what of one service would keep a process of its own alive: timers, sockets, requests to the system that were
 * begun in its scope since the watch began. A program that has none left, and listens nowhere, never will.
 *
 * Costs an async hook (not for promises) while it lives, so it lives only during a start and a stop.
 */
export class PendingWatch implements Disposable {
  readonly #open = new Map<number, Resource>()
  readonly #hook: AsyncHook

  constructor(service: string) {
    // `trackPromises` is of Node 24.12 and missing in the type: a pending promise alone keeps no process alive.
    const options: HookOptions = {
      trackPromises: false,
      init: (id, type, _trigger, handle) => {
        if (!inert.has(type) && currentScope()?.service === service) this.#open.set(id, { type, handle })
      },
      destroy: (id) => void this.#open.delete(id),
    }
    this.#hook = createHook(options).enable()
  }

  /** Kinds of what is left, for people: `Timeout`, `TCPWRAP`. */
  get kinds(): string[] {
    const alive = [...this.#open.values()].filter(keepsAlive)
    return [...new Set(alive.map(({ type }) => type))]
  }

  get idle(): boolean {
    for (const resource of this.#open.values()) if (keepsAlive(resource)) return false
    return true
  }

  /** Resolves when nothing has been left for some turns of the loop: work goes from one kind of resource to the next. */
  async untilIdle(signal: AbortSignal): Promise<void> {
    for (let quiet = 0; quiet < quietTurns && !signal.aborted; quiet = this.idle ? quiet + 1 : 0) {
      if (this.idle) await turn()
      else await pause(signal)
    }
  }

  [Symbol.dispose](): void {
    this.#hook.disable()
    this.#open.clear()
  }
}

interface Resource {
  readonly type: string
  readonly handle: { hasRef?: () => boolean }
}

type HookOptions = Parameters<typeof createHook>[0] & {
  trackPromises: boolean
  init: (id: number, type: string, trigger: number, handle: Resource['handle']) => void
}

const quietTurns = 25

/** Live as long as their owner is not collected, and keep nothing alive by themselves. */
const inert = new Set([
  'BLOBREADER',
  'DIRHANDLE',
  'DNSCHANNEL',
  'ELDHISTOGRAM',
  'FILEHANDLE',
  'HTTP2SESSION',
  'HTTP2STREAM',
  'HTTPCLIENTREQUEST',
  'HTTPINCOMINGMESSAGE',
  'INSPECTORJSBINDING',
  'JSSTREAM',
  'PROMISE',
  'STREAMPIPE',
  'TLSWRAP',
  'ZLIB',
])

function keepsAlive({ handle }: Resource): boolean {
  // What libraries make to carry a context along stands for nothing in the loop.
  return handle.hasRef?.() ?? !(handle instanceof AsyncResource)
}

/** Looks again in a while. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, 20)
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true })
  })
}
