/** The process that answers. `measure.ts` forks it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { connect } from '@nats-io/transport-node'
import type { Identity } from '../../src/shared/hosts.ts'
import { ClusterShop } from '../../test/cluster/support/cluster-shop.ts'
import { NatsServer } from '../../test/cluster/support/nats-server.ts'
import { Shop } from '../../test/hosts/support/shop.ts'
import { ShopHost } from '../../test/hosts/support/typed-hosts.ts'
import { freePort, startFarApp } from './http-apps.ts'
import { serveByMoleculer } from './moleculer.ts'

export interface Setup {
  readonly nats: number
  readonly identity: Identity
  /** The folder with Moleculer. */
  readonly packages: string | undefined
}

export interface Ports {
  readonly http: number
  readonly tcp: number
  readonly tls: number
  /** The export of the app with the program. */
  readonly app: number
}

process.once('message', (setup: Setup) => void serve(setup))

async function serve({ nats, identity, packages }: Setup): Promise<void> {
  const app = await freePort()
  await startFarApp(app, identity)
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
  const shop = new Shop('far')
  // The callees of the other arms record nothing either.
  for (const one of [tcp, tls, shop]) one.isRecording = false
  await ClusterShop.start(shop, NatsServer.configOf(nats))
  const raw = await connect({ servers: `127.0.0.1:${nats}` })
  raw.subscribe('raw', {
    callback: (_, message) => void message.respond(JSON.stringify({ at: 'far', input: message.json() })),
  })
  if (packages !== undefined) await serveByMoleculer(packages, nats)
  const ports: Ports = { http: (answer.address() as AddressInfo).port, tcp: tcp.port, tls: tls.port, app }
  process.send!(ports)
}
