import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type EdgeStream, encodeValue, failure } from '../../contract/http/answering.ts'
import type { BusbarError } from '../../contract/errors.ts'
import { aliveInterval, headPatience, streamHeaders } from '../../contract/http/events.ts'

/** Writes values as fast as the client takes them: the next one is asked for when the socket has room. */
export async function writeStream(answer: EdgeStream, res: ServerResponse): Promise<void> {
  const { stream, format } = answer
  const first = stream.next()
  const head = setTimeout(() => begin(answer, res), headPatience)
  const alive = setInterval(() => res.headersSent && res.write(format.alive), aliveInterval)
  try {
    for (let step = await first; step.done !== true; step = await stream.next()) {
      const text = encodeValue(answer, step.value)
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
  res.writeHead(200, { ...stream.call.headers, ...streamHeaders(format) })
  res.flushHeaders()
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
