/** A worker in a Node whose servers do not expose the number of their connections. */
import { Server } from 'node:net'
import { hide } from './hide.ts'

hide(Server.prototype, '_connections')

await import('../../../src/worker/main.ts')
