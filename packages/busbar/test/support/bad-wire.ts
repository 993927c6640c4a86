import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLink, type LinkOptions } from '../../src/mesh/links/live-link.ts'
import type { Link } from '../../src/mesh/links/link.ts'
import type { Greeted } from '../../src/mesh/transports/socket.ts'
import { dialUnix, listenUnix } from '../../src/mesh/transports/unix.ts'
import type { Chance } from './chance.ts'

/** What the wire does to what it carries. */
export type Mood =
  /** Every byte by itself. */
  | 'sliced'
  /** Slices of any size, each a moment late. */
  | 'late'
  | 'well'

/** Two workers, and between them a socket that is cut, stopped, late, or in slices, as a test says. */
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
  static async between(near: End, far: End, mood: Mood = 'well', chance?: Chance): Promise<BadWire> {
    const folder = await mkdtemp(join(tmpdir(), 'busbar-wire-'))
    const [front, back] = [join(folder, 'front'), join(folder, 'back')]
    const taken = Promise.withResolvers<Greeted>()
    const listener = await listenUnix(back, { worker: 2, secret: 's' }, (greeted) => taken.resolve(greeted))
    const joined = Promise.withResolvers<[Socket, Socket]>()
    const server = createServer((one) => {
      const other = connect({ path: back })
      for (const [from, to] of [
        [one, other],
        [other, one],
      ] as const)
        carry(from, to, mood, chance)
      joined.resolve([one, other])
    })
    await once(server.listen({ path: front }), 'listening')
    const [dialled, accepted] = await Promise.all([dialUnix(front, { worker: 1, secret: 's' }), taken.promise])
    await listener.close()
    const links: [Link, Link] = [
      createLink(dialled.pipe, { peer: 2, ...near }),
      createLink(accepted.pipe, { peer: 1, ...far }),
    ]
    return new BadWire(links, await joined.promise, server, folder)
  }

  /** Neither end hears of it but by its socket. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Both ends look open, and nothing gets through. */
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

function carry(from: Socket, to: Socket, mood: Mood, chance: Chance | undefined): void {
  let before = Promise.resolve()
  from.on('data', (slice: Buffer) => {
    if (mood === 'well') {
      // What the other side does not take is not taken either.
      if (!to.write(slice)) from.pause()
      return
    }
    before = before.then(() => inSlices(slice, to, mood, chance!))
  })
  to.on('drain', () => from.resume())
  from.on('error', () => to.destroy())
  from.on('close', () => to.destroy())
}

async function inSlices(bytes: Buffer, to: Socket, mood: Mood, chance: Chance): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const size = mood === 'sliced' ? 1 : 1 + chance.below(bytes.length)
    to.write(bytes.subarray(at, at + size))
    at += size
    // A turn of the loop is what makes it a slice of its own for the other end.
    await new Promise<void>((resolve) =>
      mood === 'late' ? setTimeout(resolve, chance.below(3)) : setImmediate(resolve),
    )
  }
}
