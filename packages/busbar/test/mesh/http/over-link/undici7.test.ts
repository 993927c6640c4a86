import { way } from '../../../support/byte-mesh.ts'

way.overLink = true
await import('../undici7.test.ts')
