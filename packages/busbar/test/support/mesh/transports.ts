/** The transports of links, each with both ends in this process. */
import { once } from 'node:events'
import { rm, mkdtemp } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { MessageChannel } from 'node:worker_threads'
import { makeAuthority, makeCertificate } from '../../../src/cli/certificates/make-certificate.ts'
import { dialHost } from '../../../src/mesh/hosts/dial-host.ts'
import { exporterGreeting } from '../../../src/mesh/hosts/host-hello.ts'
import { ProvenPeers } from '../../../src/mesh/hosts/export/proven-peers.ts'
import { IncompletePackets } from '../../../src/mesh/transports/incomplete-packets.ts'
import { loopbackTransports } from '../../../src/mesh/transports/loopback.ts'
import type { PacketTransport } from '../../../src/mesh/links/packet-transport.ts'
import { greet, type HandshakeResult } from '../../../src/mesh/transports/socket.ts'
import { threadTransport } from '../../../src/mesh/transports/thread.ts'
import { dialUnix, listenUnix } from '../../../src/mesh/transports/unix.ts'
import type { Identity } from '../../../src/shared/hosts.ts'

export interface Way {
  readonly name: string
  connect(): Promise<[PacketTransport, PacketTransport]>
}

export const memory: Way = { name: 'memory', connect: async () => loopbackTransports() }

export const thread: Way = {
  name: 'a message port',
  connect: async () => {
    const { port1, port2 } = new MessageChannel()
    return [threadTransport(port1), threadTransport(port2)]
  },
}

export const unix: Way = {
  name: 'a Unix socket',
  connect: async () => {
    const folder = await mkdtemp(join(tmpdir(), 'busbar-link-'))
    const taken = Promise.withResolvers<HandshakeResult>()
    const listener = await listenUnix(
      join(folder, 'link'),
      { worker: 2, secret: 's' },
      (greeted) => taken.resolve(greeted),
      (error) => taken.reject(error),
    )
    const [near, far] = await Promise.all([dialUnix(join(folder, 'link'), { worker: 1, secret: 's' }), taken.promise])
    await listener.close()
    await rm(folder, { recursive: true })
    return [near.transport, far.transport]
  },
}

export const tcp: Way = { name: 'TCP between apps', connect: () => betweenApps(undefined) }

export const tls: Way = {
  name: 'TLS between apps',
  connect: async () => {
    const authority = await makeAuthority()
    const pair = await makeCertificate({ name: 'test', hosts: ['127.0.0.1'], days: 1 }, authority)
    return await betweenApps({ ...pair, ca: authority.cert })
  },
}

async function betweenApps(identity: Identity | undefined): Promise<[PacketTransport, PacketTransport]> {
  const server = identity === undefined ? createServer() : createTlsServer({ ...identity, requestCert: true })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const taken = once(server, identity === undefined ? 'connection' : 'secureConnection').then(([socket]) =>
    greet(socket as Socket, false, exporterGreeting({ app: 'far', version: '', services: [] })),
  )
  const { port } = server.address() as AddressInfo
  const address = { protocol: identity === undefined ? 'tcp' : 'tls', host: '127.0.0.1', port } as const
  const { signal } = new AbortController()
  const shared = { peers: new ProvenPeers(), incomplete: new IncompletePackets() }
  const dialled = dialHost({ address, ip: '127.0.0.1', app: 'near', identity, ...shared, signal })
  const [near, far] = await Promise.all([dialled, taken])
  server.close()
  return [near.transport, far.transport]
}

export const ways: readonly Way[] = [memory, thread, unix, tcp, tls]
