/**
 * Calls between two processes, 64 in flight: as typed calls over TCP, mutual TLS and NATS, as HTTP
 * by undici over plain TCP, and as raw requests of the NATS client. Arms take turns.
 *
 * `node --conditions=busbar-source packages/busbar/bench/hosts.ts [--rounds 5] [--seconds 1]`
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { connect } from '@nats-io/transport-node'
import { Pool } from 'undici8'
import { makeAuthority, makeCertificate } from '../src/cli/certificates/make-certificate.ts'
import type { Identity } from '../src/shared/hosts.ts'
import { ClusterCaller, ClusterShop } from '../test/cluster/support/cluster-shop.ts'
import { NatsServer } from '../test/cluster/support/nats-server.ts'
import { Shop } from '../test/hosts/support/shop.ts'
import { ShopCaller, ShopHost } from '../test/hosts/support/typed-hosts.ts'

interface Setup {
  readonly nats: number
  readonly identity: Identity
}

interface Ports {
  readonly http: number
  readonly tcp: number
  readonly tls: number
}

const order = { id: 7, items: [{ sku: 'a-1', count: 2 }], note: 'as soon as possible' }
const inFlight = 64

if (process.send === undefined) await measure()
else process.once('message', (setup: Setup) => void serve(setup))

async function serve({ nats, identity }: Setup): Promise<void> {
  const answer = createServer((request, response) => {
    void json(request).then((input) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ at: 'far', input }))
    })
  })
  answer.listen(0, '127.0.0.1')
  await once(answer, 'listening')
  const tcp = await ShopHost.start('far')
  const tls = await ShopHost.start('far', { identity })
  await ClusterShop.start(new Shop('far'), NatsServer.configOf(nats))
  const raw = await connect({ servers: `127.0.0.1:${nats}` })
  raw.subscribe('raw', {
    callback: (_, message) => void message.respond(JSON.stringify({ at: 'far', input: message.json() })),
  })
  const ports: Ports = { http: (answer.address() as AddressInfo).port, tcp: tcp.port, tls: tls.port }
  process.send!(ports)
}

async function measure(): Promise<void> {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '1' } },
  })
  const ca = await makeAuthority()
  const identity = async (name: string): Promise<Identity> => {
    return { ...(await makeCertificate({ name, hosts: ['127.0.0.1'], days: 1 }, ca)), ca: ca.cert }
  }
  await using nats = await NatsServer.start()
  const child = fork(import.meta.filename, { execArgv: ['--conditions=busbar-source'] })
  child.send({ nats: nats.port, identity: await identity('far') } satisfies Setup)
  const [ports] = (await once(child, 'message')) as [Ports]
  const arms = await openArms(ports, nats.port, await identity('near'))
  const results = new Map<string, number[]>(Object.keys(arms).map((name) => [name, []]))
  for (let round = 0; round <= Number(values.rounds); round++)
    for (const [name, open] of Object.entries(arms)) {
      const perSecond = await rate(await open(), Number(values.seconds) * 1000)
      // The first round warms up.
      if (round > 0) results.get(name)!.push(perSecond)
    }
  const middle = (name: string): number => results.get(name)!.toSorted((a, b) => a - b)[Number(values.rounds) >> 1]!
  for (const name of Object.keys(arms)) {
    const against = name === 'nats' ? 'raw nats' : 'undici'
    console.log(
      `${name}: ${Math.round(middle(name))} per second, ${(middle(name) / middle(against)).toFixed(2)} x ${against}`,
    )
  }
  child.kill()
  process.exit()
}

type Call = () => Promise<unknown>

/** A thread has one mesh, so a caller takes it for its turn. */
async function openArms(
  { http, tcp, tls }: Ports,
  nats: number,
  own: Identity,
): Promise<Record<string, () => Promise<Call>>> {
  const pool = new Pool(`http://127.0.0.1:${http}`, { connections: 16 })
  const raw = await connect({ servers: `127.0.0.1:${nats}` })
  const headers = { 'content-type': 'application/json' }
  let end: () => unknown = () => {}
  const turn = async (open: () => Promise<{ call: Call; end: () => unknown }>): Promise<Call> => {
    await end()
    const opened = await open()
    end = opened.end
    return opened.call
  }
  const linked = (protocol: 'tcp' | 'tls', port: number) => async () => {
    const caller = await ShopCaller.open([{ protocol, host: '127.0.0.1', port }], protocol === 'tls' ? { own } : {})
    return { call: () => caller.shop.write(order), end: () => caller[Symbol.dispose]() }
  }
  return {
    undici: async () => async () => {
      const { body } = await pool.request({ path: '/', method: 'POST', headers, body: JSON.stringify(order) })
      return await body.json()
    },
    tcp: () => turn(linked('tcp', tcp)),
    tls: () => turn(linked('tls', tls)),
    'raw nats': async () => async () => (await raw.request('raw', JSON.stringify(order), { timeout: 5_000 })).json(),
    nats: () =>
      turn(async () => {
        const caller = await ClusterCaller.open(NatsServer.configOf(nats))
        return { call: () => caller.shop.write(order), end: () => caller[Symbol.asyncDispose]() }
      }),
  }
}

/** Calls per second. */
async function rate(call: Call, duration: number): Promise<number> {
  const began = performance.now()
  let count = 0
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      for (; performance.now() - began < duration; count++) await call()
    }),
  )
  return (count * 1000) / (performance.now() - began)
}
