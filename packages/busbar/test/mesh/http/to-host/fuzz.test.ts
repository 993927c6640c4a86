import { way } from '../../../support/mesh/byte-mesh.ts'

way.toHost = true
await import('../fuzz.test.ts')
