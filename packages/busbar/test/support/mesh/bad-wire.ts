import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLink } from '../../../src/mesh/links/live-link.ts'
import type { LinkOptions, Link } from '../../../src/mesh/links/link.ts'
import type { HandshakeResult } from '../../../src/mesh/transports/socket.ts'
import { dialUnix, listenUnix } from '../../../src/mesh/transports/unix.ts'
import type { SeededRandom } from '../seeded-random.ts'

/** How the connection treats its bytes. */
export type Delivery =
  /** Delivers every byte separately. */
  | 'sliced'
  /** Delivers slices of random size, each with a delay. */
  | 'delayed'
  | 'normal'

/**
 * Two workers with an unreliable socket between them. The test cuts, stops, delays or slices it.
 */
export class BadWire implements AsyncDisposable {
  readonly near: Link
  readonly far: Link
  readonly #sockets: readonly [Socket, Socket]
  readonly #server: Server
  readonly #folder: string

  private constructor(links: [Link, Link], sockets: [Socket, Socket], server: Server, folder: string) {
    ;[this.near, this.far] = links
    this.#sockets = sockets
    this.#server = server
    this.#folder = folder
  }

  /** `near` is worker 1, and `far` worker 2. */
  static async between(near: End, far: End, delivery: Delivery = 'normal', chance?: SeededRandom): Promise<BadWire> {
    const folder = await mkdtemp(join(tmpdir(), 'busbar-wire-'))
    const [front, back] = [join(folder, 'front'), join(folder, 'back')]
    const taken = Promise.withResolvers<HandshakeResult>()
    const listener = await listenUnix(back, { worker: 2, secret: 's' }, (greeted) => taken.resolve(greeted))
    const joined = Promise.withResolvers<[Socket, Socket]>()
    const server = createServer((one) => {
      const other = connect({ path: back })
      for (const [from, to] of [
        [one, other],
        [other, one],
      ] as const)
        carry(from, to, delivery, chance)
      joined.resolve([one, other])
    })
    await once(server.listen({ path: front }), 'listening')
    const [dialled, accepted] = await Promise.all([dialUnix(front, { worker: 1, secret: 's' }), taken.promise])
    await listener.close()
    const links: [Link, Link] = [
      createLink(dialled.transport, { peer: 2, ...near }),
      createLink(accepted.transport, { peer: 1, ...far }),
    ]
    return new BadWire(links, await joined.promise, server, folder)
  }

  /** The ends see it only by their sockets. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Makes it half-open: both ends look open, and nothing gets through. */
  stop(): void {
    for (const socket of this.#sockets) socket.pause()
  }

  go(): void {
    for (const socket of this.#sockets) socket.resume()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of [this.near, this.far]) link.close({ code: 'CALL_ABORTED', message: 'the test is over' })
    this.cut()
    await new Promise((resolve) => this.#server.close(resolve))
    await rm(this.#folder, { recursive: true })
  }
}

type End = Omit<LinkOptions, 'peer'>

function carry(from: Socket, to: Socket, delivery: Delivery, chance: SeededRandom | undefined): void {
  let before = Promise.resolve()
  from.on('data', (slice: Buffer) => {
    if (delivery === 'normal') {
      // Passes on backpressure.
      if (!to.write(slice)) from.pause()
      return
    }
    before = before.then(() => inSlices(slice, to, delivery, chance!))
  })
  to.on('drain', () => from.resume())
  from.on('error', () => to.destroy())
  from.on('close', () => to.destroy())
}

async function inSlices(bytes: Buffer, to: Socket, delivery: Delivery, chance: SeededRandom): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const size = delivery === 'sliced' ? 1 : 1 + chance.below(bytes.length)
    to.write(bytes.subarray(at, at + size))
    at += size
    // Waits for a turn of the event loop, so that the other end gets it as a slice of its own.
    await new Promise<void>((resolve) =>
      delivery === 'delayed' ? setTimeout(resolve, chance.below(3)) : setImmediate(resolve),
    )
  }
}
