/** Nothing that a client or a service sends ends a worker. `npm run fuzz` does more of the same. */
import { test } from 'node:test'
import { fuzz } from './fuzz.ts'

for (const kind of ['requests', 'answers', 'typed'] as const)
  test(`2,000 ${kind === 'typed' ? 'requests to typed services' : kind} that nobody would write end no worker, and every connection ends`, async () => {
    await fuzz({ kind, count: 2000, seed: 1 })
  })
