/** Apps whose gateway is behind the native entrance: routes, placements, restarts and stops. */
import assert from 'node:assert/strict'
import { request as httpRequest, Agent } from 'node:http'
import { describe, it } from 'node:test'
import type { Service } from '../../src/config/app.ts'
import { entranceLibrary } from '../../src/entrance/load.ts'
import type { EntranceLibrary } from '../../src/shared/entrance/entrance.ts'
import type { StartOptions } from '../../src/supervisor/running-app.ts'
import { type AppSetup, appOf, TestApp } from '../support/app/test-app.ts'
import { builtAddon, Client, eventually, get } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }
const file = `${import.meta.dirname}/programs/app.mjs`

function service(name: string, run: Service['run'], more: Partial<Service> = {}): Partial<Service> & { file: string } {
  return { file, run, env: { SERVICE: name }, ...more }
}

function start(setup: AppSetup, started: Partial<StartOptions> = {}): Promise<TestApp> {
  return TestApp.startLoaded(appOf({ ...setup, gateway: { entrance: 'native', ...setup.gateway } }), started)
}

const route = (name: string) => ({ host: undefined, prefix: `/${name}`, service: name })

async function text(app: TestApp, path: string, init?: RequestInit): Promise<string> {
  const response = await fetch(new URL(path, app.url), init)
  return `${response.status} ${await response.text()}`
}

describe('an app behind the native entrance', options, () => {
  it('serves its routes, wherever their services run', async () => {
    const services = { a: service('a', 'shared'), b: service('b', 'thread'), c: service('c', 'process') }
    const routes = [route('b'), route('c')]
    await using app = await start({ workers: 2, services, gateway: { entry: 'a', routes } })
    for (const [path, name] of [
      ['/', 'a'],
      ['/b/', 'b'],
      ['/c/', 'c'],
    ] as const) {
      assert.match(await text(app, path), new RegExp(`^200 ${name} GET 0 `))
      assert.match(
        await text(app, path, { method: 'POST', body: 'x'.repeat(300_000) }),
        new RegExp(`${name} POST 300000 `),
      )
    }
    const seen = JSON.parse((await text(app, '/b/seen?q')).slice(4)) as { url: string; rawHeaders: string[] }
    assert.equal(seen.url, '/seen?q')
    assert.deepEqual(seen.rawHeaders.slice(-8, -6), ['x-forwarded-for', '127.0.0.1'])
    assert.match(await text(app, '/b/../c/'), /^200 c/)
  })

  it('gives each worker its share of the requests of one connection', async () => {
    await using app = await start({
      workers: 2,
      services: { a: service('a', 'shared') },
      gateway: { entry: undefined, routes: [route('a')] },
    })
    const threads = new Set<string>()
    for (let n = 0; n < 10; n++) threads.add(await text(app, '/a/'))
    assert.equal(threads.size, 2)
  })

  it('has a sole entry whose program sees its clients', async () => {
    for (const run of ['shared', 'thread', 'process'] as const) {
      await using app = await start({ services: { a: service('a', run) } })
      const seen = JSON.parse((await text(app, '/seen')).slice(4)) as { remoteAddress: string; localPort: number }
      if (run !== 'process') assert.deepEqual([seen.remoteAddress, seen.localPort], ['127.0.0.1', app.port])
      const client = new Client(app.port).send(`${get('/', 'Connection: Upgrade\r\nUpgrade: echo\r\n')}first`)
      await client.until('\r\n\r\nfirst')
      client.send(' second')
      await client.until('first second')
      client.socket.destroy()
    }
  })

  it('explains what it refuses, as the portable gateway does', async () => {
    await using app = await start({
      services: { a: service('a', 'shared') },
      gateway: { entry: undefined, routes: [route('a')] },
    })
    const refused = new Client(app.port).send(
      'GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n',
    )
    await refused.closed
    assert.match(refused.bytes, /^HTTP\/1\.1 400 .*application\/problem\+json.*"code":"REQUEST_MALFORMED"/s)
    assert.match(await text(app, '/b'), /^404 .*ROUTE_NOT_FOUND/)
    const body = new Client(app.port).send('POST /a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n')
    await body.until('BODY_TOO_LARGE')
    body.socket.destroy()
  })

  it('is served by the portable gateway if the binary is of another version', async () => {
    const entrance = (): EntranceLibrary => ({ ...entranceLibrary(), mismatch: 'it is of version 0' })
    await using app = await start({ services: { a: service('a', 'shared') } }, { entrance })
    assert.match(await text(app, '/'), /^200 a GET 0 /)
    assert.equal(app.running.status().entrance, null)
    await app.untilLogged('it is of version 0: the portable gateway serves')
  })

  it('measures how long requests wait for their handler', async () => {
    await using app = await start({ services: { a: service('a', 'shared') } })
    for (let n = 0; n < 5; n++) await text(app, '/')
    const { buckets, sum } = app.running.status().entrance!.queueTimes
    assert.deepEqual([buckets.at(-1)!.le, buckets.at(-1)!.count], [null, 5])
    assert.ok(buckets.every(({ count }, at) => count >= (buckets[at - 1]?.count ?? 0)))
    assert.ok(sum > 0 && sum < 60_000)
  })

  it('counts what it refuses, by reason', async () => {
    await using app = await start({ services: { a: service('a', 'shared') } })
    const refused = new Client(app.port).send('nonsense\r\n\r\n')
    await refused.closed
    const { refusals } = app.running.status().entrance!
    assert.deepEqual(
      refusals.filter(({ count }) => count > 0),
      [{ status: 400, reason: 'malformed', count: 1 }],
    )
  })

  it('counts CONNECT with the status that its client gets', async () => {
    const gateway = { entry: undefined, routes: [route('a')] }
    await using app = await start({ services: { a: service('a', 'shared') }, gateway })
    const refused = new Client(app.port).send('CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n')
    await refused.closed
    assert.match(refused.bytes, /^HTTP\/1\.1 400 /)
    assert.deepEqual(
      app.running.status().entrance!.refusals.filter(({ count }) => count > 0),
      [{ status: 400, reason: 'not_implemented', count: 1 }],
    )
  })

  it('refuses to start where the entrance cannot be loaded', async () => {
    await assert.rejects(start({ services: { a: service('a', 'shared') } }, { entrance: undefined }), {
      code: 'ENTRANCE_UNAVAILABLE',
    })
  })
})

describe('a worker of an app behind the native entrance', options, () => {
  const services = { a: service('a', 'shared') }
  const gateway = { entry: undefined, routes: [route('a')] }

  it('may die: its requests wait for the one that replaces it', async () => {
    await using app = await start({ workers: 1, services, gateway })
    const dying = new Client(app.port).send('POST /a/exit HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
    await dying.closed
    assert.match(dying.bytes, /^HTTP\/1\.1 502 /)
    const answers = await Promise.all(Array.from({ length: 20 }, () => text(app, '/a/', { method: 'POST' })))
    for (const answer of answers) assert.match(answer, /^200 a POST 0 /)
    await app.untilReplaced(0)
  })

  it('may hang in a loop: others answer at once', async () => {
    await using app = await start({ workers: 2, services, gateway }, { timing: { stuck: 1500, watch: 50 } })
    const looping = new Client(app.port).send('POST /a/loop HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
    await eventually(() => app.running.status().workers.some(({ requests }) => requests > 0))
    // In turns: with more at a time, the gateway of one worker would forward some to the other.
    for (let n = 0; n < 20; n++) assert.match(await text(app, '/a/', { method: 'POST' }), /^200 a POST 0 /)
    await looping.until('502')
    await eventually(() => app.running.workers.some(({ deaths }) => deaths === 1))
    looping.socket.destroy()
  })

  it('is killed again and again: idempotent requests are all answered', async () => {
    await using app = await start({ workers: 2, services, gateway }, { timing: { backoff: 10, backoffMax: 10 } })
    const statuses = new Map<string, number>()
    let stop = false
    const ask = async (): Promise<void> => {
      while (!stop) {
        const answer = (await text(app, '/a/')).slice(0, 3)
        statuses.set(answer, (statuses.get(answer) ?? 0) + 1)
      }
    }
    const clients = Array.from({ length: 8 }, ask)
    for (let n = 0; n < 6; n++) {
      const deaths = app.running.workers.reduce((sum, worker) => sum + worker.deaths, 0)
      const killing = new Client(app.port).send('POST /a/exit HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n')
      await killing.closed
      await app.until(() => app.running.workers.reduce((sum, worker) => sum + worker.deaths, 0) > deaths)
      await app.until(() => app.running.workers.every(({ state }) => state === 'serving'))
    }
    stop = true
    await Promise.all(clients)
    assert.deepEqual([...statuses.keys()], ['200'])
  })

  it('is replaced: clients keep their connections, and each request is answered once', async () => {
    await using app = await start({ workers: 2, services, gateway })
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    const sockets = new Set<unknown>()
    const answers: string[] = []
    let stop = false
    const ask = async (path: string): Promise<void> => {
      while (!stop)
        answers.push(
          await new Promise<string>((resolve, reject) => {
            const sent = httpRequest(new URL(path, app.url), { agent, method: 'POST' }, (response) => {
              sockets.add(response.socket)
              response.resume().on('end', () => resolve(`${response.statusCode} ${response.headers.connection}`))
            })
            sent.on('error', reject).end()
          }),
        )
    }
    const clients = ['/a/', '/a/', '/a/late', '/a/late'].map(ask)
    for (let n = 0; n < 3; n++) await app.running.replace()
    stop = true
    await Promise.all(clients)
    agent.destroy()
    assert.deepEqual([...new Set(answers)], ['200 keep-alive'])
    assert.equal(sockets.size, 4)
  })
})

describe('a new generation of an app behind the native entrance', options, () => {
  it('gets no requests before all of its workers are ready', async () => {
    const gateway = { entry: undefined, routes: [route('a')] }
    const services = { a: service('a', 'shared'), b: service('b', 'thread') }
    await using app = await start({ services, gateway })
    const before = await text(app, '/a/')
    const late = { file: file.replace('app.mjs', 'fails-late.mjs'), run: 'thread' } as const
    const failing = appOf({ services: { ...services, late }, gateway: { entrance: 'native', ...gateway } })
    let isOver = false
    const change = assert
      .rejects(app.running.replace(failing), { code: 'PROGRAM_THREW' })
      .finally(() => (isOver = true))
    while (!isOver) assert.equal(await text(app, '/a/'), before)
    await change
    await app.running.replace()
    while ((await text(app, '/a/')) === before);
  })
})

describe('the stop of an app behind the native entrance', options, () => {
  it('answers what is in flight, and loses no request of an open connection', async () => {
    const app = await start({
      workers: 2,
      services: { a: service('a', 'shared') },
      gateway: { entry: undefined, routes: [route('a')] },
    })
    const agent = new Agent({ keepAlive: true })
    let [answered, refused] = [0, 0]
    let isOver = false
    const ask = async (path: string): Promise<void> => {
      while (!isOver)
        await new Promise<void>((resolve) => {
          const sent = httpRequest(new URL(path, app.url), { agent, method: 'POST' }, (response) => {
            response.resume().on('end', () => {
              answered += response.statusCode === 200 ? 1 : 0
              isOver ||= response.statusCode !== 200
              resolve()
            })
          })
          sent.on('error', (error: NodeJS.ErrnoException) => {
            // The port is closed. Any other error is a lost request.
            if (error.code === 'ECONNREFUSED') refused++
            isOver = true
            resolve()
          })
          sent.end()
        })
    }
    const clients = [ask('/a/late'), ask('/a/')]
    await eventually(() => answered > 20)
    await app[Symbol.asyncDispose]()
    isOver = true
    await Promise.all(clients)
    agent.destroy()
    assert.ok(refused >= 1 && refused <= 2)
  })

  it('closes the port, and idle connections', async () => {
    const app = await start({
      services: { a: service('a', 'shared') },
      gateway: { entry: undefined, routes: [route('a')] },
    })
    assert.match(await text(app, '/a/'), /^200/)
    await app[Symbol.asyncDispose]()
    await assert.rejects(fetch(app.url))
  })
})
