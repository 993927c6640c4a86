/** A worker in a Node whose HTTP parser is its own affair: only Node's own code finds it on a connection. */
import { Socket } from 'node:net'
import { hide } from './hide.ts'

hide(Socket.prototype, 'parser')

await import('../../../src/worker/main.ts')
