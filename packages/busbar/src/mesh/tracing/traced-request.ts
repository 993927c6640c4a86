/** The spans of requests that Node's server has parsed. */
import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { CallEdge } from '../../contract/call/call-edge.ts'
import { readTraceOf, writeTraceTo } from './trace-headers.ts'
import type { SpanKind } from '../../shared/traces/span.ts'
import type { TracedCall } from './traced-call.ts'
import type { Tracer } from './tracer.ts'

type RequestInfo = Omit<SpanKind, 'protocol' | 'method'>

/** The span begins now. The program sees it as the parent of its own. */
export function traceRequest(tracer: Tracer, info: RequestInfo, request: IncomingMessage, edge?: CallEdge): TracedCall {
  const { method = 'GET', url: path } = request
  const call = tracer.call({ ...info, protocol: 'http', method }, path, readTraceOf(request), edge)
  writeTraceTo(request, call.passedOn)
  return call
}

/**
 * Emits a connection's or a request's events by `run`, in its async context. By default those of a
 * connection run in the context that the system's handle was created in, and those of a request's
 * body in the context of the connection's parser.
 */
export function emitInContext(emitter: EventEmitter, run: (callback: () => boolean) => boolean): void {
  const emit = emitter.emit.bind(emitter) as (...args: unknown[]) => boolean
  const value = (...args: unknown[]): boolean => run(() => emit(...args))
  Object.defineProperty(emitter, 'emit', { value, configurable: true, writable: true })
}

/**
 * The bytes that the connection has carried before the response. The connection is kept: undici
 * takes it off a request whose body a program has passed on.
 */
export interface BytesBefore {
  readonly socket: Socket
  readonly bytes: number
}

export function bytesBefore({ socket }: IncomingMessage): BytesBefore {
  return { socket, bytes: socket.bytesWritten }
}

/**
 * Call it when the response has closed. Without a stated length, the head of the response counts
 * too.
 */
export function countBytes(
  call: TracedCall,
  request: IncomingMessage,
  response: ServerResponse,
  { socket, bytes }: BytesBefore,
): void {
  const { details } = call
  details.sent = Number(request.headers['content-length'] ?? 0)
  const stated = response.getHeader('content-length')
  details.received = stated === undefined ? Math.max(0, socket.bytesWritten - bytes) : Number(stated)
}
