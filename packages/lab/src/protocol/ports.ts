import { createServer } from 'node:net'
import { portsPerArm } from '../arm.ts'

/** Below the range from which Linux takes ports for outgoing connections, so that a busy generator takes none of them. */
const first = 20_000
const last = 32_000

let next = first + Math.floor(Math.random() * ((last - first) / portsPerArm)) * portsPerArm

/** As many neighbouring ports as an arm may use, all free on the loopback interface right now. */
export async function freePorts(): Promise<number[]> {
  for (let attempt = 0; attempt < 200; attempt++) {
    next = next + portsPerArm > last ? first : next + portsPerArm
    const ports = Array.from({ length: portsPerArm }, (_, index) => next + index)
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return ports
  }
  throw new Error(`no ${portsPerArm} neighbouring ports are free between ${first} and ${last}`)
}

function isFree(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  return promise
}
