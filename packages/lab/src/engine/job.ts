/** The load engine's input and output, as in `crates/load/src/job.rs` and `report.rs`. */
import { isIP } from 'node:net'
import type { ConnectionOptions } from 'node:tls'

export interface LoadJob {
  target: {
    address?: string
    unix?: string
    tls?: { serverName: string; certificate: string; resume?: boolean }
    protocol?: Protocol
  }
  requests: LoadRequest[]
  load:
    | { loop: 'closed'; durationMs?: number; requests?: number }
    /** On and off, as `PulsedLoad` says. */
    | { loop: 'pulses' }
    | { loop: 'open'; durationMs: number; rate: number; arrivals: 'poisson' | 'constant' }
  connections: number
  /** Requests in flight on each connection. In HTTP/2 each has a stream of its own. */
  pipelining?: number
  reconnect?: boolean
  discardMs?: number
  timeoutMs?: number
  graceMs?: number
  seed?: number
  cpu?: number
}

export type Protocol = 'http1' | 'http2'

export interface LoadRequest {
  method?: string
  path: string
  headers?: [string, string][]
  body?: string
  /** Makes it a unary call of gRPC, with this message in base64. Needs HTTP/2. */
  message?: string
  expect?: Expect
}

export interface Expect {
  /** Of gRPC the `grpc-status`, which is below every status of HTTP. */
  status?: number
  length?: number
  body?: string
  sha256?: string
  /** The message that a call of gRPC returns, in base64. */
  message?: string
  json?: { pointer: string; equals: unknown }
  headers?: [string, string | null][]
  otherHeaders?: string[]
}

export interface Tick {
  type: 'tick'
  at: number
  done: number
  failed: number
  bytes: number
  p50: number
  p99: number
  max: number
}

/** The load was on for so many seconds, until its last answer. */
export interface Pulse {
  type: 'pulse'
  seconds: number
  done: number
  failed: number
}

export interface LoadResult {
  type: 'result'
  seconds: number
  done: number
  perSecond: number
  bytes: number
  statuses: Record<string, number>
  failures: Record<string, number>
  failed: number
  queued: number
  unsent: number
  unfinished: number
  late: number
  connects: number
  connectFailures: number
  firstProblem: string | null
  latency: Distribution
  pacing: Distribution | null
  generator: { userSeconds: number; systemSeconds: number; busy: number }
}

/** Milliseconds. `buckets` are [upper edge, count]. */
export interface Distribution {
  count: number
  mean: number
  stdev: number
  min: number
  p50: number
  p75: number
  p90: number
  p99: number
  p999: number
  max: number
  buckets: [number, number][]
}

/**
 * TLS options that accept a server with exactly this certificate (PEM), regardless of its issuer
 * and name, since servers run on this machine. The engine does the same
 * (`crates/load/src/trust.rs`), but also accepts an expired certificate.
 */
export function trustOnly(certificate: string, serverName: string): ConnectionOptions {
  // A server cannot be named by an address (RFC 6066).
  const servername = isIP(serverName) ? '' : serverName
  return { ca: certificate, servername, allowPartialTrustChain: true, checkServerIdentity: () => undefined }
}
