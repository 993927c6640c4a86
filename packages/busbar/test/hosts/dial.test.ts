import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { test } from 'node:test'
import { makeAuthority, makeCertificate } from '../../src/cli/certificates/make-certificate.ts'
import { dialHost } from '../../src/mesh/hosts/dial-host.ts'
import { ProvenPeers } from '../../src/mesh/hosts/export/proven-peers.ts'
import { IncompletePackets } from '../../src/mesh/transports/incomplete-packets.ts'

test('a dial goes on after this thread was busy for longer than it may take', async () => {
  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const dialling = new AbortController()
  const dialled = dialHost({
    address: { protocol: 'tcp', host: '127.0.0.1', port: (server.address() as AddressInfo).port },
    ip: '127.0.0.1',
    app: 'near',
    identity: undefined,
    peers: new ProvenPeers(),
    incomplete: new IncompletePackets(),
    signal: dialling.signal,
  })
  const failed = assert.rejects(dialled, { code: 'LINK_LOST' })
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5_300)
  const [accepted] = (await once(server, 'connection')) as [Socket]
  assert.match(String(await Promise.race([once(accepted, 'data'), once(accepted, 'end')])), /busbar-app/)
  accepted.destroy()
  await failed
})

for (const protocol of ['tcp', 'tls'] as const)
  test(`a dial over ${protocol} that is given up ends at once, while the host is silent`, async () => {
    const authority = await makeAuthority()
    const pair = await makeCertificate({ name: 'near', hosts: ['127.0.0.1'], days: 1 }, authority)
    await using server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const dialling = new AbortController()
    const dialled = dialHost({
      address: { protocol, host: '127.0.0.1', port },
      ip: '127.0.0.1',
      app: 'near',
      identity: { ...pair, ca: authority.cert },
      peers: new ProvenPeers(),
      incomplete: new IncompletePackets(),
      signal: dialling.signal,
    })
    const [accepted] = (await once(server, 'connection')) as [Socket]
    accepted.resume()
    dialling.abort()
    await assert.rejects(dialled, { code: 'LINK_LOST' })
    accepted.destroy()
  })

test('a dial over TLS to something else says why in words', async () => {
  const authority = await makeAuthority()
  const pair = await makeCertificate({ name: 'near', hosts: ['127.0.0.1'], days: 1 }, authority)
  await using server = createServer(
    (socket) =>
      void socket
        .on('error', () => {})
        .resume()
        .end('HTTP/1.1 400 Bad Request'),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const dialled = dialHost({
    address: { protocol: 'tls', host: '127.0.0.1', port },
    ip: '127.0.0.1',
    app: 'near',
    identity: { ...pair, ca: authority.cert },
    peers: new ProvenPeers(),
    incomplete: new IncompletePackets(),
    signal: new AbortController().signal,
  })
  await assert.rejects(dialled, (error: Error) => {
    assert.match(error.message, /^the TLS handshake failed: [a-z0-9 ]+ \(ERR_SSL_\w+\)$/)
    return true
  })
})
