import { way } from '../../support/byte-mesh.ts'

// What holds between two programs of one thread holds between two workers: the same tests, each service elsewhere.
way.overLink = true
for (const file of ['socket', 'clients', 'upgrade', 'hops', 'accept', 'context']) await import(`./${file}.test.ts`)
