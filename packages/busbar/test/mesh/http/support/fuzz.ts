import type { Told } from './program.ts'

/** Seeded random numbers (mulberry32), so that a failure can be reproduced. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** An integer from 0 to `below`, exclusive. */
  roll(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }

  pick<T>(from: readonly T[]): T {
    return from[this.roll(from.length)]!
  }

  chance(percent: number): boolean {
    return this.roll(100) < percent
  }
}

/** A call, and what the program is to do with it. Plain data, for every client. */
export interface Scene {
  readonly method: string
  readonly path: string
  readonly headers: [string, string][]
  readonly body: { readonly kind: 'none' | 'text' | 'bytes' | 'stream'; readonly size: number }
  readonly reading: 'text' | 'json' | 'arrayBuffer' | 'bytes' | 'stream' | 'late' | 'clone'
}

const statuses = [200, 200, 200, 200, 201, 202, 204, 205, 206, 304, 400, 404, 409, 500, 503]
const sizes = [0, 1, 2, 17, 1000, 16_384, 65_535, 65_536, 65_537, 200_000]

export function drawScene(dice: Dice): Scene {
  const method = dice.pick(['GET', 'GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])
  const mayHaveBody = method !== 'GET' && method !== 'HEAD'
  const headers = Array.from({ length: dice.roll(4) }, (_, at): [string, string] => [
    dice.pick([`X-${at}`, `accept`, `x-${at}-b`]),
    dice.pick(['', 'plain', 'with space', 'caf\u00e9', '"quoted"', 'a,b']),
  ])
  return {
    method,
    path: `/as-told?how=${encodeURIComponent(JSON.stringify(drawTold(dice)))}`,
    headers: [
      ...new Map(headers.map(([name, value]) => [name.toLowerCase(), [name, value] as [string, string]])).values(),
    ],
    body: { kind: mayHaveBody ? dice.pick(['none', 'text', 'bytes', 'stream']) : 'none', size: dice.pick(sizes) },
    reading: dice.pick(['text', 'json', 'arrayBuffer', 'bytes', 'stream', 'late', 'clone']),
  }
}

function drawTold(dice: Dice): Told {
  const chunks = Array.from({ length: dice.roll(5) }, () => ({
    size: dice.pick(sizes),
    wait: dice.chance(40),
    text: dice.chance(40),
  }))
  const headers: Told['headers'] = {}
  if (dice.chance(30))
    headers['content-type'] = dice.pick(['text/plain', 'application/json', 'text/html; charset=utf-8'])
  if (dice.chance(30)) headers['set-cookie'] = ['a=1', 'b=2']
  if (dice.chance(20)) headers['x-latin'] = 'na\u00efve'
  return { status: dice.pick(statuses), headers, chunks, early: false }
}
