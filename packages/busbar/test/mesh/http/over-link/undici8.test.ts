import { way } from '../../../support/mesh/byte-mesh.ts'

way.overLink = true
await import('../undici8.test.ts')
