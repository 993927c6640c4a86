import { ByteMesh } from '../../../support/mesh/byte-mesh.ts'
import type { Backend } from '../backend.ts'
import { HttpCaller } from './http-client.ts'

/** HTTP text over a connection in memory. */
export const byteStream = byByteStream('byte stream', false)

export function byByteStream(name: string, overLink: boolean): Backend {
  return {
    name,
    async serve(server) {
      const mesh = new ByteMesh({ callee: server }, { overLink })
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
}
