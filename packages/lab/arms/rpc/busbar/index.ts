import { constant, stored } from '../catalog.ts'
import { catalog } from './contract.ts'

export default catalog.implement({
  constant: ({ limit }) => ({ products: constant(limit) }),
  stored: ({ limit }) => ({ products: stored(limit) }),
  ready: () => 'ready',
})
