import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { listRuns } from '../../src/cli/admin/find-runs.ts'
import type { AppStatus } from '../../src/observe/app-status.ts'
import { BusbarProcess, type Ended } from '../support/app/busbar-process.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { NatsServer, withoutNats } from './support/nats-server.ts'

const programs = fileURLToPath(new URL('programs', import.meta.url))

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}

/** Apps of one cluster, each a process of its own. */
describe('apps of a cluster', { skip: withoutNats }, () => {
  const folder = new TestFolder()
  const env = { XDG_RUNTIME_DIR: folder.at('run') }
  const settings = 'authorization: { user: "shop", password: "secret-of-nats" }'
  let nats: NatsServer
  let first: BusbarProcess
  let second: BusbarProcess
  let near: BusbarProcess
  let url: string

  function start(name: string, config: object): BusbarProcess {
    const cluster = { nats: `nats://shop:secret-of-nats@127.0.0.1:${nats.port}`, name: 'shop' }
    folder.write(`${name}/package.json`, { name, version: '1.2.3' })
    folder.write(`${name}/busbar.config.json`, { gateway: { port: 0 }, cluster, ...config })
    return new BusbarProcess(['start', folder.at(name), '--once'], { env: { ...env, WHO: name } })
  }

  function startKeeper(name: string): BusbarProcess {
    return start(name, { services: { keeper: { path: `${programs}/keeper`, run: 'thread', instances: 3 } } })
  }

  before(async () => {
    nats = await NatsServer.start(settings)
    first = startKeeper('first')
    await first.url()
    near = start('near', {
      gateway: { port: 0, entry: 'web', probes: true },
      services: { web: { path: `${programs}/asker`, needs: ['keeper'] }, keeper: { remote: 'cluster' } },
    })
    url = (await near.url()).replace(/\/$/, '')
  })

  after(async () => {
    for (const app of [near, first, second]) await app?.[Symbol.asyncDispose]()
    await nats[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  async function ask(path: string): Promise<unknown> {
    return await (await fetch(`${url}${path}`)).json()
  }

  function busbar(...args: string[]): Promise<Ended> {
    return BusbarProcess.run([...args, folder.at('near')], { env })
  }

  async function status(): Promise<AppStatus> {
    return (JSON.parse((await busbar('ps', '--json')).stdout) as { runs: AppStatus[] }).runs[0]!
  }

  it('keep calls with one key at one instance of the other app', async () => {
    const instances = (await ask('/keys')) as number[][]
    for (const of of instances) assert.equal(of.length, 1)
    assert.ok(new Set(instances.flat()).size > 1)
  })

  it('show each other in ps, in check --live and in the metrics', async () => {
    await until(async () => (await status()).remotes[0]?.reachable === true)
    const { remotes, cluster } = await status()
    const [host] = remotes[0]!.hosts
    assert.deepEqual([host?.app, host?.version, host?.state], ['first', '1.2.3', 'linked'])
    assert.match(host?.contract ?? '', /^\w{7}$/)
    assert.equal(cluster?.members[0]?.services[0]?.service, 'keeper')
    const ps = await busbar('ps')
    assert.match(ps.stdout, /keeper +first on .* linked +1\.2\.3/)
    const live = await busbar('check', '--live')
    assert.equal(live.code, 0, live.stdout + live.stderr)
    assert.match(live.stdout, /cluster shop/)
    assert.ok(!`${ps.stdout}${live.stdout}${near.stdout}`.includes('secret-of-nats'))
  })

  it('are known to ps and to check --live as soon as they can be called', async () => {
    const services = { web: `${programs}/asker`, keeper: { remote: 'cluster' } }
    await using early = start('early', { gateway: { port: 0, entry: 'web' }, services })
    const own = (await early.url()).replace(/\/$/, '')
    assert.equal(await (await fetch(`${own}/who`)).json(), 'first')
    const { runs } = await listRuns(env)
    assert.equal(runs.find(({ status: { app } }) => app.name === 'early')?.status.remotes[0]?.reachable, true)
    const live = await BusbarProcess.run(['check', '--live', folder.at('early')], { env })
    assert.equal(live.code, 0, live.stdout + live.stderr)
  })

  it('get an error for a call and a stream whose host is killed, and go on with the next host', async () => {
    second = startKeeper('second')
    const killed = [ask('/waits'), ask('/ticks')]
    await until(async () => (await ask('/begun')) === 2)
    first.child.kill('SIGKILL')
    await first.ended
    // The next message finds out.
    assert.deepEqual(Object.values((await ask('/who')) as object)[0], 'LINK_LOST')
    assert.deepEqual(await Promise.all(killed), ['LINK_LOST', 'LINK_LOST'])
    await second.url()
    await until(async () => (await ask('/who')) === 'second')
  })

  it('are not ready without a service that one of theirs needs', async () => {
    second.child.kill('SIGTERM')
    await second.ended
    const ready = async (): Promise<number> => (await fetch(`${url}/readyz`)).status
    await until(async () => (await ready()) === 503)
    assert.equal((await fetch(`${url}/healthz`)).status, 200)
    const live = await busbar('check', '--live')
    assert.equal(live.code, 1)
    assert.match(live.stdout, /no host can be called for keeper/)
    second = startKeeper('second')
    await until(async () => (await ready()) === 200)
  })
})
