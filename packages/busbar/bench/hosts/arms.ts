/** What is compared. Each arm measures itself for a while, and resolves to calls per second. */
import { connect } from '@nats-io/transport-node'
import { Agent, request } from 'undici8'
import type { Identity } from '../../src/shared/hosts.ts'
import { ClusterCaller } from '../../test/cluster/support/cluster-shop.ts'
import { NatsServer } from '../../test/cluster/support/nats-server.ts'
import { ShopCaller } from '../../test/hosts/support/typed-hosts.ts'
import type { Ports } from './callee.ts'
import { startNearApp } from './http-apps.ts'
import { callByMoleculer } from './moleculer.ts'
import { type Call, connections, order, rate } from './rate.ts'

export interface ArmsParts {
  readonly ports: Ports
  readonly nats: number
  readonly identity: Identity
  readonly packages: string | undefined
}

export type Arm = (duration: number) => Promise<number>

export async function openArms({ ports, nats, identity, packages }: ArmsParts): Promise<Record<string, Arm>> {
  const raw = await connect({ servers: `127.0.0.1:${nats}` })
  const near = await startNearApp(ports.app, identity)
  const plain = `http://127.0.0.1:${ports.http}/`
  const inProgram = (url: string, agent: 'own' | 'global') => async (duration: number) => {
    const response = await fetch(
      `${near.url}/?${String(new URLSearchParams({ url, agent, duration: String(duration) }))}`,
    )
    if (!response.ok) throw new Error(await response.text())
    return Number(await response.text())
  }
  return {
    undici: during(async () => ({ call: callByUndici(plain), end: () => {} })),
    tcp: during(async () => await linked('tcp', ports.tcp)),
    'mutual tls': during(async () => await linked('tls', ports.tls, identity)),
    'undici in a program': inProgram(plain, 'own'),
    'http over tls in a program': inProgram('http://stock.internal/', 'global'),
    'http over tls by an own agent': inProgram('http://stock.internal/', 'own'),
    'raw nats': during(async () => {
      return {
        call: async () => (await raw.request('raw', JSON.stringify(order), { timeout: 5_000 })).json(),
        end: () => {},
      }
    }),
    nats: during(async () => {
      const caller = await ClusterCaller.open(NatsServer.configOf(nats))
      return { call: () => caller.shop.write(order), end: () => caller[Symbol.asyncDispose]() }
    }),
    ...(packages !== undefined && { moleculer: await moleculer(packages, nats) }),
  }
}

interface Turn {
  readonly call: Call
  readonly end: () => unknown
}

/** A thread has one mesh, so a caller has it only for its turn. */
function during(open: () => Promise<Turn>): Arm {
  return async (duration) => {
    const { call, end } = await open()
    const perSecond = await rate(call, duration)
    await end()
    return perSecond
  }
}

function callByUndici(url: string): Call {
  const dispatcher = new Agent({ connections })
  const headers = { 'content-type': 'application/json' }
  return async () => {
    const { body } = await request(url, { dispatcher, method: 'POST', headers, body: JSON.stringify(order) })
    return await body.json()
  }
}

async function linked(protocol: 'tcp' | 'tls', port: number, own?: Identity): Promise<Turn> {
  const caller = await ShopCaller.open([{ protocol, host: '127.0.0.1', port }], own === undefined ? {} : { own })
  return { call: () => caller.shop.write(order), end: () => caller[Symbol.dispose]() }
}

async function moleculer(packages: string, nats: number): Promise<Arm> {
  const call = await callByMoleculer(packages, nats)
  return (duration) => rate(call, duration)
}
