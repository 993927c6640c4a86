import { client } from '../../../../src/contract/client-entry.ts'
import type { Backend } from '../backend.ts'
import { probe } from '../contract.ts'

export const inDevelopment: Backend = local('client(contract, implementation) in development', true)
export const inProduction: Backend = local('client(contract, implementation) in production', false)

function local(name: string, clone: boolean): Backend {
  return {
    name,
    aliases: !clone,
    async start({ implementation, log }) {
      const connected = client(probe, implementation, { clone, log })
      return { probe: connected, stop: async () => await connected[Symbol.asyncDispose]() }
    },
  }
}
