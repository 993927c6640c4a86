import { createServer } from 'node:http'
import { client } from '../../../../src/contract/client-entry.ts'
import { defaultMaxInFlight, startHost } from '../../../../src/contract/host/host.ts'
import type { LocalEndpoint } from '../../../../src/mesh/endpoint.ts'
import { Router } from '../../../../src/mesh/router.ts'
import { CallContexts } from '../../../../src/mesh/typed/contexts.ts'
import { offerTypedCalls } from '../../../../src/mesh/typed/transport.ts'
import type { Backend } from '../backend.ts'
import { probe } from '../contract.ts'

export const meshInDevelopment: Backend = mesh('the mesh in one thread, in development', true)
export const meshInProduction: Backend = mesh('the mesh in one thread', false)

function mesh(name: string, clone: boolean): Backend {
  return {
    name,
    aliases: !clone,
    async start({ implementation, log }) {
      const router = new Router(['probe', 'other'])
      const contexts = new CallContexts('probe')
      const options = { name: 'probe', log, clone, maxInFlight: defaultMaxInFlight, client, enter: contexts.enter }
      const typed = await startHost(implementation, options)
      const endpoint = {
        at: 'here' as const,
        service: 'probe',
        server: createServer(),
        typed,
        state: 'serving' as LocalEndpoint['state'],
        enter: <R>(scope: Parameters<LocalEndpoint['enter']>[0], run: () => R) => contexts.enterScope(scope, run),
      }
      router.add(endpoint)
      // The next backend offers its own.
      offerTypedCalls({ router, maxHops: 16, validate: 'always' })
      return {
        probe: client(probe),
        async stop() {
          endpoint.state = 'stopped'
          await typed.stop(0)
        },
      }
    },
  }
}
