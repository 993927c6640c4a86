import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { loadApp } from '../../../src/config/load.ts'
import { client } from '../../../src/contract/client-entry.ts'
import type { RunningApp } from '../../../src/supervisor/running-app.ts'
import { startSupervisor } from '../../../src/supervisor/supervisor.ts'
import { echo, ways } from '../programs/values/echo/contract.ts'
import implementation from '../programs/values/echo/index.ts'
import { libraries } from '../programs/values/echo/schemas.ts'
import { outcomeOf } from '../programs/values/outcome.ts'
import { relay } from '../programs/values/relay/contract.ts'
import { supportedFor, fitsPath } from './arbitrary.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }
const programs = new URL('../programs', import.meta.url).pathname
const names = Object.entries(libraries).flatMap(([library, { schemas }]) =>
  Object.keys(schemas).map((name) => [library, name] as const),
)

describe('a value in an app', () => {
  const reference = client(echo, implementation, { clone: true, log })
  let app: RunningApp
  let url: string

  before(async () => {
    const config = await loadApp(join(programs, 'values'), { env: {} })
    app = await startSupervisor(config, { mode: 'start', log: () => {}, timing: { stale: 60_000 } })
    url = app.addresses[0]!.url.replace(/\/$/, '')
  })
  after(async () => await app.stop())

  for (const service of ['shared', 'thread', 'process'])
    it(`is the same through the gateway and from another service, with the service in: ${service}`, async () => {
      const direct = client(echo, `${url}/${service}`, { service })
      const relayed = client(relay, `${url}/relay`)
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...names),
          fc.constantFrom(...ways),
          fc.gen(),
          async ([library, name], way, gen) => {
            const value = gen(() => supportedFor(name))
            const method = `${library}_${name}_${way}`
            const input = ['query', 'removal', 'path'].includes(way) ? { value } : value
            if (way === 'path' && !fitsPath(input)) return
            const expected = await outcomeOf(reference, method, input)
            assert.deepStrictEqual(await outcomeOf(direct, method, input), expected, `${method} by the gateway`)
            assert.deepStrictEqual(await relayed.ask({ service, method, input }), expected, `${method} by a service`)
          },
        ),
        { seed: 16, numRuns: 150 },
      )
    })
})
