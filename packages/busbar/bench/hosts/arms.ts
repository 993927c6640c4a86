/** The ways to call another process that are compared. Each has two processes of its own. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { connect } from '@nats-io/transport-node'
import { Agent, request } from 'undici8'
import type { Identity } from '../../src/shared/hosts.ts'
import { ClusterCaller, ClusterShop } from '../../test/cluster/support/cluster-shop.ts'
import { NatsServer } from '../../test/cluster/support/nats-server.ts'
import { Shop } from '../../test/hosts/support/shop.ts'
import { ShopCaller, ShopHost } from '../../test/hosts/support/typed-hosts.ts'
import { callBatched, serveBatched } from './batched-nats.ts'
import { freePort, startFarApp, startNearApp } from './http-apps.ts'
import { callByMoleculer, serveByMoleculer } from './moleculer.ts'
import { type Call, connections, order, rate } from './rate.ts'

export interface Setup {
  /** The port of the NATS server. */
  readonly nats: number
  readonly identity: Identity
  /** The folder with Moleculer. */
  readonly packages: string | undefined
}

/** Calls for so many milliseconds. Resolves to calls per second. */
export type Measure = (duration: number) => Promise<number>

interface Arm {
  /** In the process that answers. Resolves to its port, or to 0. */
  readonly serve: (setup: Setup) => Promise<number>
  /** In the process that calls. */
  readonly open: (setup: Setup, port: number) => Promise<Measure>
}

/** undici's default dispatcher, or an agent of the program's own, without or with a limit. */
type ProgramAgent = 'global' | 'own' | 'limited'

export const arms: Readonly<Record<string, Arm>> = {
  undici: {
    serve: serveHttp,
    open: async (_, port) => measured(callByUndici(`http://127.0.0.1:${port}/`)),
  },
  tcp: {
    serve: async () => recordingNothing(await ShopHost.start('far')).port,
    open: async (_, port) => measured(callerOf(await ShopCaller.open([{ protocol: 'tcp', host: '127.0.0.1', port }]))),
  },
  'mutual tls': {
    serve: async ({ identity }) => recordingNothing(await ShopHost.start('far', { identity })).port,
    open: async ({ identity }, port) =>
      measured(callerOf(await ShopCaller.open([{ protocol: 'tls', host: '127.0.0.1', port }], { own: identity }))),
  },
  'undici in a program': programOverTcp('limited'),
  'undici without a limit in a program': programOverTcp('own'),
  'http over tls in a program': programOverTls('global'),
  'http over tls by an own agent': programOverTls('own'),
  'http over tls by a limited agent': programOverTls('limited'),
  'raw nats': {
    async serve({ nats }) {
      const connection = await connect({ servers: `127.0.0.1:${nats}` })
      connection.subscribe('raw', {
        callback: (_, message) => void message.respond(JSON.stringify({ at: 'far', input: message.json() })),
      })
      return 0
    },
    async open({ nats }) {
      const raw = await connect({ servers: `127.0.0.1:${nats}` })
      return measured(async () => (await raw.request('raw', JSON.stringify(order), { timeout: 5_000 })).json())
    },
  },
  'batched nats': {
    async serve({ nats }) {
      await serveBatched(nats)
      return 0
    },
    open: async ({ nats }) => measured(await callBatched(nats, order)),
  },
  nats: {
    async serve({ nats }) {
      await ClusterShop.start(recordingNothing(new Shop('far')), NatsServer.configOf(nats))
      return 0
    },
    open: async ({ nats }) => measured(callerOf(await ClusterCaller.open(NatsServer.configOf(nats)))),
  },
  moleculer: {
    async serve({ packages, nats }) {
      await serveByMoleculer(packages!, nats)
      return 0
    },
    open: async ({ packages, nats }) => measured(await callByMoleculer(packages!, nats)),
  },
}

function measured(call: Call): Measure {
  return (duration) => rate(call, duration)
}

/** The callees of the other arms record nothing either. */
function recordingNothing<T extends Shop>(shop: T): T {
  shop.isRecording = false
  return shop
}

function callerOf({ shop }: Pick<ShopCaller | ClusterCaller, 'shop'>): Call {
  return () => shop.write(order)
}

async function serveHttp(): Promise<number> {
  const server = createServer((request, response) => {
    void json(request).then((input) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ at: 'far', input }))
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

function callByUndici(url: string): Call {
  const dispatcher = new Agent({ connections })
  const headers = { 'content-type': 'application/json' }
  return async () => {
    const { body } = await request(url, { dispatcher, method: 'POST', headers, body: JSON.stringify(order) })
    return await body.json()
  }
}

function programOverTcp(agent: ProgramAgent): Arm {
  return {
    serve: serveHttp,
    open: async ({ identity }, port) => await inProgram(`http://127.0.0.1:${port}/`, agent, await freePort(), identity),
  }
}

function programOverTls(agent: ProgramAgent): Arm {
  return {
    async serve({ identity }) {
      const port = await freePort()
      await startFarApp(port, identity)
      return port
    },
    open: async ({ identity }, port) => await inProgram('http://stock.internal/', agent, port, identity),
  }
}

/** `port`: of the app that `stock.internal` is in. */
async function inProgram(url: string, agent: ProgramAgent, port: number, identity: Identity): Promise<Measure> {
  const near = await startNearApp(port, identity)
  return async (duration) => {
    const query = new URLSearchParams({ url, agent, duration: String(duration) })
    const response = await fetch(`${near.url}/?${String(query)}`)
    if (!response.ok) throw new Error(await response.text())
    return Number(await response.text())
  }
}
