import { catalog } from './contract.ts'

const lamp = { id: 1, name: 'lamp' }

export default catalog.implement({ product: () => lamp, featured: () => [lamp] })
