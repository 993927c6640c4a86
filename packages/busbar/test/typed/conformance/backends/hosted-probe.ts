import { createServer } from 'node:http'
import { client } from '../../../../src/contract/client-entry.ts'
import { defaultMaxInFlight, startHost } from '../../../../src/contract/host/typed-host.ts'
import type { LocalEndpoint } from '../../../../src/mesh/routing/endpoint.ts'
import { CallContexts } from '../../../../src/mesh/typed/call-contexts.ts'
import type { Setup } from '../backend.ts'

/** The service as a worker hosts it. `clone`: as in development. */
export async function hostProbe(
  { implementation, log }: Setup,
  clone: boolean,
): Promise<{ endpoint: LocalEndpoint; stop: () => Promise<void> }> {
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
  const stop = async (): Promise<void> => {
    endpoint.state = 'stopped'
    await typed.stop(0)
  }
  return { endpoint, stop }
}
