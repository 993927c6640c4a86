import { way } from '../../../support/byte-mesh.ts'

// What `fetch` makes of a service in its own worker it makes of one in another: the same tests, and random calls.
way.overLink = true
for (const file of ['fetch-requests', 'fetch-answers', 'fetch-redirects', 'fetch-endings', 'fuzz'])
  await import(`../${file}.test.ts`)
