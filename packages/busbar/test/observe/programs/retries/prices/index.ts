import { randomUUID } from 'node:crypto'
import { note, released } from '../attempts.ts'
import { prices } from './contract.ts'

const instance = randomUUID()

export default prices.implement({
  held: async ({ id }) => {
    note(instance, id)
    await released()
    return 'ok'
  },
  quick: ({ id }) => {
    note(instance, id)
    return 'ok'
  },
  exit: ({ id }) => {
    note(instance, id)
    process.exit(1)
  },
})
