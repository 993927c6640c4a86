import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import http from 'node:http'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { currentScope } from '../../../src/mesh/scope.ts'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'
import { clients, textOf } from '../../support/http/clients.ts'

const url = 'http://catalog.internal'
const callers = new AsyncLocalStorage<string>()

for (const [name, open] of Object.entries(clients)) {
  describe(`a call by ${name}`, () => {
    test('runs in the service’s own context, from the connection to the close of the response', async () => {
      const seen: string[] = []
      const note = (event: string): void =>
        void seen.push(`${event}: ${callers.getStore()}, ${currentScope()?.service}`)
      const program = http.createServer((request, response) => {
        note('request')
        request.on('data', () => note('data'))
        request.on('end', () => {
          note('end')
          response.write('begun', () => note('written'))
          response.end()
        })
        response.on('finish', () => note('finish'))
        response.on('close', () => note('close'))
      })
      program.on('connection', () => note('connection'))
      await using _mesh = new ByteMesh({ catalog: program })
      await callers.run('a transaction', async () => {
        await using client = open(url)
        const { body } = await client.send({ url, method: 'POST', body: Readable.from([Buffer.from('x')]) })
        assert.equal(callers.getStore(), 'a transaction')
        await textOf(body)
        assert.equal(callers.getStore(), 'a transaction')
      })
      for (const event of ['connection', 'request', 'data', 'end', 'written', 'finish', 'close'])
        assert.ok(seen.includes(`${event}: undefined, catalog`), `${event} among ${seen.join('; ')}`)
      assert.deepEqual(
        seen.filter((line) => !line.endsWith('undefined, catalog')),
        [],
      )
    })

    test('of a service to itself is answered', async () => {
      const program: http.RequestListener = (request, response) => {
        const left = Number(request.url!.slice(1))
        if (left === 0) response.end('bottom')
        else void ask(left - 1).then((text) => response.end(text))
      }
      const ask = async (left: number): Promise<string> => {
        await using client = open(url)
        return textOf((await client.send({ url: `${url}/${left}` })).body)
      }
      await using _mesh = new ByteMesh({ catalog: program })
      assert.equal(await ask(3), 'bottom')
    })
  })
}

describe('the caller’s events', () => {
  test('run in the caller’s context', async () => {
    await using _mesh = new ByteMesh({ catalog: (_request, response) => void response.end('x') })
    const seen: unknown[] = []
    await callers.run('mine', async () => {
      const request = http.get(url, { agent: false })
      request.on('socket', (socket) => {
        for (const event of ['connect', 'ready', 'data', 'end', 'close'])
          socket.on(event, () => seen.push(callers.getStore()))
      })
      const [response] = (await once(request, 'response')) as [http.IncomingMessage]
      response.resume()
      await once(request, 'close')
    })
    assert.ok(seen.length >= 4)
    assert.deepEqual([...new Set(seen)], ['mine'])
  })
  test('run in the context of the request to which an agent has given a kept connection', async () => {
    const program = http.createServer((request, response) => {
      if (request.url === '/kept') response.end('kept')
      else request.socket.destroy()
    })
    await using _mesh = new ByteMesh({ catalog: program })
    using agents = new DisposableStack()
    const agent = agents.adopt(new http.Agent({ keepAlive: true, maxSockets: 1 }), (one) => one.destroy())
    const seen: string[] = []
    const note = (event: string): void => void seen.push(`${event}: ${callers.getStore()}`)
    const ask = (store: string, path: string): Promise<void> =>
      callers.run(store, async () => {
        const request = http.get(`${url}${path}`, { agent }, (response) => response.resume())
        request.on('error', () => note('error'))
        await new Promise<void>((resolve) => request.on('close', () => (note('close'), resolve())))
      })
    await ask('first', '/kept')
    while (Object.keys(agent.freeSockets).length === 0) await nextTurn()
    const [kept] = Object.values(agent.freeSockets).flat()
    // The second has the connection when it is free, the third as soon as the second is over.
    const second = ask('second', '/kept')
    const third = ask('third', '/destroyed')
    await Promise.all([second, third])
    assert.equal(kept!.destroyed, true)
    assert.deepEqual(seen, ['close: first', 'close: second', 'error: third', 'close: third'])
  })
})
