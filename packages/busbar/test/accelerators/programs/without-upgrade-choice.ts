/** A worker in a Node whose servers show nobody but Node's own code which upgrades they take. */
import { Server } from 'node:http'
import { hide } from './hide.ts'

hide(Server.prototype, 'shouldUpgradeCallback')

await import('../../../src/worker/main.ts')
