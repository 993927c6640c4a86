/**
 * The calls that one worker counts, by edge (who calls whom, what, and over which transport) and by
 * outcome (their status, the worker that made them, and the one that answered): a part of its block
 * in `instance-table.ts`.
 *
 *     edges │ outcomes │ … padding to 128 bytes │ edge 0 │ edge 1 │ … │ outcome 0 │ outcome 1 │ …
 *
 *     edge    │ caller + 1 │ callee + 1 │ kind │ begun │ over │ retries │ bytes of the name │ name … │
 *     outcome │ edge │ status │ count │ accounted │ milliseconds │ last bucket │ caller │ callee │ buckets … │
 *
 * Counts are exact. Durations may be a sample: a measured call stands for all calls of its outcome
 * since the one measured before, so that the buckets together catch up with the count. The buckets
 * are those of `latency-buckets.ts`. Edges and outcomes are only ever added.
 */
import { edge, EdgeCells, outcome, OutcomeCells, outcomeHead } from './edge-cells.ts'
import { callerOf, calleeOf, noWorker, pairOf } from './worker-pair.ts'
import { bucketCount } from './latency-buckets.ts'

const headCells = 32
const edgeCells = 48
const outcomeCells = outcomeHead + Math.ceil(bucketCount / 8) * 8
const head = { edges: 0, outcomes: 1 } as const
const counters: ReadonlySet<number> = new Set([edge.begun, edge.over, edge.retries])
const nameBytes = (edgeCells - edge.name) * Uint32Array.BYTES_PER_ELEMENT

/** The last edge collects everything beyond these limits. */
const edgeLimit = 128
const outcomeLimit = 512
/** Of the last edge: calls without a status, and each class of statuses, from 1xx to 9xx. */
const lastOutcomes = 10
/** From here on, new methods and routes of a pair are one edge, and statuses of a class one. */
const detailedEdges = edgeLimit * 0.75
const detailedOutcomes = outcomeLimit * 0.75
/** From here on, new outcomes do not distinguish workers, so that these leave room for statuses. */
const workerOutcomes = outcomeLimit * 0.5

/** The number of a callee that the app's services do not list. Its name precedes the method. */
const elsewhere = 0

/** In cells. */
export const edgeTableCells = headCells + edgeLimit * edgeCells + outcomeLimit * outcomeCells

/** How a call gets to its instance. */
export type Transport = (typeof transports)[number]
const transports = ['local', 'thread', 'unix', 'tcp', 'tls', 'nats'] as const

export function isTransport(value: unknown): value is Transport {
  return (transports as readonly unknown[]).includes(value)
}

/** The caller of calls from outside: clients of the gateway, and code outside any service. */
export const outside = ''
/** Both caller and callee of the edges beyond the limit. */
export const others = '*'
/** The method of all calls of a pair whose methods and routes are not distinguished. */
export const otherMethods = '*'
/** The status of a call without a complete response. */
export const noStatus = 0

export interface EdgeKey {
  /** A service, {@link outside} or {@link others}. */
  readonly caller: string
  readonly callee: string
  readonly protocol: 'http' | 'rpc'
  /** Of HTTP, or of the contract. */
  readonly method: string
  /** The route of the gateway; '' for calls between services. */
  readonly route: string
  readonly transport: Transport
}

const beyondLimits: EdgeKey = {
  caller: others,
  callee: others,
  protocol: 'http',
  method: otherMethods,
  route: '',
  transport: 'local',
}

/** An edge, as read. The counters wrap. */
export interface EdgeCounts {
  readonly begun: number
  readonly over: number
  /** How often calls were sent again. */
  readonly retries: number
}

/** The calls of one edge with the same status and workers, as read. The counters wrap. */
export interface OutcomeCounts {
  /** The number of the edge. */
  readonly edge: number
  /** {@link noStatus}, a status of HTTP, or a class of them: 4 for 4xx. */
  readonly status: number
  /** The workers that made and answered them: of `pairOf`. */
  readonly pair: number
  readonly count: number
  /** Milliseconds of all calls together. */
  readonly sum: number
  /** The bucket of the last measured call. */
  readonly last: number
  /** By bucket of `latency-buckets.ts`. Together they may lag behind `count`. */
  readonly buckets: Uint32Array
}

type OutcomeKey = Pick<OutcomeCounts, 'edge' | 'status' | 'pair'>

export class EdgeTable {
  readonly #services: readonly string[]
  /** The numbers of {@link outside} and {@link others}, beyond those of all services. */
  readonly #outside: number
  readonly #others: number
  readonly #cells: Uint32Array

  /** `services` may grow, up to `places`. */
  constructor(services: readonly string[], cells: Uint32Array, places: number) {
    this.#services = services
    this.#outside = places + 1
    this.#others = places + 2
    this.#cells = cells
  }

  get edges(): number {
    return Atomics.load(this.#cells, head.edges)
  }

  get outcomes(): number {
    return Atomics.load(this.#cells, head.outcomes)
  }

  /** In cells, from the start of the table. Nothing was written behind them. */
  get used(): number {
    return outcomeStart(this.outcomes)
  }

  /** For the writing worker, which calls it once for each key. */
  add(key: EdgeKey): EdgeCells {
    const { edges } = this
    const wanted = edges < detailedEdges ? key : { ...key, method: otherMethods, route: '' }
    const at = this.#find(wanted) ?? (edges < edgeLimit - 1 ? this.#append(wanted) : this.#beyond())
    return new EdgeCells(this.#cells, edgeStart(at), (...of) => this.#addOutcome(at, ...of))
  }

  /** The calls of a service to typed services that are not over. */
  typedInFlightOf(caller: string): number {
    const wanted = this.#numberOf(caller)
    let inFlight = 0
    for (let at = 0; at < this.edges; at++) {
      const cells = this.#edgeAt(at)
      if (cells[edge.caller] === wanted && isTyped(cells)) inFlight += (cells[edge.begun]! - cells[edge.over]!) >>> 0
    }
    return inFlight
  }

  /** For a copy, which may have begun before the last ones were complete. */
  limitTo(edges: number, outcomes: number): void {
    this.#cells[head.edges] = edges
    this.#cells[head.outcomes] = outcomes
  }

  keyOf(at: number): EdgeKey {
    const cells = this.#edgeAt(at)
    const kind = cells[edge.kind]!
    const name = Buffer.from(cells.buffer, cells.byteOffset + edge.name * 4, cells[edge.nameLength]).toString()
    const words = name.split(' ')
    return {
      caller: this.#nameOf(cells[edge.caller]!),
      callee: cells[edge.callee] === elsewhere ? words.shift()! : this.#nameOf(cells[edge.callee]!),
      protocol: isTyped(cells) ? 'rpc' : 'http',
      method: words[0] ?? '',
      route: words.slice(1).join(' '),
      transport: transports[kind >>> 1] ?? 'local',
    }
  }

  countsOf(at: number): EdgeCounts {
    const cells = this.#edgeAt(at)
    return { begun: cells[edge.begun]!, over: cells[edge.over]!, retries: cells[edge.retries]! }
  }

  /** The buckets are the table's own memory. */
  outcomeOf(at: number): OutcomeCounts {
    const cells = this.#outcomeAt(at)
    return {
      edge: cells[outcome.edge]!,
      status: cells[outcome.status]!,
      pair: pairOf(cells[outcome.caller]!, cells[outcome.callee]!),
      count: cells[outcome.count]!,
      sum: cells[outcome.sum]!,
      last: cells[outcome.last]!,
      buckets: cells.subarray(outcomeHead, outcomeHead + bucketCount),
    }
  }

  #edgeAt(at: number): Uint32Array {
    return this.#cells.subarray(edgeStart(at), edgeStart(at + 1))
  }

  #outcomeAt(at: number): Uint32Array {
    return this.#cells.subarray(outcomeStart(at), outcomeStart(at + 1))
  }

  #append(key: EdgeKey): number {
    const { edges } = this
    this.#write(this.#edgeAt(edges), key)
    Atomics.store(this.#cells, head.edges, edges + 1)
    return edges
  }

  /** The edge of everything beyond the limits, for which there is always room. */
  #beyond(): number {
    return this.#find(beyondLimits) ?? this.#append(beyondLimits)
  }

  /** `bucket`: for its first calls, if they are not measured. */
  #addOutcome(of: number, status: number, pair: number, bucket: number): OutcomeCells {
    const { outcomes } = this
    const statusClass = status < 100 ? status : Math.floor(status / 100)
    const detailed = {
      edge: of,
      status: outcomes < detailedOutcomes ? status : statusClass,
      pair: outcomes < workerOutcomes ? pair : noWorker,
    }
    const known = this.#findOutcome(detailed)
    if (known !== undefined) return this.#outcomeCells(known)
    if (outcomes < outcomeLimit - lastOutcomes) return this.#outcomeCells(this.#appendOutcome(detailed, bucket))
    const last = { edge: this.#beyond(), status: statusClass, pair: noWorker }
    return this.#outcomeCells(this.#findOutcome(last) ?? this.#appendOutcome(last, bucket))
  }

  #outcomeCells(at: number): OutcomeCells {
    return new OutcomeCells(this.#cells, outcomeStart(at))
  }

  #findOutcome({ edge: of, status, pair }: OutcomeKey): number | undefined {
    for (let at = 0; at < this.outcomes; at++) {
      const known = this.outcomeOf(at)
      if (known.edge === of && known.status === status && known.pair === pair) return at
    }
    return undefined
  }

  #appendOutcome({ edge: of, status, pair }: OutcomeKey, bucket: number): number {
    const { outcomes } = this
    const cells = this.#outcomeAt(outcomes)
    cells[outcome.edge] = of
    cells[outcome.status] = status
    cells[outcome.caller] = callerOf(pair)
    cells[outcome.callee] = calleeOf(pair)
    cells[outcome.last] = bucket
    Atomics.store(this.#cells, head.outcomes, outcomes + 1)
    return outcomes
  }

  #find(key: EdgeKey): number | undefined {
    const wanted = new Uint32Array(edgeCells)
    this.#write(wanted, key)
    for (let at = 0; at < this.edges; at++) {
      const cells = this.#edgeAt(at)
      if (wanted.every((value, cell) => counters.has(cell) || cells[cell] === value)) return at
    }
    return undefined
  }

  #write(cells: Uint32Array, { caller, callee, protocol, method, route, transport }: EdgeKey): void {
    cells[edge.caller] = this.#numberOf(caller)
    cells[edge.callee] = this.#numberOf(callee)
    const isListed = cells[edge.callee] !== elsewhere
    cells[edge.kind] = transports.indexOf(transport) * 2 + (protocol === 'http' ? 0 : 1)
    // Writes whole characters only.
    const name = Buffer.from(cells.buffer, cells.byteOffset + edge.name * 4, nameBytes)
    const words = [method, ...(route === '' ? [] : [route])]
    cells[edge.nameLength] = name.write((isListed ? words : [callee, ...words]).join(' '))
  }

  /** {@link elsewhere} for a service of another app. */
  #numberOf(name: string): number {
    if (name === others) return this.#others
    return name === outside ? this.#outside : this.#services.indexOf(name) + 1
  }

  #nameOf(number: number): string {
    if (number === this.#others) return others
    return this.#services[number - 1] ?? outside
  }
}

function isTyped(cells: Uint32Array): boolean {
  return cells[edge.kind]! % 2 === 1
}

function edgeStart(at: number): number {
  return headCells + at * edgeCells
}

function outcomeStart(at: number): number {
  return headCells + edgeLimit * edgeCells + at * outcomeCells
}
