import { way } from '../../../support/mesh/byte-mesh.ts'

// Runs the same tests, and random calls, with the service in another worker.
way.overLink = true
for (const file of ['fetch-requests', 'fetch-answers', 'fetch-redirects', 'fetch-endings', 'fuzz'])
  await import(`../${file}.test.ts`)
