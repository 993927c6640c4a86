/** A worker in a Node that creates no sockets with a handle. */
import net from 'node:net'
import { syncBuiltinESMExports } from 'node:module'

net.Socket = class extends net.Socket {
  constructor({ handle: _, ...options }: net.SocketConstructorOpts & { handle?: unknown } = {}) {
    super(options)
  }
}
syncBuiltinESMExports()

await import('../../../src/worker/main.ts')
