import { way } from '../support/mesh/byte-mesh.ts'

// The gateway treats services in other workers like those in its own: the same tests, with each
// service in another worker.
way.overLink = true
for (const file of ['problems', 'routes']) await import(`./${file}.test.ts`)
for (const file of ['closed-by-program', 'handover', 'draining', 'framing', 'pipelined', 'tls'])
  await import(`./connections/${file}.test.ts`)
