import { createSocket, type Socket } from 'node:dgram'
import { createServer } from 'node:net'
import { portsPerArm } from '../arm.ts'

/** Below the range from which Linux takes ports for outgoing connections, so that a busy generator takes none of them. */
const first = 20_000
const last = 32_000

let next = first + Math.floor(Math.random() * ((last - first) / portsPerArm)) * portsPerArm

/**
 * As many neighbouring ports of the loopback interface as an arm may use. To look whether a port is free is to take it for a
 * moment, in which the arm of another lab would find it taken. So who looks has the UDP port of the first one's number, which no
 * arm uses, and keeps it until the arm has ended; the kernel takes it back from a lab that is killed.
 */
export class Ports implements AsyncDisposable {
  readonly first: number
  readonly #claim: Socket

  private constructor(first: number, claim: Socket) {
    this.first = first
    this.#claim = claim
  }

  static async claim(): Promise<Ports> {
    for (let attempt = 0; attempt < 200; attempt++) {
      next = next + portsPerArm > last ? first : next + portsPerArm
      const claim = await claimOf(next)
      if (claim === undefined) continue
      const ports = new Ports(next, claim)
      if (await ports.#areFree()) return ports
      await ports[Symbol.asyncDispose]()
    }
    throw new Error(`no ${portsPerArm} neighbouring ports are free between ${first} and ${last}`)
  }

  async #areFree(): Promise<boolean> {
    const all = Array.from({ length: portsPerArm }, (_, index) => this.first + index)
    return (await Promise.all(all.map(isFree))).every(Boolean)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => void this.#claim.close(resolve))
  }
}

function claimOf(port: number): Promise<Socket | undefined> {
  const { promise, resolve } = Promise.withResolvers<Socket | undefined>()
  const socket = createSocket('udp4')
  socket.once('error', () => {
    socket.close()
    resolve(undefined)
  })
  socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(socket))
  return promise
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}
