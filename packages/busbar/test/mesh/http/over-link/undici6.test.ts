import { way } from '../../../support/mesh/byte-mesh.ts'

way.overLink = true
await import('../undici6.test.ts')
