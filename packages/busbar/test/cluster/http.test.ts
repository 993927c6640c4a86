import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { AppSetup } from '../support/app/test-app.ts'
import { testProgramCalls } from '../hosts/support/program-calls.ts'
import { program, TwoApps } from '../hosts/support/two-apps.ts'
import { NatsServer, withoutNats } from './support/nats-server.ts'

const placements: Readonly<Record<string, Partial<AppSetup>>> = {
  'two shared workers': { workers: 2 },
  'a process': { services: { stock: { file: program('stock.js'), run: 'process' } } },
}

for (const [place, far] of Object.entries(placements))
  describe(`a program of another app of the cluster, in ${place}`, { skip: withoutNats }, () => {
    let nats: NatsServer
    let apps: TwoApps
    before(async () => {
      nats = await NatsServer.start()
      apps = await TwoApps.start({ far, cluster: nats.config() })
    })
    after(async () => {
      await apps[Symbol.asyncDispose]()
      await nats[Symbol.asyncDispose]()
    })

    testProgramCalls(() => apps)
  })

describe('an app of a cluster', { skip: withoutNats }, () => {
  it('starts without a server, and says why its calls fail', async () => {
    const nats = await NatsServer.start()
    await using apps = await TwoApps.start({ cluster: nats.config() })
    assert.equal((await apps.ask('fetch/who'))['status'], 200)
    await nats.kill()
    const { message, cause } = await apps.ask('fetch/who')
    assert.match(`${message as string} ${cause as string}`, /fetch failed|NATS/)
    await nats.start()
    let status: unknown
    while (status !== 200) status = (await apps.ask('fetch/who'))['status']
    await nats[Symbol.asyncDispose]()
  })

  it('is reloaded without a failed call', async () => {
    await using nats = await NatsServer.start()
    await using apps = await TwoApps.start({ cluster: nats.config() })
    let isOver = false
    const statuses = new Set<unknown>()
    const calls = (async () => {
      while (!isOver) statuses.add((await apps.ask('fetch/who'))['status'])
    })()
    await apps.far.running.replace()
    isOver = true
    await calls
    assert.deepEqual([...statuses], [200])
  })
})
