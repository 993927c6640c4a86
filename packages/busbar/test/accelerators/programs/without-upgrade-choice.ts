/** A worker in a Node whose servers show nobody but Node's own code which upgrades they take. */
import { Server } from 'node:http'

const choices = new WeakMap<Server, unknown>()

Object.defineProperty(Server.prototype, 'shouldUpgradeCallback', {
  get(this: Server) {
    const caller = new Error().stack!.split('\n')[2]!
    return caller.includes('(node:') ? choices.get(this) : undefined
  },
  set(this: Server, choice: unknown) {
    choices.set(this, choice)
  },
  configurable: true,
})

await import('../../../src/worker/main.ts')
