import type { StoredOwnSpan, StoredSpan, StoredTrace } from './trace-store.ts'

/** One call of a trace. Times are milliseconds. */
export interface Hop {
  /** Of its span. */
  readonly id: string
  /** All of its spans: a program's own have one of these as their parent. */
  readonly spans: readonly string[]
  /** The hop that caused it. Null: none that was recorded. */
  readonly parent: string | null
  /** The span of the service's own in which it was made. Null: none. */
  readonly within: string | null
  readonly depth: number
  /** Null: outside the app. */
  readonly caller: string | null
  readonly service: string
  readonly protocol: 'http' | 'rpc'
  readonly method: string
  readonly path: string | null
  /** By which it is counted. Null: none, or typed. */
  readonly route: string | null
  readonly transport: string | null
  /** Of the caller, and of the instance. */
  readonly workers: readonly string[]
  /** Since the start of the trace. */
  readonly start: number
  readonly duration: number
  /** Waiting before the service's code ran. */
  readonly queue: number
  /** Under way between caller and instance. Null: only one side is known. */
  readonly wire: number | null
  /** In the service's code. */
  readonly run: number | null
  readonly sent: number
  readonly received: number
  /** Null: no complete response. */
  readonly status: number | null
  /** How often it was sent: more than once if it was retried. */
  readonly attempts: number
}

/** The calls of a trace in the order in which they caused each other. */
export function waterfallOf({ spans, own }: StoredTrace): Hop[] {
  const joined = join(spans)
  const start = Math.min(...spans.map((span) => span.start))
  const bySpan = new Map(joined.flatMap((one) => [one.main, ...one.answers].map(({ id }) => [id, one] as const)))
  const owns = new Map(own.map((one) => [one.id, one]))
  const parentOf = ({ main }: Joined): Joined | undefined => enclosing(main.parent, bySpan, owns)
  const children = Map.groupBy(joined, parentOf)
  const hops: Hop[] = []
  const seen = new Set<Joined>()
  // Spans that are each other's parents come last. No honest worker sends them.
  const waiting = [...inOrder(children.get(undefined)), ...inOrder(joined)].map((one) => ({ one, depth: 0 }))
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { one, depth } = next
    if (seen.has(one)) continue
    seen.add(one)
    hops.push(hopOf(one, { parent: parentOf(one), within: owns.get(one.main.parent ?? '')?.id }, depth, start))
    waiting.unshift(...inOrder(children.get(one)).map((child) => ({ one: child, depth: depth + 1 })))
  }
  return hops
}

/** The call that encloses a span of a service, at any depth. */
export function enclosing<T>(
  span: string | undefined,
  calls: ReadonlyMap<string, T>,
  owns: ReadonlyMap<string, Pick<StoredOwnSpan, 'parent'>>,
): T | undefined {
  // They may lead in a circle: what services send is not trusted.
  const seen = new Set<string>()
  for (let at = span; at !== undefined && !seen.has(at); at = owns.get(at)?.parent) {
    const call = calls.get(at)
    if (call !== undefined) return call
    seen.add(at)
  }
  return undefined
}

/** Both sides of a call. */
interface Joined {
  /** The whole call, or else what is known of it. */
  readonly main: StoredSpan
  readonly answers: readonly StoredSpan[]
}

function join(spans: readonly StoredSpan[]): Joined[] {
  const calls = new Set(spans.filter(({ part }) => part === 'call').map(({ id }) => id))
  const isOfCall = ({ part, parent }: StoredSpan): boolean =>
    part === 'answer' && parent !== undefined && calls.has(parent)
  const answers = Map.groupBy(spans.filter(isOfCall), ({ parent }) => parent)
  return spans
    .filter((span) => !isOfCall(span))
    .map((main) => ({ main, answers: main.part === 'call' ? inTime(answers.get(main.id)) : [] }))
}

function hopOf(
  { main, answers }: Joined,
  { parent, within }: { parent: Joined | undefined; within: string | undefined },
  depth: number,
  start: number,
): Hop {
  // Of several answers, the last one has ended the call.
  const answer = answers.at(-1)
  // A caller that has left does not know how long its call still waits.
  const queue = Math.min(main.duration, main.queue + (answer?.queue ?? 0))
  const isWhole = main.part === 'answer' || main.transport === 'local'
  const known = answer ?? (isWhole ? main : undefined)
  // A caller that does not know the transport does not count the call: the instance does.
  const { status } = main.transport === undefined ? (answer ?? main) : main
  return {
    id: main.id,
    spans: [main, ...answers].map(({ id }) => id),
    parent: parent?.main.id ?? null,
    within: within ?? null,
    depth,
    caller: main.caller ?? null,
    service: main.service,
    protocol: main.protocol,
    method: main.method,
    path: main.path ?? null,
    route: main.route ?? null,
    transport: main.transport ?? answer?.transport ?? null,
    workers: [...new Set([main.worker, ...answers.map(({ worker }) => worker)])],
    start: main.start - start,
    duration: main.duration,
    queue,
    wire: answer !== undefined ? Math.max(0, main.duration - main.queue - answer.duration) : isWhole ? 0 : null,
    run: known === undefined ? null : known.duration - known.queue,
    sent: Math.max(main.sent, answer?.sent ?? 0),
    received: Math.max(main.received, answer?.received ?? 0),
    status: status === 0 ? null : status,
    attempts: Math.max(main.retries + 1, answers.length),
  }
}

function inTime(spans: readonly StoredSpan[] = []): StoredSpan[] {
  return spans.toSorted((one, other) => one.start - other.start)
}

function inOrder(joined: readonly Joined[] = []): Joined[] {
  return joined.toSorted((one, other) => one.main.start - other.main.start)
}

export interface TraceSummary {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly start: number
  readonly duration: number
  /** The first call. */
  readonly first: Pick<Hop, 'caller' | 'service' | 'method' | 'path' | 'status'>
  readonly hops: number
  readonly failed: number
  readonly services: readonly string[]
}

export function summaryOf(trace: StoredTrace): TraceSummary {
  const hops = waterfallOf(trace)
  const { caller, service, method, path, status } = hops[0]!
  return {
    id: trace.id,
    start: Math.min(...trace.spans.map((span) => span.start)),
    duration: Math.max(...hops.map((hop) => hop.start + hop.duration)),
    first: { caller, service, method, path, status },
    hops: hops.length,
    failed: hops.filter((hop) => hop.status === null || hop.status >= 500).length,
    services: [...new Set(hops.map((hop) => hop.service))],
  }
}
