/** No input of a client or service ends a worker. `npm run fuzz` runs more cases. */
import { describe, it } from 'node:test'
import { fuzz } from './fuzz.ts'

// At the same time, each with an app of its own: they mostly wait for connections that time out.
describe('no worker ends, and every connection does, after 2,000', { concurrency: true }, () => {
  for (const kind of ['requests', 'answers', 'typed'] as const)
    it(`malformed ${kind === 'typed' ? 'requests to typed services' : kind}`, async () => {
      await fuzz({ kind, count: 2000, seed: 1 })
    })
})
