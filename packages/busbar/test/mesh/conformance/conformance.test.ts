import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isOn } from '../../support/accelerated.ts'
import { backends } from './backends/all.ts'
import { byteStream } from './backends/byte-stream.ts'
import { exchange } from './backends/exchange.ts'
import { cases } from './cases/all.ts'
import { oracle, ordered, runCase } from './run-case.ts'

/** What a way of calling is known to do otherwise. */
const differences: Readonly<Record<string, ReadonlySet<string>>> = {
  // Node tells a server's 'drop' listeners nothing of a Unix socket, and its client learns it in another word.
  [byteStream.name]: new Set(isOn('stream') ? [] : ['a limit on the number of connections']),
}

for (const backend of backends) {
  describe(`${backend.name} does as TCP does`, () => {
    for (const one of cases.filter(({ name }) => !differences[backend.name]?.has(name)))
      test(one.name, { timeout: 20_000 }, async () => {
        const result = await runCase(one, backend)
        // Elsewhere it may only show when the request is there.
        if (result.handedOver || (backend === exchange && one.handedOver))
          equal(result.handedOver && one.handedOver, true)
        else deepEqual(ordered(one, result), ordered(one, await oracle(one)))
      })
  })
}
