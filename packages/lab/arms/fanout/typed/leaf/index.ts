import { leaf } from './contract.ts'

let count = 0

export default leaf.implement({
  live: async () => ({ content: `from "/live": ${count++ % 10}` }),
})
