/** What a program sees of a batch: its worker gets the requests of many clients at once. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { appOf, TestApp } from '../support/app/test-app.ts'
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
})
