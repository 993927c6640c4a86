import { deepStrictEqual, ok } from 'node:assert/strict'
import { Writable } from 'node:stream'
import { after, before, test } from 'node:test'
import {
  loadInstalled,
  ProgramFolder,
  type Answer,
  type Undici,
  type UndiciDispatcher,
  type Version,
} from '../copies.ts'
import { comparableHeaders, openSides, type Side, type Sides } from '../mesh-and-tcp.ts'
import { isOn } from '../../../../support/mesh/accelerators.ts'

/** A copy of undici, and the program's address for it. */
export interface Caller {
  readonly undici: Undici
  readonly side: Side
  /** Added to the options of every call. */
  readonly extra: object
}

export type Way = 'wrapped' | 'by dispatcher' | 'wrapped, to the network' | 'by an agent of its own'

/**
 * For tests in which the owner of the global dispatcher matters: a copy outside the mesh then uses
 * the built-in one.
 */
export const ownDispatcher: readonly Way[] = ['wrapped', 'wrapped, to the network']
export const allWays: readonly Way[] = ['wrapped', 'by dispatcher', 'wrapped, to the network']
/** Over connections, which look the same whatever undici makes of the options. */
const onConnections: readonly Way[] = ['by an agent of its own']

/**
 * One version, reached in all ways. Each must look like that version over a connection of its own.
 */
export interface Bench {
  readonly sides: Sides
  /** Loaded before the mesh, which captures only its dispatchers. */
  readonly early: Undici
  /** Loaded after the mesh, whose hooks have seen it. */
  readonly late: Undici
  readonly folder: ProgramFolder
  readonly same: (name: string, observe: (caller: Caller) => unknown, ways?: readonly Way[]) => void
}

/** Registers hooks in the suite that calls it. */
export function openBench(version: Version): Bench {
  const early = loadInstalled(version)
  const folder = new ProgramFolder(version)
  let late: Undici
  let agent: UndiciDispatcher
  let own: UndiciDispatcher
  let sides: Sides
  before(async () => {
    sides = await openSides()
    late = folder.load()
    agent = new early.Agent()
    own = new late.Agent()
  })
  after(async () => {
    // Without `exchange` all copies behave the same.
    const dispatchers = new Set([agent, own, late.getGlobalDispatcher(), early.getGlobalDispatcher()])
    for (const dispatcher of dispatchers) await dispatcher.close()
    await sides[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })
  const callerOf = (way: Way | 'reference'): Caller => {
    if (way === 'by an agent of its own') return { undici: late, side: sides.mesh, extra: { dispatcher: own } }
    const side = way === 'wrapped' || way === 'by dispatcher' ? sides.mesh : sides.tcp
    // Then nothing is between the copies and the dispatcher that they share with Node.
    const isPlain = way === 'reference' || !isOn('exchange')
    if (isPlain) return { undici: early, side, extra: { dispatcher: agent } }
    return { undici: way === 'by dispatcher' ? early : late, side, extra: {} }
  }
  return {
    early,
    folder,
    get late() {
      return late
    },
    get sides() {
      return sides
    },
    same(name, observe, ways = allWays) {
      test(name, async () => {
        const reference = await observe(callerOf('reference'))
        ok(reference !== undefined)
        for (const way of [...ways, ...onConnections]) deepStrictEqual(await observe(callerOf(way)), reference, way)
      })
    },
  }
}

export function request({ undici, side, extra }: Caller, path: string, options: object = {}): Promise<Answer> {
  const { path: own, ...rest } = options as { path?: string }
  return undici.request(side.at + (own ?? path), { ...extra, ...rest })
}

export function headOf(answer: Answer): unknown {
  const { statusCode, statusText, opaque } = answer
  const headers = comparableHeaders(Object.entries(answer.headers))
  return { keys: Object.keys(answer), statusCode, statusText, opaque, headers }
}

const slots = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')]

/** Restores the global dispatchers. */
export function keepGlobalDispatchers(): Disposable {
  const kept = slots.map((slot) => [slot, Reflect.get(globalThis, slot) as unknown] as const)
  return {
    [Symbol.dispose]() {
      for (const [slot, dispatcher] of kept) Reflect.set(globalThis, slot, dispatcher)
    },
  }
}

/** Collects what is written to it, with a configurable delay. */
export class Collector extends Writable {
  readonly #chunks: Buffer[] = []
  readonly #delay: number | undefined

  constructor(delay?: number) {
    super()
    this.#delay = delay
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk)
    if (this.#delay === undefined) done()
    else setTimeout(done, this.#delay)
  }
}
