/** A worker in a Node whose servers do not expose which upgrades they accept. */
import { Server } from 'node:http'
import { hide } from './hide.ts'

hide(Server.prototype, 'shouldUpgradeCallback')

await import('../../../src/worker/main.ts')
