import { ByteMesh } from '../../../support/mesh/byte-mesh.ts'
import type { Backend } from '../backend.ts'
import { HttpCaller } from './http-client.ts'

/** HTTP text over a connection in memory. */
export const byteStream = byByteStream('byte stream', {})

export function byByteStream(name: string, where: { overLink?: boolean; toHost?: boolean }): Backend {
  return {
    name,
    async serve(server) {
      const mesh = new ByteMesh({ callee: server }, where)
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
