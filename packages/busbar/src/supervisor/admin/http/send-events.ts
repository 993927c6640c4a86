/** Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerEvent } from '../operations/operation.ts'

/** Milliseconds after which a client that has not read what was sent is disconnected. */
const readTimeout = 30_000

/**
 * Ends with the source, or when the client disconnects. The next event is asked for when the client
 * has read the last one: a slow client gets fewer events, and nothing is queued for it.
 */
export async function sendEvents(res: ServerResponse, source: AsyncIterable<ServerEvent>): Promise<void> {
  res.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
    // It ends with the app, which waits for its connections.
    connection: 'close',
  })
  res.flushHeaders()
  try {
    for await (const { event, data } of source) {
      if (res.destroyed) return
      const isRead = res.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
      if (!isRead && !(await drained(res))) return void res.destroy()
    }
    res.end()
  } catch {
    // The head was sent: only the end of the connection can show that the source failed.
    res.destroy()
  }
}

async function drained(res: ServerResponse): Promise<boolean> {
  const done = new AbortController()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const drain = (): void => resolve(true)
  const close = (): void => resolve(false)
  res.once('drain', drain).once('close', close)
  if (res.destroyed) resolve(false)
  const late = sleep(readTimeout, false, { signal: done.signal, ref: false }).catch(() => false)
  try {
    return await Promise.race([promise, late])
  } finally {
    done.abort()
    res.off('drain', drain).off('close', close)
  }
}
