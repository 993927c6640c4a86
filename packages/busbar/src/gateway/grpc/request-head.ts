import type { Metadata, Trace } from '../../contract/context.ts'
import { isHeaderName, isHeaderValue } from '../../contract/header-syntax.ts'
import { parseTimeout } from '../../contract/grpc/framing.ts'
import { acceptedEncodings, type Encoding, encodingOf } from './compression.ts'

/** What the head of a call says besides its method. */
export interface RequestHead {
  /** Milliseconds. */
  readonly timeout: number | undefined
  readonly encoding: Encoding
  readonly metadata: Metadata
  readonly trace: Trace | undefined
}

/** Why a call cannot be answered by its head alone. */
export interface HeadFault {
  readonly code: 'REQUEST_MALFORMED' | 'MEDIA_TYPE_UNSUPPORTED'
  readonly message: string
  readonly fields?: Readonly<Record<string, string>>
}

/** The values of gRPC itself, and what a client may not claim. */
const notMetadata: ReadonlySet<string> = new Set([
  'content-type',
  'te',
  'grpc-timeout',
  'grpc-encoding',
  'grpc-accept-encoding',
  'forwarded',
  'x-real-ip',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-prefix',
  'busbar-hops',
  'client-cert',
  'client-cert-chain',
])

/** `trusted`: fields that the gateway adds, such as the client's address. */
export function readHead(headers: Readonly<Record<string, string>>, trusted: Metadata): RequestHead | HeadFault {
  const timeout = headers['grpc-timeout']
  const milliseconds = timeout === undefined ? undefined : parseTimeout(timeout)
  if (timeout !== undefined && milliseconds === undefined)
    return { code: 'REQUEST_MALFORMED', message: `grpc-timeout is ${JSON.stringify(timeout.slice(0, 40))}` }
  const encoding = encodingOf(headers['grpc-encoding'])
  if (encoding === undefined)
    return {
      code: 'MEDIA_TYPE_UNSUPPORTED',
      message: `messages are compressed by ${headers['grpc-encoding']!.slice(0, 40)}; supported are ${acceptedEncodings}`,
      fields: { 'grpc-accept-encoding': acceptedEncodings },
    }
  return { timeout: milliseconds, encoding, metadata: metadataOf(headers, trusted), trace: traceOf(headers) }
}

export function isFault(head: RequestHead | HeadFault): head is HeadFault {
  return 'code' in head
}

/** Of the last head: the native entrance gives the same one to calls whose heads are the same. */
let last: { readonly headers: Readonly<Record<string, string>>; readonly metadata: Metadata } | undefined

function metadataOf(headers: Readonly<Record<string, string>>, trusted: Metadata): Metadata {
  if (headers !== last?.headers) last = { headers, metadata: ownMetadata(headers) }
  // The next call may get the same.
  return Object.freeze({ ...last.metadata, ...trusted })
}

function ownMetadata(headers: Readonly<Record<string, string>>): Metadata {
  const metadata: Record<string, string> = {}
  for (const name in headers) {
    const value = headers[name]!
    if (name.startsWith(':') || notMetadata.has(name) || !isHeaderName(name) || !isHeaderValue(value)) continue
    metadata[name] = value
  }
  return metadata
}

function traceOf(headers: Readonly<Record<string, string>>): Trace | undefined {
  const { traceparent, tracestate } = headers
  if (traceparent === undefined) return undefined
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}
