import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { EdgeStream } from '../../contract/http/edge.ts'
import { failure } from '../../contract/http/edge.ts'
import type { BusbarError } from '../../contract/errors.ts'
import { toCallError } from '../../contract/host/failures.ts'

/** Milliseconds until a stream without a first value says at least that it has begun; before that, it can still fail whole. */
const headPatience = 1000
/** Milliseconds of silence after which a sign of life is written: proxies cut connections that idle for a minute. */
const aliveInterval = 15_000

/** Writes values as fast as the client takes them: the next one is asked for when the socket has room. */
export async function writeStream(answer: EdgeStream, res: ServerResponse): Promise<void> {
  const { stream, format } = answer
  const first = stream.next()
  const head = setTimeout(() => begin(answer, res), headPatience)
  const alive = setInterval(() => res.headersSent && res.write(format.alive), aliveInterval)
  try {
    for (let step = await first; step.done !== true; step = await stream.next()) {
      const text = encode(answer, step.value)
      begin(answer, res)
      if (!res.write(text)) await room(res)
      if (res.destroyed) return
    }
    begin(answer, res)
    res.end(format.end)
  } catch (error) {
    end(answer, res, error as BusbarError)
  } finally {
    clearTimeout(head)
    clearInterval(alive)
    await stream.return()
  }
}

function begin({ format, stream }: EdgeStream, res: ServerResponse): void {
  if (res.headersSent || res.destroyed) return
  const headers = { ...stream.call.headers, 'content-type': format.type, 'cache-control': 'no-store' }
  // nginx gathers an answer before it passes it on, unless it is told.
  res.writeHead(200, { ...headers, 'x-accel-buffering': 'no' })
  res.flushHeaders()
}

function encode({ format, site }: EdgeStream, value: unknown): string {
  try {
    return format.value(value)
  } catch (error) {
    throw toCallError(error, site)
  }
}

/** A failure before the first value is an answer of its own; a later one is the last thing in the stream. */
function end({ format, stream }: EdgeStream, res: ServerResponse, error: BusbarError): void {
  if (res.destroyed) return
  if (res.headersSent) {
    res.end(format.error(error))
    return
  }
  const { status, headers, body = '' } = failure(error, stream.call.headers)
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}

async function room(res: ServerResponse): Promise<void> {
  if (res.destroyed) return
  const over = new AbortController()
  const { signal } = over
  try {
    await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })])
  } catch {
    // The response broke: its `destroyed` says so.
  } finally {
    over.abort()
  }
}
