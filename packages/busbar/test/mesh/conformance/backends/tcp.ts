import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Backend } from '../backend.ts'
import { HttpCaller } from './http-client.ts'

/** The oracle: a system socket. */
export const tcp: Backend = {
  name: 'tcp',
  async serve(server) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const caller = new HttpCaller({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
    return {
      open: (request, recording) => caller.open(request, recording),
      async [Symbol.asyncDispose]() {
        caller[Symbol.dispose]()
        server.closeAllConnections()
        if (!server.listening) return
        server.close()
        await once(server, 'close')
      },
    }
  },
}
