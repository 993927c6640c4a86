import { fileURLToPath } from 'node:url'
import { settlesWithin } from '../../../shared/time/settles-within.ts'

/** A connection to the debugger of a thread or process, by the Chrome DevTools Protocol. */
export interface DebuggerChannel {
  send(message: string): void
  /** Receives each answer and event. */
  receive: (message: string) => void
}

/**
 * Milliseconds. A thread that executes JavaScript pauses as soon as it gets a processor; one in a
 * system call does not.
 */
const pauseTimeout = 3000
/** Milliseconds. While a thread is paused it cannot be ended. */
const resumeTimeout = 1000

const maxFrames = 25

interface ParsedScript {
  readonly scriptId: string
  readonly url: string
}

interface Paused {
  readonly callFrames: readonly {
    readonly functionName: string
    readonly location: { readonly scriptId: string; readonly lineNumber: number; readonly columnNumber?: number }
  }[]
}

/**
 * Pauses the thread where it is, and lets it go on. Resolves to the lines of its stack, or to
 * undefined if it did not pause. V8 executes these orders between two instructions of a loop, so
 * they work without the event loop.
 */
export async function pausedStack(channel: DebuggerChannel): Promise<readonly string[] | undefined> {
  const paused = Promise.withResolvers<Paused>()
  const resumed = Promise.withResolvers<void>()
  /** By ID. Frames have no URL of scripts that were loaded before. */
  const urls = new Map<string, string>()
  channel.receive = (text) => {
    const { id, method, params } = JSON.parse(text) as { id?: number; method?: string; params?: unknown }
    if (method === 'Debugger.scriptParsed') urls.set((params as ParsedScript).scriptId, (params as ParsedScript).url)
    if (method === 'Debugger.paused') paused.resolve(params as Paused)
    if (id === lastOrder) resumed.resolve()
  }
  const order = (number: number, method: string): void => channel.send(JSON.stringify({ id: number, method }))
  order(1, 'Debugger.enable')
  order(2, 'Debugger.pause')
  const didPause = await settlesWithin(pauseTimeout, [paused.promise])
  if (didPause) order(3, 'Debugger.resume')
  order(lastOrder, 'Debugger.disable')
  if (didPause) await settlesWithin(resumeTimeout, [resumed.promise])
  return didPause ? linesOf(await paused.promise, urls) : undefined
}

const lastOrder = 4

/** As V8 writes them in the stack of an error. */
function linesOf({ callFrames }: Paused, urls: ReadonlyMap<string, string>): string[] {
  return callFrames.slice(0, maxFrames).map(({ functionName, location }) => {
    const url = urls.get(location.scriptId) ?? ''
    const file = url.startsWith('file:') ? fileURLToPath(url) : url === '' ? '<anonymous>' : url
    const where = `${file}:${location.lineNumber + 1}:${(location.columnNumber ?? 0) + 1}`
    return functionName === '' ? `at ${where}` : `at ${functionName} (${where})`
  })
}
