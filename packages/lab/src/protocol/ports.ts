import { createSocket, type Socket } from 'node:dgram'
import { createServer } from 'node:net'
import { portsPerArm } from '../arm.ts'

/** Below the range of Linux's ephemeral ports, so that outgoing connections do not take them. */
const first = 20_000
const last = 32_000

let next = first + Math.floor(Math.random() * ((last - first) / portsPerArm)) * portsPerArm

/**
 * A reserved range of ports on the loopback interface for one arm. Testing whether a port is free
 * occupies it for a moment, which another lab would notice. So a lab first binds the UDP port with
 * the number of the first port, and keeps it until the arm has ended. The kernel frees it if the
 * lab is killed.
 */
export class Ports implements AsyncDisposable {
  readonly first: number
  readonly #claim: Socket

  private constructor(first: number, claim: Socket) {
    this.first = first
    this.#claim = claim
  }

  /** `reserved`: ports that another arm will open. */
  static async claim(reserved: ReadonlySet<number> = new Set()): Promise<Ports> {
    for (let attempt = 0; attempt < 200; attempt++) {
      next = next + portsPerArm > last ? first : next + portsPerArm
      if (rangeFrom(next).some((port) => reserved.has(port))) continue
      const claim = await claimOf(next)
      if (claim === undefined) continue
      const ports = new Ports(next, claim)
      if (await ports.#areFree()) return ports
      await ports[Symbol.asyncDispose]()
    }
    throw new Error(`no ${portsPerArm} neighbouring ports are free between ${first} and ${last}`)
  }

  async #areFree(): Promise<boolean> {
    return (await Promise.all(rangeFrom(this.first).map(isFree))).every(Boolean)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => void this.#claim.close(resolve))
  }
}

function rangeFrom(port: number): number[] {
  return Array.from({ length: portsPerArm }, (_, index) => port + index)
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

/** Whether nothing listens on this port of the loopback interface. */
export function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}
