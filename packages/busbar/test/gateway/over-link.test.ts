import { way } from '../support/byte-mesh.ts'

// What the gateway does for services in its own worker it does for those in another: the same tests, each service elsewhere.
way.overLink = true
for (const file of ['handover', 'problems', 'draining', 'framing', 'pipelined', 'routes', 'tls'])
  await import(`./${file}.test.ts`)
