/** What a program sees of a batch: its worker gets the requests of many clients at once. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { appOf, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { builtAddon, Client, get } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }
const file = `${import.meta.dirname}/programs/batches.mjs`
const clients = 100

describe('a batch of requests', options, () => {
  it('is begun in parts, between which ticks and promises run', async () => {
    const services = { it: { file, run: 'shared' as const } }
    await using app = await TestApp.startLoaded(appOf({ services, gateway: { entrance: 'native' } }))
    const blocking = new Client(app.port).send(get('/block'))
    const all = Array.from({ length: clients }, () => new Client(app.port).send(get('/')))
    await Promise.all([blocking.until('unblocked'), ...all.map((client) => client.until('answered'))])
    const most = Number(await (await fetch(new URL('/most', app.url))).text())
    for (const client of [blocking, ...all]) client.socket.destroy()
    assert.ok(most > 1 && most <= 8, `${most} of ${clients} requests were begun before the ticks of the first`)
  })

  for (const kind of ['kept', 'new'] as const)
    it(`loses none on a ${kind} connection that had not begun to a handler that throws at once`, async () => {
      using folder = new TestFolder()
      const begun = join(folder.path, 'begun')
      const services = { it: { file, run: 'shared' as const, env: { BEGUN: begun } } }
      await using app = await TestApp.startLoaded(appOf({ services, gateway: { entrance: 'native', entry: 'it' } }))
      const connect = (): Client => new Client(app.port)
      const kept = Array.from({ length: kind === 'kept' ? 32 : 0 }, () => connect().send(get('/')))
      await Promise.all(kept.map((client) => client.until('answered')))
      for (const client of kept) client.bytes = ''
      const blocking = connect().send(get('/block'))
      const sent = Array.from({ length: 32 }, (_, at) => ({
        client: kept[at] ?? connect(),
        path: at === 3 ? '/throw' : `/${at}`,
      }))
      for (const { client, path } of sent) client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`)
      await Promise.all(sent.map(({ client }) => client.until('HTTP/1.1 ')))
      const lost = sent.filter(({ client }) => !client.bytes.startsWith('HTTP/1.1 200')).map(({ path }) => path)
      for (const { client } of [{ client: blocking }, ...sent]) client.socket.destroy()
      const all = readFileSync(begun, 'utf8').trim().split('\n')
      assert.ok(lost.includes('/throw'))
      assert.deepEqual(
        lost.filter((path) => !all.includes(path)),
        [],
      )
      // And none twice.
      assert.equal(all.filter((path) => path !== '/').length, sent.length)
    })
})
