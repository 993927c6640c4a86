/** A worker in a Node whose HTTP parser is its own affair: only Node's own code finds it on a connection. */
import { Socket } from 'node:net'

const parsers = new WeakMap<Socket, unknown>()

Object.defineProperty(Socket.prototype, 'parser', {
  get(this: Socket) {
    const caller = new Error().stack!.split('\n')[2]!
    return caller.includes('(node:') ? parsers.get(this) : undefined
  },
  set(this: Socket, parser: unknown) {
    parsers.set(this, parser)
  },
  configurable: true,
})

await import('../../../src/worker/main.ts')
