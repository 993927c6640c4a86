import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { CallOptions, Caller, Case } from './case.ts'
import type { ProgramLog } from './program-log.ts'
import type { Head } from './recording.ts'
import type { Result } from './run-case.ts'

/** A program of random steps and a random caller. The same seed gives the same case. */
export function randomCase(seed: number): Case {
  const random = new Random(seed)
  const steps = Array.from({ length: 1 + random.below(10) }, () => random.pick(kinds)(random))
  const reads = random.pick(['at once', 'at once', 'never', 'late'] as const)
  const options = randomCall(random)
  const uploads = options.streamed === true ? Array.from({ length: random.below(6) }, () => random.bytes()) : []
  return {
    name: `seed ${seed}`,
    program: (log) =>
      createServer((request, response) => {
        const mark = log.watch(request, response)
        if (reads === 'at once') request.resume()
        else if (reads === 'late') setImmediate(() => request.resume())
        void log.during(take(steps, request, response, { add: (event) => log.add(`${mark}${event}`) }))
      }),
    call: (caller, log) => call(caller, log, options, uploads),
  }
}

type Log = Pick<ProgramLog, 'add'>

type Step = (response: ServerResponse, log: Log, request: IncomingMessage) => unknown

async function take(
  steps: readonly Step[],
  request: IncomingMessage,
  response: ServerResponse,
  log: Log,
): Promise<void> {
  for (const [index, step] of [...steps, finish].entries()) {
    try {
      await step(response, log, request)
    } catch (error) {
      log.add(`step ${index} throws ${(error as { code?: string }).code}`)
      if (step === finish) response.destroy()
    }
  }
}

/** Ends everything that is still open, so that no case waits for a timeout. */
function finish(response: ServerResponse): void {
  if (!response.writableEnded && !response.destroyed) response.end()
}

/** A program's next step. `undefined` steps follow in the same tick. */
const kinds: readonly ((random: Random) => Step)[] = [
  (random) => {
    const [name, value] = [random.pick(names), random.pick(values)]
    return (response) => void response.setHeader(name, value)
  },
  (random) => {
    const name = random.pick([...names, 'Date', 'Connection'])
    return (response) => response.removeHeader(name)
  },
  (random) => {
    const status = random.pick([200, 200, 201, 204, 206, 304, 404, 500])
    const headers = random.pick([
      undefined,
      { 'X-W': 'w' },
      ['X-W', 'w', 'X-W', 'v'],
      { Trailer: 'X-T' },
      { 'X-V': ['a', 'b'] },
    ])
    return (response) => void response.writeHead(status, headers as string[])
  },
  ...Array.from({ length: 3 }, () => (random: Random): Step => {
    const chunk = random.bytes()
    const isText = random.below(2) === 0
    const encoding = random.pick(['utf8', 'latin1', 'utf16le'] as const)
    return (response) => {
      if (response.destroyed || response.writableEnded) return
      if (isText) response.write(chunk.toString('latin1'), encoding)
      else response.write(chunk)
    }
  }),
  () => (response) => response.flushHeaders(),
  () => (response) => response.writeEarlyHints({ link: '</a.css>; rel=preload' }),
  () => (response) => response.addTrailers({ 'X-T': 'v' }),
  () => (response) => void (response.sendDate = false),
  // If a program closes during an upload, the system resets the connection, and the response may be
  // lost.
  () => (response, _, request) => void (response.shouldKeepAlive = isUpload(request)),
  () => async () => nextTurn(),
  () => async () => undefined,
  (random) => {
    const turns = random.below(4)
    return async () => {
      for (let turn = 0; turn < turns; turn++) await nextTurn()
    }
  },
  (random) => {
    const chunk = random.bytes()
    return (response) => void (response.writableEnded || response.end(chunk))
  },
  (random) =>
    random.below(3) === 0
      ? (response) => void (response.writableEnded || response.destroy())
      : (response) => void response.end(),
]

function isUpload({ headers }: IncomingMessage): boolean {
  return 'transfer-encoding' in headers || 'content-length' in headers
}

const names = ['X-A', 'x-b', 'Content-Type', 'Set-Cookie', 'Cache-Control', 'Vary', 'Keep-Alive', 'Trailer']
const values = ['1', 'text/plain; charset=utf-8', ['a', 'b'], '', 'é', ' spaced ', 'close', 'x'.repeat(300)]

function randomCall(random: Random): CallOptions {
  const method = random.pick(['GET', 'GET', 'GET', 'HEAD', 'POST', 'POST', 'PUT', 'DELETE'])
  const slow = random.below(4) === 0
  const connection = random.pick(['keep-alive', 'keep-alive', 'keep-alive', 'close'])
  const base = { method, slow, headers: random.below(2) === 0 ? ['X-Q', 'q', 'X-Q', 'r'] : [] }
  if (method !== 'POST' && method !== 'PUT') return { ...base, connection }
  return random.below(2) === 0 ? { ...base, body: random.bytes() } : { ...base, streamed: true }
}

async function call(caller: Caller, log: ProgramLog, options: CallOptions, uploads: readonly Buffer[]): Promise<void> {
  const { body } = options
  const length = body === undefined ? [] : ['Content-Length', String(body.length)]
  const headers = [...(options.headers ?? []), ...length]
  const one = options.streamed === true ? caller.stream(options) : caller.open({ ...options, headers })
  if (options.streamed === true) {
    for (const chunk of uploads) await one.write(chunk)
    one.end()
  }
  if (options.slow === true) {
    await one.recording.head()
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    one.resume()
  }
  const { head } = await one.outcome()
  await log.until('response close')
  // A client that reuses a connection which is about to close is disconnected, in all ways.
  const isKept = log.events.includes('response finish') && head !== undefined && isKeepable(head)
  await caller.send({ path: '/second', connection: isKept ? 'keep-alive' : 'close' })
}

/**
 * Whether the client keeps the connection. Node's client closes it after a response to HEAD without
 * a length, as if that ended with the connection. Over a system socket the program usually ends its
 * response before it sees that; in memory it sees it at once (seed 7368).
 */
function isKeepable({ status, rawHeaders }: Pick<Head, 'status' | 'rawHeaders'>): boolean {
  const isFramed = rawHeaders.includes('Content-Length') || rawHeaders.includes('Transfer-Encoding')
  return rawHeaders.includes('keep-alive') && (isFramed || status === 204 || status === 304)
}

/** mulberry32 */
class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit
  }

  pick<Item>(items: readonly Item[]): Item {
    return items[this.below(items.length)]!
  }

  bytes(): Buffer {
    return Buffer.alloc(this.pick([0, 1, 5, 100, 5_000, 70_000, 200_000]), 97 + this.below(26))
  }
}

/**
 * The part of a random case that must be equal. When two emitters emit in the same turn, their
 * order depends on how old the connection is, over TCP too. How much arrives before a cut, in
 * either direction, is a matter of buffers, and so is an upload to a program that closes.
 */
export function comparable({ caller, program }: Result): unknown {
  const isCut = caller.map(({ end }) => end !== 'complete')
  const closes = caller.map(({ head }, index) => isCut[index] || !isKeepable(head!))
  const isEqual = (event: string): boolean => {
    const call = event.startsWith('2: ') ? 1 : 0
    if (event.includes('request')) return !closes[call]
    return !(closes[call] && event.includes('response finish'))
  }
  const grouped = Map.groupBy(program.filter(isEqual), emitterOf)
  return {
    caller: caller.map((outcome, index) => (isCut[index] ? { end: outcome.end } : outcome)),
    program: [...grouped].toSorted(([one], [other]) => one.localeCompare(other)),
  }
}

function emitterOf(event: string): string {
  return /^(\d+: )?(request|response)?/.exec(event)![0]
}
