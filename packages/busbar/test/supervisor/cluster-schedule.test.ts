/** The hosts of a cluster run one schedule. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScheduleEntry } from '../../src/config/app.ts'
import { ClusterConnection } from '../../src/shared/cluster/connection.ts'
import { Scheduler } from '../../src/supervisor/schedule/scheduler.ts'
import { NatsServer, withoutNats } from '../cluster/support/nats-server.ts'
import { FaultProxy } from '../hosts/support/fault-proxy.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const everySecond: ScheduleEntry = {
  name: 'job',
  cron: '* * * * * *',
  timeZone: undefined,
  target: { kind: 'task', file: '/task.js', env: {} },
  overlap: 'allow',
  jitter: 0,
  missed: 'skip',
  timeout: 60_000,
}

const leaseTime = 600
const away = 'this host does not run the schedule: another one may'

describe('the schedule of a cluster', { skip: withoutNats }, () => {
  it('runs at one host; another one takes over when it stops, at once and with its times', async () => {
    await using nats = await NatsServer.startWithJetStream()
    const first = new Host('first', nats.port)
    await first.untilRun(1)
    await using second = new Host('second', nats.port)
    await pollUntil(() => second.lines.includes(away))
    await first.untilRun(2)
    assert.equal(second.planned.length, 0)
    await first[Symbol.asyncDispose]()
    await second.untilRun(2)
    assertOnce(first, second)
  })

  it('goes on at another host when its runner is cut off, and no time runs twice', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using proxy = await FaultProxy.open(nats.port)
    await using cut = new Host('cut', proxy.port)
    await cut.untilRun(1)
    await using fine = new Host('fine', nats.port)
    proxy.freeze()
    await fine.untilRun(2)
    proxy.thaw()
    await pollUntil(() => cut.lines.includes(away))
    await fine.untilRun(4)
    assertOnce(cut, fine)
  })

  it('runs no time twice when the clock of the next runner is behind, and goes on when it has caught up', async (t) => {
    await using nats = await NatsServer.startWithJetStream()
    const now = Date.now
    t.after(() => (Date.now = now))
    Date.now = () => now() + 3_000
    const ahead = new Host('ahead', nats.port)
    await ahead.untilRun(2)
    await ahead[Symbol.asyncDispose]()
    Date.now = now
    await using behind = new Host('behind', nats.port)
    await behind.untilRun(1)
    assertOnce(ahead, behind)
    assert.ok(behind.planned[0]! > ahead.planned.at(-1)!)
  })

  it('does not wait for hours when the clock of the last runner was ahead, and says so', async (t) => {
    await using nats = await NatsServer.startWithJetStream()
    const now = Date.now
    t.after(() => (Date.now = now))
    Date.now = () => now() + 3 * 3_600_000
    const ahead = new Host('ahead', nats.port)
    await ahead.untilRun(2)
    await ahead[Symbol.asyncDispose]()
    Date.now = now
    await using right = new Host('right', nats.port)
    await right.untilRun(2)
    const warning = right.lines.find((line) => line.includes('in the future'))
    assert.match(
      warning!,
      /^schedule job: its last time, .*Z, is 10(79|80)\d s in the future: the clock of the host that/,
    )
    assert.ok(right.planned.every((planned) => planned < ahead.planned[0]!))
  })

  it('goes on when the clock of its runner is set back by hours', async (t) => {
    await using nats = await NatsServer.startWithJetStream()
    const now = Date.now
    t.after(() => (Date.now = now))
    await using host = new Host('only', nats.port)
    await host.untilRun(2)
    Date.now = () => now() - 2 * 3_600_000
    await host.untilRun(4)
    assert.ok(host.lines.some((line) => line.includes('s in the future: the clock was set back; its next time is')))
    Date.now = now
    await host.untilRun(6)
    assertOnce(host)
  })

  it('does not run where the server is not reached, and runs what was missed later, once', async () => {
    await using nats = await NatsServer.startWithJetStream()
    await using host = new Host('only', nats.port)
    await host.untilRun(1)
    await nats.kill()
    await pollUntil(() => !host.isRunner)
    const before = host.planned.length
    await sleep(1_100)
    assert.equal(host.planned.length, before)
    await nats.start()
    await host.untilRun(before + 2)
    assertOnce(host)
  })

  it('notices times at which no host ran', async () => {
    await using nats = await NatsServer.startWithJetStream()
    const entry: ScheduleEntry = { ...everySecond, cron: '0 0 1 1 *', missed: 'run' }
    const app = Buffer.from('app').toString('base64url')
    {
      await using _ = new Host('before', nats.port, entry)
      await pollUntil(() => _.isRunner)
    }
    const tool = await nats.connect()
    const { Kvm } = await import('@nats-io/kv')
    const kv = await new Kvm(tool).open('busbar_test_schedule')
    const { host, times } = (await kv.get(app))!.json<{ host: string; times: Record<string, number> }>()
    assert.equal(host, '')
    assert.ok(Math.abs(times['job']! - Date.now()) < 60_000)
    await kv.put(app, JSON.stringify({ host: '', times: { job: Date.now() - 400 * 24 * 3_600_000 } }))
    await tool.close()
    await using after = new Host('after', nats.port, entry)
    await after.untilRun(1)
    assert.deepEqual(
      after.scheduler.stats[0]!.runs.map(({ outcome }) => outcome),
      ['missed', 'succeeded'],
    )
  })

  it('says so if the server keeps nothing', async () => {
    await using nats = await NatsServer.start()
    await using host = new Host('only', nats.port)
    await pollUntil(() => host.lines.some((line) => line.includes('no host knows whether it runs the schedule')))
    assert.equal(host.planned.length, 0)
  })
})

/** A host without workers. Its runs only note their times. */
class Host implements AsyncDisposable {
  readonly planned: number[] = []
  readonly lines: string[] = []
  readonly scheduler: Scheduler
  readonly #folder = new TestFolder()
  readonly #connection: ClusterConnection
  readonly #entry: ScheduleEntry

  constructor(host: string, port: number, entry = everySecond) {
    this.#entry = entry
    const log = (_: string, line: string): void => void this.lines.push(line)
    const config = NatsServer.configOf(port)
    this.#connection = new ClusterConnection({ config, name: host, opened: () => {}, lost: () => {}, log })
    const connection = () => this.#connection.current
    this.scheduler = new Scheduler({
      root: this.#folder.path,
      folder: undefined,
      run: async () => void this.planned.push(this.scheduler.stats[0]!.runs.at(-1)!.planned),
      log,
      cluster: { config, app: 'app', host, connection, leaseTime },
    })
    this.scheduler.use({ schedule: [entry] })
  }

  get isRunner(): boolean {
    const here = 'this host runs the schedule'
    return this.lines.findLast((line) => [here, away].includes(line)) === here
  }

  async untilRun(count: number): Promise<void> {
    await pollUntil(
      () => this.planned.length >= count,
      () => [this.#entry.name, this.lines],
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.scheduler.close(1_000)
    await this.#connection.close()
    this.#folder[Symbol.dispose]()
  }
}

function assertOnce(...hosts: readonly Host[]): void {
  const all = hosts.flatMap(({ planned }) => planned)
  assert.equal(new Set(all).size, all.length, `${all.join()} has a time twice`)
}
