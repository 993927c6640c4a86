import { client } from 'busbar/client'
import { echo } from '../echo/contract.ts'
import { outcomeOf } from '../outcome.ts'
import { relay } from './contract.ts'

const clients = new Map<string, object>()

export default relay.implement({
  ask: async ({ service, method, input }) => {
    const known = clients.get(service) ?? client(echo, undefined, { service })
    clients.set(service, known)
    return await outcomeOf(known, method, input)
  },
})
