/** A worker in a Node whose streams do not expose their state. */
import { Readable } from 'node:stream'
import { hide } from './hide.ts'

hide(Readable.prototype, '_readableState', () => ({}))

await import('../../../src/worker/main.ts')
