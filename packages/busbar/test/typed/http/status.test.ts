import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import * as z from 'zod'
import { nodeListener, type NodeListener } from '../../../src/gateway/typed/adapters/index.ts'
import { client } from '../../../src/contract/client-entry.ts'
import { fn, service } from '../../../src/contract/index.ts'

const notes = service('notes', {
  add: fn({ input: z.object({ text: z.string() }), output: z.object({ id: z.int() }), status: 201 }),
  file: fn({ status: 202 }),
  drop: fn(),
  count: fn({ output: z.int() }),
})

describe('the status of a success over HTTP', () => {
  let listener: NodeListener
  let server: Server
  let url: string

  before(async () => {
    listener = nodeListener(notes.implement({ add: () => ({ id: 1 }), file: () => {}, drop: () => {}, count: () => 1 }))
    server = createServer(listener)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })

  after(async () => {
    server.closeAllConnections()
    server.close()
    await listener[Symbol.asyncDispose]()
  })

  async function post(method: string, body?: object): Promise<[number, string | null, string]> {
    const headers = { 'content-type': 'application/json' }
    const init = body === undefined ? {} : { headers, body: JSON.stringify(body) }
    const response = await fetch(`${url}/notes/${method}`, { method: 'POST', ...init })
    return [response.status, response.headers.get('content-length'), await response.text()]
  }

  it('is 200 with a result, and 204 without one', async () => {
    assert.deepEqual(await post('count'), [200, '1', '1'])
    assert.deepEqual(await post('drop'), [204, null, ''])
  })

  it('is that of the contract, with a result and without one', async () => {
    assert.deepEqual(await post('add', { text: 'x' }), [201, '8', '{"id":1}'])
    assert.deepEqual(await post('file'), [202, '0', ''])
  })

  it('is still that of the error if the call fails', async () => {
    assert.equal((await post('add', {}))[0], 422)
  })

  it('changes nothing for a client', async () => {
    const calls = client(notes, url)
    assert.deepEqual(await calls.add({ text: 'x' }), { id: 1 })
    assert.equal(await calls.file(), undefined)
    assert.equal(await calls.drop(), undefined)
  })
})
