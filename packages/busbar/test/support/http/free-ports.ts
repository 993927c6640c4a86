import { once } from 'node:events'
import { createServer } from 'node:net'
import { randomInt } from 'node:crypto'

/**
 * Below the ports that systems give to connections, and below those of the lab's arms, so that
 * nothing of another test takes one before the caller listens.
 */
const range = [10_000, 20_000] as const

/** Ports that nothing listens on now. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = randomInt(...range)
    if (await isFree(port)) ports.add(port)
  }
  return [...ports]
}

export async function freePort(): Promise<number> {
  return (await freePorts(1))[0]!
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  const listening = once(server, 'listening')
  server.listen(port, '127.0.0.1')
  try {
    await listening
  } catch {
    return false
  }
  await once(server.close(), 'close')
  return true
}
