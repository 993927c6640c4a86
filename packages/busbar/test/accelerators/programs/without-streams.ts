/** A worker in a Node whose streams have their state where only Node's own code finds it. */
import { Readable } from 'node:stream'
import { hide } from './hide.ts'

hide(Readable.prototype, '_readableState', () => ({}))

await import('../../../src/worker/main.ts')
