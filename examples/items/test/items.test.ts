import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { client, safe } from 'busbar/client'
import { BusbarProcess } from '../../../packages/busbar/test/support/app/busbar-process.ts'
import implementation from '../items/index.ts'
import { items } from '../items/contract.ts'

const example = join(import.meta.dirname, '..')

describe('items', () => {
  let app: BusbarProcess
  let url: string

  before(async () => {
    app = start({ ITEMS_PRELOAD: '10000' })
    url = await app.url()
  })
  after(() => app[Symbol.asyncDispose]())

  async function add(body: string): Promise<[number, unknown]> {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(`${url}/rpz/items`, { method: 'POST', headers, body })
    return [answer.status, await answer.json()]
  }

  async function find(path: string): Promise<[number, any]> {
    const answer = await fetch(`${url}/rpz/items${path}`)
    return [answer.status, await answer.json()]
  }

  it('answers 201 to a new item, and finds it', async () => {
    const item = { id: 'a/b', name: 'shelf' }
    assert.deepEqual(await add(JSON.stringify(item)), [201, item])
    assert.deepEqual(await find(`/${encodeURIComponent(item.id)}`), [200, item])
  })

  it('replaces an item with the same id', async () => {
    for (const name of ['one', 'two']) await add(JSON.stringify({ id: 'same', name }))
    assert.deepEqual(await find('/same'), [200, { id: 'same', name: 'two' }])
  })

  it('answers 404 for an unknown item, and 422 for invalid input', async () => {
    const [status, { code, data }] = await find('/nothing')
    assert.deepEqual([status, code, data], [404, 'NOT_FOUND', { id: 'nothing' }])
    for (const body of ['{"id":"1"}', '{"id":1,"name":"x"}', '{"id":"","name":"x"}', '[]'])
      assert.equal((await add(body))[0], 422, body)
  })

  it('starts with the given number of items', async () => {
    const [status, list] = await find('')
    assert.equal(status, 200)
    assert.ok(list.length >= 10_000)
    assert.deepEqual(await find('?limit=2'), [
      200,
      [
        { id: '1', name: 'Item 1' },
        { id: '2', name: 'Item 2' },
      ],
    ])
  })

  it('can be called by its contract', async () => {
    const store = client(items, url)
    assert.deepEqual(await store.item({ id: '10000' }), { id: '10000', name: 'Item 10000' })
    assert.equal((await safe(store.item({ id: '10001' })))[0]?.code, 'NOT_FOUND')
  })
})

it('has the contract and the config that its README shows', async () => {
  const readme = await readFile(join(example, 'README.md'), 'utf8')
  for (const file of ['items/contract.ts', 'busbar.config.ts']) {
    const [, shown] = new RegExp(`\\[${file}\\].*?\`\`\`ts\n(.*?)\`\`\``, 's').exec(readme)!
    assert.ok((await readFile(join(example, file), 'utf8')).includes(shown!), `README.md shows another ${file}`)
  }
})

it('is the same service as the one in the lab', async () => {
  const copy = join(example, '..', '..', 'packages', 'lab', 'arms', 'protocols', 'items')
  for (const file of ['contract.ts', 'index.ts'])
    assert.equal(await readFile(join(copy, file), 'utf8'), await readFile(join(example, 'items', file), 'utf8'), file)
})

for (const secure of [false, true])
  describe(`items over gRPC${secure ? ' with TLS' : ''}`, () => {
    it('are those over HTTP', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'items-'))
      try {
        const program = join(example, '..', 'fanout', 'setup', 'certificate.ts')
        assert.equal(spawnSync(process.execPath, [program, folder]).status, 0)
        const env = { ITEMS_GRPC: 'true', ITEMS_PRELOAD: '10000', ...(secure && { ITEMS_CERTIFICATE: folder }) }
        await using app = start(env)
        const { host } = new URL(await app.url())
        const tls = { ca: await readFile(join(folder, 'cert.pem')) }
        await using store = client(items, `${secure ? 'grpcs' : 'grpc'}://${host}`, { tls })
        assert.deepEqual(await store.item({ id: '10000' }), { id: '10000', name: 'Item 10000' })
        assert.deepEqual(await store.add({ id: 'new', name: 'shelf' }), { id: 'new', name: 'shelf' })
        assert.equal((await store.list({})).length, 10_001)
        const [error] = await safe(store.item({ id: 'none' }))
        assert.deepEqual([error?.code, error?.data], ['NOT_FOUND', { id: 'none' }])
        if (secure)
          assert.deepEqual(await getSecurely(`https://${host}/rpz/items/1`, tls.ca), { id: '1', name: 'Item 1' })
      } finally {
        await rm(folder, { recursive: true })
      }
    })
  })

describe('a store of items', () => {
  it('refuses an item when it is full', async () => {
    await using store = client(items, implementation, { clone: false })
    for (let id = 0; id < 100_000; id++) await store.add({ id: `${id}`, name: '' })
    assert.equal((await safe(store.add({ id: 'one more', name: '' })))[0]?.code, 'FULL')
    assert.deepEqual(await store.add({ id: '7', name: 'again' }), { id: '7', name: 'again' })
  })
})

describe('items over HTTPS', () => {
  it('are served with the certificate of set-up', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'items-'))
    try {
      const program = join(example, '..', 'fanout', 'setup', 'certificate.ts')
      assert.equal(spawnSync(process.execPath, [program, folder]).status, 0)
      await using app = start({ ITEMS_CERTIFICATE: folder, ITEMS_PRELOAD: '1' })
      const ca = await readFile(join(folder, 'cert.pem'))
      assert.deepEqual(await getSecurely(`${await app.url()}/rpz/items/1`, ca), { id: '1', name: 'Item 1' })
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

function start(env: NodeJS.ProcessEnv): BusbarProcess {
  return new BusbarProcess(['start', example, '--port', '0'], { env })
}

async function getSecurely(url: string, ca: Buffer): Promise<unknown> {
  const [answer] = (await once(get(url, { ca, agent: false }), 'response')) as [IncomingMessage]
  return await json(answer)
}
