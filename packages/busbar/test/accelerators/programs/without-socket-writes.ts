/** A worker in a Node whose sockets ignore replaced methods when they write. */
import { Socket } from 'node:net'

for (const name of ['_write', '_writev', '_final', '_destroy']) {
  const value: unknown = Reflect.get(Socket.prototype, name)
  Object.defineProperty(Socket.prototype, name, { get: () => value, set() {}, configurable: true })
}

await import('../../../src/worker/main.ts')
