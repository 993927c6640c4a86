/** A worker in a Node in which only Node's own code can set `connecting` of a socket. */
import { Socket } from 'node:net'

const connecting = new WeakMap<Socket, boolean>()

Object.defineProperty(Socket.prototype, 'connecting', {
  get(this: Socket) {
    return connecting.get(this) ?? false
  },
  set(this: Socket, value: boolean) {
    const caller = new Error().stack!.split('\n')[2]!
    if (caller.includes('node:net')) connecting.set(this, value)
  },
  configurable: true,
})

await import('../../../src/worker/main.ts')
