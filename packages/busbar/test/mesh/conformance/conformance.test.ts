import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { backends } from './backends/all.ts'
import { byteStream } from './backends/byte-stream.ts'
import { exchange } from './backends/exchange.ts'
import { cases } from './cases/all.ts'
import { isKnownOverUnixSockets } from './over-unix-sockets.ts'
import { oracle, ordered, runCase } from './run-case.ts'

for (const backend of backends) {
  describe(`${backend.name} behaves like TCP`, () => {
    for (const one of cases.filter(({ name }) => backend !== byteStream || !isKnownOverUnixSockets(name)))
      test(one.name, { timeout: 20_000 }, async () => {
        const result = await runCase(one, backend)
        // Other ways may notice it only when the request arrives.
        if (result.handedOver || (backend === exchange && one.handedOver))
          equal(result.handedOver && one.handedOver, true)
        else deepEqual(ordered(one, result), ordered(one, await oracle(one)))
      })
  })
}
