/** Three hosts with the shop, each behind a proxy, and a caller: over TCP, and over NATS. */
import { ClusterCaller, ClusterShop } from '../../../cluster/support/cluster-shop.ts'
import { NatsServer } from '../../../cluster/support/nats-server.ts'
import { FaultProxy } from '../fault-proxy.ts'
import { Shop } from '../shop.ts'
import { QueueHosts } from './queue-hosts.ts'
import { ShopCaller, ShopHost } from '../typed-hosts.ts'

export interface World extends AsyncDisposable {
  readonly shop: ShopCaller['shop']
  /** In front of each host, and over NATS of the caller too. */
  readonly proxies: readonly FaultProxy[]
  /** All that there have been. */
  readonly shops: readonly Shop[]
  /** Every link is open again. */
  recovered(): Promise<void>
  /** Ends a host as a crash does, then starts another one in its place. */
  restart(host: number, pause: number): Promise<void>
  /** The queue of the hosts, over NATS. */
  readonly queue?: QueueHosts
  /** The NATS server, if there is one. */
  readonly restartServer?: (pause: number) => Promise<void>
}

const names = ['first', 'second', 'third']
/** Milliseconds. */
const keepAliveTimeout = 500

/** The current host of each name. */
interface Places<T> {
  readonly hosts: T[]
  readonly proxies: FaultProxy[]
  readonly shops: Shop[]
}

export async function tcpWorld(): Promise<World> {
  const { hosts, proxies, shops }: Places<ShopHost> = { hosts: [], proxies: [], shops: [] }
  const start = async (at: number): Promise<void> => {
    const host = await ShopHost.start(names[at]!, { keepAliveTimeout })
    hosts[at] = host
    shops.push(host)
    if (proxies[at] === undefined) proxies[at] = await FaultProxy.open(host.port)
    else proxies[at].retarget(host.port)
  }
  for (const at of names.keys()) await start(at)
  const addresses = proxies.map(({ port }) => ({ protocol: 'tcp', host: '127.0.0.1', port }) as const)
  const caller = await ShopCaller.open(addresses, { keepAliveTimeout })
  return {
    shop: caller.shop,
    proxies,
    shops,
    recovered: async () => await untilOpen(caller),
    async restart(at, pause) {
      proxies[at]!.cut()
      await hosts[at]![Symbol.asyncDispose]()
      await sleep(pause)
      await start(at)
    },
    async [Symbol.asyncDispose]() {
      caller[Symbol.dispose]()
      for (const one of [...hosts, ...proxies]) await one[Symbol.asyncDispose]()
    },
  }
}

export async function natsWorld(): Promise<World> {
  const nats = await NatsServer.startWithJetStream()
  const { hosts, proxies, shops }: Places<ClusterShop> = { hosts: [], proxies: [], shops: [] }
  for (const _ of [...names, 'caller']) proxies.push(await FaultProxy.open(nats.port))
  const start = async (at: number): Promise<void> => {
    const shop = new Shop(names[at]!)
    shops.push(shop)
    hosts[at] = await ClusterShop.start(shop, nats.config({}, proxies[at]!.port), keepAliveTimeout)
  }
  for (const at of names.keys()) await start(at)
  const caller = await ClusterCaller.open(nats.config({}, proxies.at(-1)!.port), 1, keepAliveTimeout)
  await untilOpen(caller)
  const queue = new QueueHosts(names.map((_, at) => nats.config({}, proxies[at]!.port)))
  return {
    shop: caller.shop,
    proxies,
    shops,
    queue,
    recovered: async () => await untilOpen(caller),
    async restart(at, pause) {
      proxies[at]!.cut()
      await hosts[at]![Symbol.asyncDispose]()
      await queue.restart(at)
      await sleep(pause)
      await start(at)
    },
    async restartServer(pause) {
      await nats.kill()
      await sleep(pause)
      await nats.start()
    },
    async [Symbol.asyncDispose]() {
      await caller[Symbol.asyncDispose]()
      await queue[Symbol.asyncDispose]()
      for (const one of [...hosts, ...proxies, nats]) await one[Symbol.asyncDispose]()
    },
  }
}

async function untilOpen({ hosts }: Pick<ShopCaller, 'hosts'>): Promise<void> {
  while (hosts.connections.filter(({ fault }) => fault === undefined).length < names.length) await sleep(10)
}

function sleep(duration: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, duration))
}
