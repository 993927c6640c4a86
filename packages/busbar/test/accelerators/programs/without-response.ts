/** A worker in a Node whose responses ignore replaced methods when they build and send a head. */
import { OutgoingMessage } from 'node:http'

for (const name of ['_storeHeader', '_send']) {
  const value: unknown = Reflect.get(OutgoingMessage.prototype, name)
  Object.defineProperty(OutgoingMessage.prototype, name, { get: () => value, set() {}, configurable: true })
}

await import('../../../src/worker/main.ts')
