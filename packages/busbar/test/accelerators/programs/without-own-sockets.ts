/** A worker in a Node where only Node's own code makes a socket one that is connecting. */
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
