/**
 * Replaces the load engine if that is not built: reads a job from standard input and writes the
 * result to standard output. Throughput only, since its latencies include those of its own busy
 * event loop. It checks every answer like the engine. It counts sockets to detect closed
 * connections, since autocannon reconnects silently.
 */
import { createHash } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import { createRequire } from 'node:module'
import { text } from 'node:stream/consumers'
import {
  trustOnly,
  type Distribution,
  type Expect,
  type LoadJob,
  type LoadRequest,
  type LoadResult,
  type Tick,
} from './job.ts'

/** The part of autocannon that is used here. It has no types. */
type Autocannon = (options: object, done: (error: Error | null, found: Found) => void) => { stop(): void }
interface Found {
  readonly errors: number
  readonly timeouts: number
}

const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon

const state = {
  counting: false,
  done: 0,
  bytes: 0,
  tick: 0,
  tickBytes: 0,
  sockets: 0,
  statuses: {} as Record<string, number>,
  failures: {} as Record<string, number>,
  firstProblem: null as string | null,
}

const job = JSON.parse(await text(process.stdin)) as LoadJob
if (job.load.loop === 'open') refuse('a load at a fixed rate')
if (job.reconnect) refuse('a new connection for each request')
if (job.target.protocol === 'http2') refuse('HTTP/2')
run(job)

function refuse(what: string): never {
  process.stderr.write(`${what} needs the load engine: \`cargo build --release\` makes it\n`)
  process.exit(2)
}

function run(job: LoadJob): void {
  const load = job.load as Extract<LoadJob['load'], { loop: 'closed' }>
  const discard = job.discardMs ?? 0
  subscribe('net.client.socket', () => void state.sockets++)
  const began = performance.now()
  let counted = began + discard
  const starting = setTimeout(() => {
    state.counting = true
    counted = performance.now()
  }, discard)
  const ticking = setInterval(() => print(tick((performance.now() - began) / 1000)), 100)
  const cpu = process.cpuUsage()
  autocannon(optionsOf(job, load), (error, found) => {
    clearTimeout(starting)
    clearInterval(ticking)
    if (error) throw error
    print(result(job, found, (performance.now() - counted) / 1000, process.cpuUsage(cpu)))
  })
}

function optionsOf(job: LoadJob, load: Extract<LoadJob['load'], { loop: 'closed' }>): object {
  const { address, unix, tls } = job.target
  return {
    url: `${tls ? 'https' : 'http'}://${address ?? 'localhost'}`,
    ...(unix !== undefined && { socketPath: unix }),
    ...(tls && { servername: tls.serverName, tlsOptions: trustOnly(tls.certificate, tls.serverName) }),
    connections: job.connections,
    pipelining: job.pipelining ?? 1,
    sampleInt: 100,
    timeout: (job.timeoutMs ?? 10_000) / 1000,
    ...(load.requests === undefined ? { duration: (load.durationMs ?? 1000) / 1000 } : { amount: load.requests }),
    requests: job.requests.map((request) => ({
      method: request.method ?? 'GET',
      path: request.path,
      headers: Object.fromEntries(request.headers ?? []),
      ...(request.body !== undefined && { body: request.body }),
      onResponse: (status: number, body: string, _context: object, headers: Record<string, string | string[]>) =>
        note(request, status, body, headers),
    })),
  }
}

function note({ expect }: LoadRequest, status: number, body: string, headers: Record<string, string | string[]>): void {
  state.statuses[status] = (state.statuses[status] ?? 0) + 1
  const wrong = difference(expect ?? {}, status, body, headers)
  if (wrong !== undefined) {
    const detail = wrong.detail === undefined ? '' : `: ${wrong.detail}`
    return fail(
      `mismatch:${wrong.kind}`,
      `the answer's ${wrong.kind} was not the expected one${detail} (status ${status})`,
    )
  }
  const length = Buffer.byteLength(body)
  state.tick++
  state.tickBytes += length
  if (!state.counting) return
  state.done++
  state.bytes += length
}

interface Difference {
  readonly kind: string
  readonly detail?: string
}

/**
 * How an answer differs from the expectation, in the engine's terms. Autocannon decodes bodies as
 * text. A binary body has replacement characters, so only its status and headers are compared.
 */
function difference(
  expect: Expect,
  status: number,
  body: string,
  headers: Record<string, string | string[]>,
): Difference | undefined {
  if (status !== (expect.status ?? 200)) return { kind: 'status' }
  if (!body.includes('\uFFFD')) {
    if (expect.length !== undefined && Buffer.byteLength(body) !== expect.length) return { kind: 'length' }
    if (expect.body !== undefined && body !== expect.body) return { kind: 'body' }
    if (expect.sha256 !== undefined && createHash('sha256').update(body).digest('hex') !== expect.sha256)
      return { kind: 'body' }
    if (expect.json !== undefined && !holds(expect.json, body)) return { kind: 'json' }
  } else if (expect.body !== undefined || expect.json !== undefined) return { kind: 'body' }
  return headerDifference(expect, headers)
}

function headerDifference(
  { headers: wanted = [], otherHeaders }: Expect,
  headers: Record<string, string | string[]>,
): Difference | undefined {
  const found = new Map(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), [value].flat().join(', ')] as const),
  )
  const shown = (value: string | null) => (value === null ? 'missing' : JSON.stringify(value))
  const detail = (name: string, value: string | null): Difference => ({
    kind: 'header',
    detail: `its ${name} is ${shown(found.get(name) ?? null)}, expected ${shown(value)}`,
  })
  for (const [name, value] of wanted) if ((found.get(name) ?? null) !== value) return detail(name, value)
  if (otherHeaders === undefined) return undefined
  const known = new Set([...otherHeaders, ...wanted.map(([name]) => name)])
  const other = [...found.keys()].find((name) => !known.has(name))
  return other === undefined ? undefined : detail(other, null)
}

/** JSON pointer: RFC 6901. */
function holds({ pointer, equals }: NonNullable<Expect['json']>, body: string): boolean {
  try {
    const keys = pointer.split('/').slice(1)
    const names = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    const value = names.reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], JSON.parse(body))
    return JSON.stringify(value) === JSON.stringify(equals)
  } catch {
    return false
  }
}

function fail(kind: string, what: string, count = 1): void {
  if (count <= 0) return
  state.failures[kind] = (state.failures[kind] ?? 0) + count
  state.firstProblem ??= what
}

function tick(at: number): Tick {
  const found: Tick = { type: 'tick', at, done: state.tick, failed: 0, bytes: state.tickBytes, p50: 0, p99: 0, max: 0 }
  state.tick = state.tickBytes = 0
  return found
}

function result(job: LoadJob, found: Found, seconds: number, cpu: NodeJS.CpuUsage): LoadResult {
  const broken = found.errors - found.timeouts
  fail('timeout', 'no answer in time', found.timeouts)
  fail('broken', 'a connection broke', broken)
  fail('closed', 'the server closed a connection', state.sockets - job.connections - found.errors)
  const failed = Object.values(state.failures).reduce((sum, count) => sum + count, 0)
  const [user, system] = [cpu.user / 1e6, cpu.system / 1e6]
  return {
    type: 'result',
    seconds,
    done: state.done,
    perSecond: seconds > 0 ? state.done / seconds : 0,
    bytes: state.bytes,
    statuses: state.statuses,
    failures: state.failures,
    failed,
    queued: 0,
    unsent: 0,
    unfinished: 0,
    late: 0,
    connects: state.sockets,
    connectFailures: 0,
    firstProblem: state.firstProblem,
    latency: nothing,
    pacing: null,
    generator: {
      userSeconds: user,
      systemSeconds: system,
      busy: Math.min(1, (user + system) / Math.max(seconds, 0.001)),
    },
  }
}

/** No latencies, since they would be misleading. */
const nothing: Distribution = {
  count: 0,
  mean: 0,
  stdev: 0,
  min: 0,
  p50: 0,
  p75: 0,
  p90: 0,
  p99: 0,
  p999: 0,
  max: 0,
  buckets: [],
}

function print(line: Tick | LoadResult): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}
