/** A worker in a Node whose connections do not expose their HTTP parser. */
import { Socket } from 'node:net'
import { hide } from './hide.ts'

hide(Socket.prototype, 'parser')

await import('../../../src/worker/main.ts')
