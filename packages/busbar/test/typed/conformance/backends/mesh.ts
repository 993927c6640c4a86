import { client } from '../../../../src/contract/client-entry.ts'
import { Router } from '../../../../src/mesh/routing/router.ts'
import { offerTypedCalls } from '../../../../src/mesh/typed/mesh-transport.ts'
import type { Backend } from '../backend.ts'
import { probe } from '../contract.ts'
import { hostProbe } from './hosted-probe.ts'

export const meshInDevelopment: Backend = mesh('the mesh in one thread, in development', true)
export const meshInProduction: Backend = mesh('the mesh in one thread', false)

function mesh(name: string, clone: boolean): Backend {
  return {
    name,
    aliases: !clone,
    async start(setup) {
      const router = new Router(['probe', 'other'])
      const { endpoint, stop } = await hostProbe(setup, clone)
      router.add(endpoint)
      // The next backend replaces this mesh by its own.
      offerTypedCalls({ router, maxHops: 16, validate: 'always' })
      return {
        probe: client(probe),
        stop,
      }
    },
  }
}
