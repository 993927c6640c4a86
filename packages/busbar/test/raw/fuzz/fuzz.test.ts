/** No input of a client or service ends a worker. `npm run fuzz` runs more cases. */
import { test } from 'node:test'
import { fuzz } from './fuzz.ts'

for (const kind of ['requests', 'answers', 'typed'] as const)
  test(`2,000 ${kind === 'typed' ? 'requests to typed services' : kind} that are malformed end no worker, and every connection ends`, async () => {
    await fuzz({ kind, count: 2000, seed: 1 })
  })
