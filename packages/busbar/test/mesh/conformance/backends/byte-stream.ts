import { ByteMesh } from '../../../support/byte-mesh.ts'
import type { Backend } from '../backend.ts'
import { HttpCaller } from './http-client.ts'

/** HTTP text over a connection in memory. */
export const byteStream: Backend = {
  name: 'byte stream',
  async serve(server) {
    const mesh = new ByteMesh({ callee: server })
    const caller = new HttpCaller({ host: 'callee.internal', port: 80 })
    return {
      open: (request, recording) => caller.open(request, recording),
      async [Symbol.asyncDispose]() {
        caller[Symbol.dispose]()
        await mesh[Symbol.asyncDispose]()
      },
    }
  },
}
