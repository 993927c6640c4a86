import { way } from '../../../support/mesh/byte-mesh.ts'

way.toHost = true
await import('../undici8.test.ts')
