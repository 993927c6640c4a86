/** What comes from NATS over a slow network: one large message alone. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { makeAuthority, makeCertificate } from '../../src/cli/certificates/make-certificate.ts'
import { ClusterConnection } from '../../src/shared/cluster/connection.ts'
import type { ClusterConfig } from '../../src/shared/hosts.ts'
import { fair, FaultProxy } from '../hosts/support/fault-proxy.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { NatsServer, withoutNats } from './support/nats-server.ts'

const payload = 'max_payload: 4194304'

async function startTls(folder: TestFolder): Promise<{ nats: NatsServer; tls: ClusterConfig['tls'] }> {
  const ca = await makeAuthority()
  const { cert, key } = await makeCertificate({ name: 'server', hosts: ['127.0.0.1'], days: 1 }, ca)
  folder.write('ca.pem', ca.cert)
  folder.write('server.pem', cert)
  folder.write('server-key.pem', key)
  const files = `cert_file: "${folder.at('server.pem')}", key_file: "${folder.at('server-key.pem')}"`
  return { nats: await NatsServer.start(`${payload}\ntls: { ${files} }`), tls: { ca: folder.at('ca.pem') } }
}

/** Publishes 2 MB to a connection that gets 100 KB/s. Resolves to how many bytes have come. */
async function receive(nats: NatsServer, tls: ClusterConfig['tls']): Promise<number> {
  await using proxy = await FaultProxy.open(nats.port)
  const received = Promise.withResolvers<number>()
  const [subscribed, lost] = [Promise.withResolvers<void>(), new Error('the connection is lost')]
  const connect = (port: number, parts: Partial<ConstructorParameters<typeof ClusterConnection>[0]>) =>
    new ClusterConnection({
      config: nats.config({ tls }, port),
      name: 'test',
      opened: () => {},
      lost: () => received.reject(lost),
      log: () => {},
      ...parts,
    })
  const far = connect(proxy.port, {
    opened: (connection) => {
      connection.subscribe('test.large', { callback: (_, message) => received.resolve(message.data.length) })
      void connection.flush().then(subscribed.resolve, subscribed.reject)
    },
  })
  const near = connect(nats.port, { lost: () => {} })
  await Promise.all([subscribed.promise, near.tried])
  proxy.weather = { delay: 0, rate: 100_000 }
  near.current!.publish('test.large', new Uint8Array(2_000_000))
  try {
    return await received.promise
  } finally {
    proxy.weather = fair
    received.promise.catch(() => {})
    await Promise.all([far.close(), near.close()])
  }
}

describe(
  'a message that arrives for longer than a server may be silent',
  { skip: withoutNats, concurrency: true },
  () => {
    it('does not end the connection', async () => {
      await using nats = await NatsServer.start(payload)
      assert.equal(await receive(nats, undefined), 2_000_000)
    })

    it('does not end a connection over TLS', async () => {
      using folder = new TestFolder()
      const { nats, tls } = await startTls(folder)
      await using _ = nats
      assert.equal(await receive(nats, tls), 2_000_000)
    })
  },
)
