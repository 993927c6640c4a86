import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { client } from '../../../../src/contract/client-entry.ts'
import { defaultMaxInFlight, startHost } from '../../../../src/contract/host/typed-host.ts'
import { typedListener } from '../../../../src/gateway/typed/request-listener.ts'
import type { Backend } from '../backend.ts'
import { probe } from '../contract.ts'

export const http: Backend = {
  name: 'HTTP',
  aliases: false,
  async start({ implementation, log }) {
    const host = await startHost(implementation, {
      name: 'probe',
      log,
      clone: false,
      maxInFlight: defaultMaxInFlight,
      client,
    })
    const server = createServer(typedListener(host, { maxInputSize: 16 * 1024 * 1024, cors: [] }))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    return {
      probe: client(probe, `http://127.0.0.1:${port}`),
      async stop() {
        await host.stop(0)
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      },
    }
  },
}
