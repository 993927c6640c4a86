import { deepEqual, equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byteStream } from './backends/byte-stream.ts'
import { exchange } from './backends/exchange.ts'
import { tcp } from './backends/tcp.ts'
import { bodyCases } from './cases/body.ts'
import { headCases } from './cases/head.ts'
import { runCase } from './run-case.ts'

const cases = [...headCases, ...bodyCases]

for (const backend of [exchange, byteStream]) {
  describe(`${backend.name} does as TCP does`, () => {
    for (const one of cases)
      test(one.name, async () => {
        const expected = await runCase(one, tcp)
        const found = await runCase(one, backend)
        if (backend === exchange && one.handedOver) return equal(found.handedOver, true)
        deepEqual(found, expected)
      })
  })
}
