/** How calls are divided among versions of an app that serve side by side. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { safe } from '../../src/contract/client-entry.ts'
import type { RemoteHostStats } from '../../src/observe/app-status.ts'
import { RemoteReports } from '../../src/supervisor/cluster/remote-reports.ts'
import { shareOf } from '../../src/mesh/routing/balance/version-shares.ts'
import type { RemoteService } from '../../src/shared/hosts.ts'
import { ShopCaller, ShopHost } from './support/typed-hosts.ts'

type Versions = RemoteService['versions']

class Hosts implements AsyncDisposable {
  readonly #hosts: readonly ShopHost[]
  readonly #caller: ShopCaller

  private constructor(hosts: readonly ShopHost[], caller: ShopCaller) {
    this.#hosts = hosts
    this.#caller = caller
  }

  /** A host for each version. */
  static async start(own: readonly string[], versions: Versions): Promise<Hosts> {
    const hosts = await Promise.all(own.map((version) => ShopHost.start(version, { version })))
    const addresses = hosts.map(({ address }) => address)
    const caller = await ShopCaller.open(addresses, { remotes: [{ name: 'shop', addresses, versions }] })
    return new Hosts(hosts, caller)
  }

  get shop(): ShopCaller['shop'] {
    return this.#caller.shop
  }

  async answeredBy(calls: number, key?: (at: number) => string): Promise<Map<string, number>> {
    const counts = new Map<string, number>()
    for (let at = 0; at < calls; at++) {
      const { at: host } = (await (key === undefined ? this.shop.write(at) : this.shop.keyed(key(at)))) as {
        at: string
      }
      counts.set(host, (counts.get(host) ?? 0) + 1)
    }
    return counts
  }

  async end(version: string): Promise<void> {
    await this.#hosts.find(({ name }) => name === version)![Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#caller[Symbol.dispose]()
    for (const host of this.#hosts) await host[Symbol.asyncDispose]()
  }
}

describe('versions of a service at other hosts', () => {
  it('get calls in the proportion of their weights, however many hosts each has', async () => {
    await using hosts = await Hosts.start(['1.0.0', '2.0.0', '2.1.0'], { '1': 50, '2': 50 })
    const counts = await hosts.answeredBy(400)
    const first = counts.get('1.0.0')!
    // 1 in 10^9 runs is outside.
    assert.ok(first > 140 && first < 260, `${first} of 400`)
    assert.ok((counts.get('2.0.0') ?? 0) > 0 && (counts.get('2.1.0') ?? 0) > 0)
  })

  it('get none without a weight, so a caller can be pinned', async () => {
    await using hosts = await Hosts.start(['1.0.0', '2.0.0'], { '1': 1 })
    assert.deepEqual([...(await hosts.answeredBy(30))], [['1.0.0', 30]])
  })

  it('are in the report of their host if they get no calls, which counts as no host of the service', async () => {
    await using host = await ShopHost.start('far', { version: '3.0.0' })
    const remotes = [{ name: 'shop', addresses: [host.address], versions: { '1': 1, '2': 1 } }]
    using caller = await ShopCaller.open([host.address], { remotes })
    const reports = new RemoteReports()
    reports.report(
      1,
      caller.hosts.connections.map(({ report }) => report),
    )
    const [stats] = reports.stats(remotes, [])
    assert.equal(stats!.reachable, false)
    const [{ state, version, why }] = stats!.hosts as [RemoteHostStats]
    assert.deepEqual([state, version], ['linked', '3.0.0'])
    assert.match(why!, /has version 3\.0\.0, which the `versions` of 'shop' give no calls/)
  })

  it('leave their share to the others when their hosts are gone', async () => {
    await using hosts = await Hosts.start(['1.0.0', '2.0.0'], { '1': 99, '2': 1 })
    await hosts.end('1.0.0')
    const next = async (): Promise<string> => ((await hosts.shop.read('next').catch(() => ({}))) as { at: string }).at
    while ((await next()) !== '2.0.0') await new Promise((resolve) => setTimeout(resolve, 5))
    assert.deepEqual([...(await hosts.answeredBy(20))], [['2.0.0', 20]])
  })

  it('keep their keys', async () => {
    await using hosts = await Hosts.start(['1.0.0', '2.0.0'], { '1': 50, '2': 50 })
    const keys = Array.from({ length: 20 }, (_, at) => `key-${at}`)
    for (const key of keys) assert.equal((await hosts.answeredBy(5, () => key)).size, 1)
    assert.equal((await hosts.answeredBy(20, (at) => keys[at]!)).size, 2)
  })

  it('are named in the error if no host has one of them', async () => {
    await using hosts = await Hosts.start(['1.0.0'], { '2': 1, '3': 1 })
    const [error] = await safe(hosts.shop.read(1))
    assert.equal(error?.code, 'SERVICE_UNAVAILABLE')
    assert.match(error.message, /none of the versions 2, 3/)
  })

  it('are named in the error also while another host is down', async () => {
    await using hosts = await Hosts.start(['1.0.0', '1.1.0'], { '3': 1 })
    await hosts.end('1.1.0')
    const said = async (): Promise<string> => (await safe(hosts.shop.read(1)))[0]?.message ?? ''
    while (!(await said()).includes('has no link')) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.match(await said(), /has no link: .*; hosts that export it to this app have none of the versions 3/)
  })
})

describe('the weight of a version', () => {
  it('is that of the longest beginning that fits', () => {
    const versions = { '1': 1, '1.2': 2, '1.2.3': 3, '*': 4, '3': 0 }
    const found = ['1.0.0', '1.2.9', '1.2.3', '1.20.0', '2.0.0', '3.1.0', ''].map(
      (one) => shareOf(versions, one)?.weight,
    )
    assert.deepEqual(found, [1, 2, 3, 1, 4, undefined, 4])
    assert.equal(shareOf({ '1': 1 }, '11.0.0'), undefined)
  })
})
