/** A worker in a Node whose servers count connections where only Node's own code finds the number. */
import { Server } from 'node:net'
import { hide } from './hide.ts'

hide(Server.prototype, '_connections')

await import('../../../src/worker/main.ts')
