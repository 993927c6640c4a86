/** How an app proves to NATS who it is, and how it knows the server. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { before, describe, it } from 'node:test'
import { createUser } from '@nats-io/nkeys'
import { type CertificatePair, makeAuthority, makeCertificate } from '../../src/cli/certificates/make-certificate.ts'
import { safe } from '../../src/contract/client-entry.ts'
import type { ClusterConfig } from '../../src/shared/hosts.ts'
import { FaultProxy } from '../hosts/support/fault-proxy.ts'
import { Shop } from '../hosts/support/shop.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { pollUntil } from '../support/app/test-app.ts'
import { ClusterCaller, ClusterShop } from './support/cluster-shop.ts'
import { makeAccount } from './support/nats-accounts.ts'
import { NatsServer, withoutNats } from './support/nats-server.ts'

async function calls(config: ClusterConfig): Promise<void> {
  await using _ = await ClusterShop.start(new Shop('far'), config)
  await using caller = await ClusterCaller.open(config)
  assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
}

/** What the log says of a connection that the server refuses, or that the app does. */
async function refused(config: ClusterConfig, message: RegExp): Promise<void> {
  const own = new Shop('far')
  await using _ = await ClusterShop.start(own, config)
  await pollUntil(
    () => own.log.some((line) => message.test(line)),
    () => own.log,
  )
}

describe('a connection to NATS', { skip: withoutNats }, () => {
  it('uses a user and a password', async () => {
    await using nats = await NatsServer.start('authorization: { user: "shop", password: "s3cret" }')
    await calls(nats.config({ user: 'shop', password: 's3cret' }))
    await refused(nats.config({ user: 'shop', password: 'wrong' }), /cannot be reached: .*Authorization/i)
    await refused(nats.config(), /cannot be reached: .*Authorization/i)
  })

  it('uses a credentials file; one that has expired is refused, and its successor is read', async () => {
    using folder = new TestFolder()
    const account = makeAccount()
    await using nats = await NatsServer.start(account.settings)
    const credentials = folder.at('app.creds')
    const config = nats.config({ credentials })
    await refused(config, /cannot be reached: cluster\.credentials: .*app\.creds cannot be read: ENOENT/)
    for (const incomplete of [account.credentials().slice(0, 100), '']) {
      folder.write('app.creds', incomplete)
      await refused(config, /app\.creds has neither credentials of nsc nor the seed/)
    }
    folder.write('app.creds', account.credentials())
    await calls(config)
    folder.write('app.creds', makeAccount().credentials())
    await refused(config, /cannot be reached: .*Authorization/i)
    folder.write('app.creds', account.credentials(Math.floor(Date.now() / 1_000) - 60))
    const own = new Shop('far')
    await using _ = await ClusterShop.start(own, config)
    await pollUntil(() => own.log.some((line) => line.includes('cannot be reached')))
    folder.write('app.creds', account.credentials())
    await pollUntil(() => own.log.some((line) => line.includes('is connected again')))
  })

  it('says that a server which closes it at once may be full', async () => {
    const resets = [true, false]
    const server = createServer((socket) => {
      if (resets.shift() === true) socket.resetAndDestroy()
      else socket.end()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    await refused(NatsServer.configOf(port), /cannot be reached: .*closed before it was accepted, .*max_connections/)
    server.close()
    await once(server, 'close')
    // The client keeps the time limit of a connect that has failed, for three seconds.
    await pollUntil(() => !process.getActiveResourcesInfo().includes('Timeout'))
  })

  it('uses the seed of an nkey', async () => {
    using folder = new TestFolder()
    const user = createUser()
    folder.write('app.nk', Buffer.from(user.getSeed()).toString())
    await using nats = await NatsServer.start(`authorization: { users: [{ nkey: ${user.getPublicKey()} }] }`)
    await calls(nats.config({ credentials: folder.at('app.nk') }))
    folder.write('app.nk', Buffer.from(createUser().getSeed()).toString())
    await refused(nats.config({ credentials: folder.at('app.nk') }), /cannot be reached: .*Authorization/i)
  })

  it('says which file it cannot read', async () => {
    await using nats = await NatsServer.start()
    await refused(nats.config({ credentials: '/nowhere/app.creds' }), /cannot be reached: .*\/nowhere\/app\.creds/)
  })

  it('says that the server refuses it, if that is so only after an outage', async () => {
    const settings = (password: string): string => `authorization: { user: "shop", password: "${password}" }`
    await using nats = await NatsServer.start(settings('first'))
    const config = nats.config({ user: 'shop', password: 'first' })
    const own = new Shop('far')
    await using _ = await ClusterShop.start(own, config)
    await using caller = await ClusterCaller.open(config)
    const says = async (log: readonly string[], text: RegExp): Promise<void> =>
      await pollUntil(
        () => log.some((line) => text.test(line)),
        () => log,
      )
    await nats.restart(settings('second'))
    for (const log of [own.log, caller.log]) await says(log, /cannot be reached: .*Authorization/i)
    assert.match((await safe(caller.shop.write(1)))[0]?.message ?? '', /cannot be reached: .*Authorization/i)
    await nats.restart(settings('first'))
    for (const log of [own.log, caller.log]) await says(log, /is connected again/)
  })

  it('goes on with other subjects if the server does not permit one', async () => {
    const permissions = '{ publish: ["busbar.test.>"], subscribe: ["busbar.test.>"] }'
    const users = `authorization: { users: [{ user: "shop", password: "p", permissions: ${permissions} }] }`
    await using nats = await NatsServer.start(users)
    const config = nats.config({ user: 'shop', password: 'p' })
    // It may not answer the services framework.
    await refused(config, /refuses subscriptions: .*\$SRV.* \(tools of NATS do not see the services\)/)
    await calls(config)
  })
})

describe('a connection to NATS over TLS', { skip: withoutNats }, () => {
  const folder = new TestFolder()
  let ca: CertificatePair
  let otherCa: CertificatePair

  before(async () => {
    ca = await makeAuthority()
    otherCa = await makeAuthority()
    folder.write('ca.pem', ca.cert)
    folder.write('other-ca.pem', otherCa.cert)
  })

  async function files(name: string, hosts: string[], by = ca, days = 1): Promise<{ cert: string; key: string }> {
    const { cert, key } = await makeCertificate({ name, hosts, days }, by)
    folder.write(`${name}.pem`, cert)
    folder.write(`${name}-key.pem`, key)
    return { cert: folder.at(`${name}.pem`), key: folder.at(`${name}-key.pem`) }
  }

  async function start(name: string, hosts: string[], rest = '', days = 1): Promise<NatsServer> {
    const { cert, key } = await files(name, hosts, ca, days)
    return await NatsServer.start(`tls: { cert_file: "${cert}", key_file: "${key}" ${rest} }`)
  }

  it('trusts the CA of the config', async () => {
    await using nats = await start('server', ['127.0.0.1'])
    await calls(nats.config({ tls: { ca: folder.at('ca.pem') } }))
  })

  it('is not opened to a server of another CA, or without one', async () => {
    await using nats = await start('server', ['127.0.0.1'])
    const untrusted = /cannot be reached: its certificate is not of a CA .*\(cluster\.tls\.ca\)(?!.*use-system-ca)/
    await refused(nats.config({ tls: { ca: folder.at('other-ca.pem') } }), untrusted)
    await refused(nats.config({ tls: {} }), untrusted)
  })

  it('is not opened to a server whose certificate has another name, or has expired', async () => {
    await using other = await start('other', ['nats.example'])
    await refused(other.config({ tls: { ca: folder.at('ca.pem') } }), /cannot be reached: .*(altnames|cert's list)/i)
    await using late = await start('late', ['127.0.0.1'], '', -1)
    await refused(late.config({ tls: { ca: folder.at('ca.pem') } }), /cannot be reached: .*expired/)
  })

  it('is not opened without TLS if the config requires it', async () => {
    await using nats = await NatsServer.start()
    await refused(nats.config({ tls: { ca: folder.at('ca.pem') } }), /cannot be reached: /)
  })

  it('shows a certificate to a server that asks for one', async () => {
    await using nats = await start('server', ['127.0.0.1'], `, ca_file: "${folder.at('ca.pem')}", verify: true`)
    const own = await files('app', ['127.0.0.1'])
    await calls(nats.config({ tls: { ca: folder.at('ca.pem'), ...own } }))
    // The rest of the line has no address of a thread and no line of C.
    const refusal =
      /cannot be reached: it refuses this app's certificate, or needs one \(cluster\.tls\.cert\): [\w/ ]+;/
    await refused(nats.config({ tls: { ca: folder.at('ca.pem') } }), refusal)
    const foreign = await files('foreign', ['127.0.0.1'], otherCa)
    await refused(nats.config({ tls: { ca: folder.at('ca.pem'), ...foreign } }), refusal)
    const mixed = { cert: own.cert, key: foreign.key }
    const mismatch = /cannot be reached: the key of this app does not belong to its certificate \(cluster\.tls\.cert\)/
    await refused(nats.config({ tls: { ca: folder.at('ca.pem'), ...mixed } }), mismatch)
    folder.write('partial-key.pem', '-----BEGIN PRIVATE')
    const partial = { cert: own.cert, key: folder.at('partial-key.pem') }
    const damage = /cannot be reached: a file of this app is damaged or incomplete \(cluster\.tls\.cert, its key/
    await refused(nats.config({ tls: { ca: folder.at('ca.pem'), ...partial } }), damage)
  })

  it('stays open when the server has a certificate of another CA from now on; the next one needs that CA', async () => {
    const tls = ({ cert, key }: { cert: string; key: string }): string =>
      `tls: { cert_file: "${cert}", key_file: "${key}" }`
    const [first, next] = [await files('first', ['127.0.0.1']), await files('next', ['127.0.0.1'], otherCa)]
    await using nats = await NatsServer.start(tls(first))
    await using proxy = await FaultProxy.open(nats.port)
    folder.write('current-ca.pem', ca.cert)
    const config = nats.config({ tls: { ca: folder.at('current-ca.pem') } }, proxy.port)
    const own = new Shop('far')
    await using _ = await ClusterShop.start(own, config)
    await using caller = await ClusterCaller.open(config)
    await nats.reload(tls(next))
    assert.deepEqual(await caller.shop.write(1), { at: 'far', input: 1 })
    proxy.cut()
    for (const log of [own.log, caller.log])
      await pollUntil(() => log.some((line) => line.includes('its certificate is not of a CA')))
    folder.write('current-ca.pem', otherCa.cert)
    await caller.linked()
    assert.deepEqual(await caller.shop.write(2), { at: 'far', input: 2 })
  })
})
