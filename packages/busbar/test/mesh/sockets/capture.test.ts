import assert from 'node:assert/strict'
import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import net, { Socket } from 'node:net'
import tls from 'node:tls'
import { describe, test } from 'node:test'
import axios from 'axios'
import { got } from 'got'
import { WebSocket as Ws } from 'ws'
import { BusbarError } from '../../../src/contract/errors.ts'
import { captureConnections } from '../../../src/mesh/sockets/capture.ts'
import { bypassProxies } from '../../../src/shared/process/program-environment.ts'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'
import { clients } from '../../support/http/clients.ts'

/** As a property, so that it can be compared. */
const prototype = Socket.prototype as unknown as { connect: (this: Socket, ...args: unknown[]) => Socket }

type Connect = (connected: () => void) => Socket

const forms: Readonly<Record<string, Connect>> = {
  'connect(options)': (connected) => net.connect({ host: 'catalog.internal', port: 80 }).on('connect', connected),
  'connect(options, callback)': (connected) => net.connect({ host: 'catalog.internal', port: 80 }, connected),
  'connect(port, host)': (connected) => net.connect(80, 'catalog.internal').on('connect', connected),
  'connect(port, host, callback)': (connected) => net.connect(80, 'catalog.internal', connected),
  'createConnection(port, host, callback)': (connected) => net.createConnection(80, 'catalog.internal', connected),
  'new Socket().connect(options, callback)': (connected) =>
    new Socket().connect({ host: 'catalog.internal', port: 80 }, connected),
  'new Socket().connect(port, host, callback)': (connected) => new Socket().connect(80, 'catalog.internal', connected),
  'a port that is a string': (connected) =>
    net.connect({ host: 'catalog.internal', port: '80' as unknown as number }, connected),
  'both families at once': (connected) =>
    net.connect({ host: 'catalog.internal', port: 80, autoSelectFamily: true }, connected),
  'another port and other letters': (connected) => net.connect(9999, 'CATALOG.Internal.', connected),
}

describe('a connection to a service is captured from', () => {
  for (const [form, connect] of Object.entries(forms))
    test(form, async () => {
      await using _mesh = new ByteMesh({ catalog: (_request, response) => void response.end('here') })
      const connected = Promise.withResolvers<void>()
      const socket = connect(connected.resolve)
      await connected.promise
      socket.end('GET / HTTP/1.0\r\n\r\n')
      assert.match(Buffer.concat(await socket.toArray()).toString(), /here$/)
    })
})

describe('other targets go to the network:', () => {
  test('an address', async () => {
    await using _mesh = new ByteMesh({ catalog: () => {} })
    const server = http.createServer((_request, response) => void response.end('outside')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as net.AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}`, { headers: { connection: 'close' } })
    assert.equal(await response.text(), 'outside')
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  })

  test('a Unix socket, even with a service as host', async () => {
    await using _mesh = new ByteMesh({ catalog: () => {} })
    const request = http.get({ socketPath: '/nowhere/at/all', host: 'catalog.internal', agent: false })
    const [error] = (await once(request, 'error')) as [NodeJS.ErrnoException]
    assert.equal(error.code, 'ENOENT')
  })

  test('an invalid port', async (t) => {
    await using _mesh = new ByteMesh({ catalog: () => {} })
    // Node opens a handle before it throws.
    const broken = new Socket()
    t.after(() => broken.destroy())
    assert.throws(() => broken.connect(70_000, 'catalog.internal'), { code: 'ERR_SOCKET_BAD_PORT' })
    const portless = { host: 'catalog.internal' } as net.SocketConnectOpts
    assert.throws(() => broken.connect(portless), { code: 'ERR_MISSING_ARGS' })
  })

  test('everything, once the mesh has ended', async () => {
    const before = prototype.connect
    const mesh = new ByteMesh({ catalog: () => {} })
    assert.notEqual(prototype.connect, before)
    await mesh[Symbol.asyncDispose]()
    assert.equal(prototype.connect, before)
  })

  test('a patch on top of the mesh’s survives it', async () => {
    const before = prototype.connect
    await using mesh = new ByteMesh({ catalog: () => {} })
    const second = captureConnections(mesh)
    const theirs = prototype.connect
    const over = function over(this: Socket, ...args: unknown[]): Socket {
      return theirs.apply(this, args)
    }
    prototype.connect = over
    second[Symbol.dispose]()
    assert.equal(prototype.connect, over)
    prototype.connect = before
  })
})

describe('a name that was not found', () => {
  /** Replaces the resolver by one that knows no names. */
  const lookup = ((host: string, _options: unknown, callback: (error: Error) => void) => {
    const message = `getaddrinfo ENOTFOUND ${host}`
    const error = Object.assign(new Error(message), { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: host })
    process.nextTick(callback, error)
  }) as unknown as net.LookupFunction

  async function failedLookup(host: string, names: string[] = ['catalog', 'stock']): Promise<NodeJS.ErrnoException> {
    await using _mesh = new ByteMesh({}, { names })
    const [error] = (await once(net.connect({ host, port: 80, lookup }), 'error')) as [NodeJS.ErrnoException]
    assert.equal(error.code, 'ENOTFOUND')
    return error
  }

  test('under .internal is reported with the services, nearest first', async () => {
    const error = await failedLookup('stok.internal')
    assert.match(
      error.message,
      /^getaddrinfo ENOTFOUND stok\.internal .*http:\/\/stock\.internal, http:\/\/catalog\.internal/,
    )
    assert.match(error.stack!, /http:\/\/stock\.internal/)
  })

  test('of a cloud provider is reported the same way', async () => {
    assert.match((await failedLookup('metadata.google.internal')).message, /http:\/\/catalog\.internal/)
  })

  test('that is a service without .internal is reported with its full name', async () => {
    assert.match((await failedLookup('catalog')).message, /http:\/\/catalog\.internal/)
    assert.match((await failedLookup('catalgo')).message, /http:\/\/catalog\.internal/)
  })

  test('elsewhere is reported unchanged', async () => {
    assert.equal((await failedLookup('catalog.example')).message, 'getaddrinfo ENOTFOUND catalog.example')
    assert.equal((await failedLookup('database')).message, 'getaddrinfo ENOTFOUND database')
  })

  test('lists a limited number of services', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `service${index}`)
    const { message } = await failedLookup('servis7.internal', names)
    assert.match(message, /there are http:\/\/service7\.internal,/)
    assert.match(message, / and 20 more\)$/)
  })

  test('still ends a program that handles no error', async () => {
    await using _mesh = new ByteMesh({ catalog: () => {} })
    const socket = net.connect({ host: 'nobody.internal', port: 80, lookup })
    assert.equal(socket.listenerCount('error'), 0)
    await once(socket, 'error')
  })

  test('is the cause of fetch’s error', async () => {
    await using _mesh = new ByteMesh({ catalog: () => {} })
    const failed = await fetch('http://catalgo.internal').catch((error: unknown) => error as Error)
    assert.ok(failed instanceof Error)
    assert.match((failed.cause as Error).message, /http:\/\/catalog\.internal/)
  })
})

describe('TLS to a service is refused with a hint what to write', () => {
  async function refused(error: unknown): Promise<void> {
    const found = BusbarError.is(error) ? error : (error as Error).cause
    assert.ok(BusbarError.is(found, 'HTTPS_TO_SERVICE'), String(error))
    assert.match(found.message, /http:\/\/catalog\.internal/)
  }

  const attempts: Readonly<Record<string, () => Promise<unknown>>> = {
    'https.get': async () => (await once(https.get('https://catalog.internal'), 'error'))[0],
    'tls.connect': async () => (await once(tls.connect(443, 'catalog.internal'), 'error'))[0],
    'tls.connect with a session': async () =>
      (
        await once(
          tls.connect({ host: 'catalog.internal', port: 443, session: Buffer.alloc(0), ALPNProtocols: ['h2'] }),
          'error',
        )
      )[0],
    axios: () => axios.get('https://catalog.internal').catch((error: unknown) => error),
    got: () => got('https://catalog.internal', { retry: { limit: 0 } }).then(String, (error: unknown) => error),
    fetch: () => fetch('https://catalog.internal').catch((error: unknown) => error),
    ws: async () => (await once(new Ws('wss://catalog.internal'), 'error'))[0],
  }

  for (const [name, attempt] of Object.entries(attempts))
    test(name, async () => {
      await using _mesh = new ByteMesh({ catalog: () => {} })
      await refused(await attempt())
    })

  test('the global WebSocket', async () => {
    await using _mesh = new ByteMesh({ catalog: () => {} })
    const socket = new WebSocket('wss://catalog.internal')
    const [event] = (await once(socket, 'error')) as [Event & { error?: unknown }]
    assert.equal(event.type, 'error')
  })
})

describe('a service without a serving instance refuses connections', () => {
  async function codeOf(call: Promise<unknown>): Promise<NodeJS.ErrnoException> {
    const error = await call.then(
      () => undefined,
      (error: unknown) => error as NodeJS.ErrnoException,
    )
    assert.ok(error)
    return error.code === undefined ? (error.cause as NodeJS.ErrnoException) : error
  }

  for (const [name, open] of Object.entries(clients))
    test(`of ${name}`, async () => {
      await using _mesh = new ByteMesh({}, { names: ['catalog'] })
      await using client = open('http://catalog.internal')
      const error = await codeOf(client.send({ url: 'http://catalog.internal' }))
      assert.equal(error.code, 'ECONNREFUSED')
      assert.match(error.message, /service 'catalog' has not started yet.*needs/)
    })

  test('and the error says that it is stopping, or has stopped', async () => {
    await using mesh = new ByteMesh({})
    const late = new ByteMesh({ stock: () => {} })
    const endpoint = late.router.local('stock')!
    ;(endpoint as { state: string }).state = 'draining'
    await assert.rejects(once(net.connect(80, 'stock.internal'), 'connect'), {
      code: 'ECONNREFUSED',
      syscall: 'connect',
      address: 'stock.internal',
      port: 80,
      message: /service 'stock' is stopping/,
    })
    late.router.remove(endpoint)
    await assert.rejects(once(net.connect(80, 'stock.internal'), 'connect'), /service 'stock' has stopped/)
    await late[Symbol.asyncDispose]()
    assert.deepEqual(mesh.router.names, [])
  })
})

describe('clients that obey HTTP_PROXY', () => {
  test('bypass it for services, whatever else they bypass it for', () => {
    const env: Record<string, string | undefined> = { NO_PROXY: 'example.com, .corp' }
    bypassProxies(env, ['catalog', 'stock'])
    bypassProxies(env, ['catalog', 'stock'])
    assert.equal(env['NO_PROXY'], 'example.com,.corp,catalog.internal,stock.internal')
    assert.equal(env['no_proxy'], env['NO_PROXY'])
  })

  test('without a proxy stay without one', () => {
    const env = { no_proxy: '*' }
    bypassProxies(env, ['catalog'])
    assert.equal(env.no_proxy, '*')
  })

  test('such as axios reach a service without the proxy', async () => {
    await using _mesh = new ByteMesh({ catalog: (_request, response) => void response.end('direct') })
    const before = { ...process.env }
    process.env['HTTP_PROXY'] = 'http://127.0.0.1:9'
    bypassProxies(process.env, ['catalog'])
    try {
      assert.equal((await axios.get<string>('http://catalog.internal')).data, 'direct')
    } finally {
      for (const name of ['HTTP_PROXY', 'NO_PROXY', 'no_proxy'])
        if (before[name] === undefined) delete process.env[name]
        else process.env[name] = before[name]
    }
  })
})
