import { describe, it } from 'node:test'
import { TestLog } from './backend.ts'
import { fetched } from './backends/fetch.ts'
import { http } from './backends/http.ts'
import { byTcp, byThread, byTls, byUnix } from './backends/link.ts'
import { inDevelopment, inProduction } from './backends/local.ts'
import { meshInDevelopment, meshInProduction } from './backends/mesh.ts'
import { calls } from './cases/calls.ts'
import { endings } from './cases/endings.ts'
import { streams } from './cases/streams.ts'
import { values } from './cases/values.ts'
import { CallRecord, implementProbe } from './contract.ts'

for (const backend of [
  inDevelopment,
  inProduction,
  meshInDevelopment,
  meshInProduction,
  byThread,
  byUnix,
  byTcp,
  byTls,
  http,
  fetched,
])
  describe(`typed calls by ${backend.name}`, () => {
    for (const [name, run] of Object.entries({ ...calls, ...values, ...endings, ...streams }))
      it(name, async () => {
        const record = new CallRecord()
        const log = new TestLog()
        const connected = await backend.start({ implementation: implementProbe(record), log })
        try {
          await run({ backend, probe: connected.probe, record, log, connected })
        } finally {
          await connected.stop()
        }
      })
  })
