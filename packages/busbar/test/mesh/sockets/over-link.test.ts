import { way } from '../../support/mesh/byte-mesh.ts'

// Runs the same tests with each service in another worker.
way.overLink = true
for (const file of ['socket', 'clients', 'upgrade', 'hops', 'accept', 'context']) await import(`./${file}.test.ts`)
