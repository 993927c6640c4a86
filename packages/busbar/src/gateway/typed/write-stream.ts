import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type StreamResponse, encodeValue, failure } from '../../contract/http/responder.ts'
import type { BusbarError } from '../../contract/errors.ts'
import { keepAliveInterval, firstValueTimeout, streamHeaders } from '../../contract/http/stream-format.ts'

/** Writes values with backpressure: the next one is requested when the socket has room. */
export async function writeStream(answer: StreamResponse, res: ServerResponse): Promise<void> {
  const { stream, format } = answer
  const first = stream.next()
  const head = setTimeout(() => begin(answer, res), firstValueTimeout)
  const alive = setInterval(() => res.headersSent && res.write(format.keepAlive), keepAliveInterval)
  try {
    for (let step = await first; step.done !== true; step = await stream.next()) {
      const text = encodeValue(answer, step.value)
      begin(answer, res)
      if (!res.write(text)) await drained(res)
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

function begin({ format, stream }: StreamResponse, res: ServerResponse): void {
  if (res.headersSent || res.destroyed) return
  res.writeHead(200, { ...stream.call.headers, ...streamHeaders(format) })
  res.flushHeaders()
}

/**
 * A failure before the first value is an error response. A later one is the last item of the
 * stream.
 */
function end({ format, stream }: StreamResponse, res: ServerResponse, error: BusbarError): void {
  if (res.destroyed) return
  if (res.headersSent) {
    res.end(format.error(error))
    return
  }
  const { status, headers, body = '' } = failure(error, stream.call.headers)
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}

async function drained(res: ServerResponse): Promise<void> {
  if (res.destroyed) return
  const over = new AbortController()
  const { signal } = over
  try {
    await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })])
  } catch {
    // The response has failed, which `destroyed` shows.
  } finally {
    over.abort()
  }
}
