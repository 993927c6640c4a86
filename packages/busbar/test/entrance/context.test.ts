/** The async context of a program behind the native entrance: that in which it has listened. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { appOf, TestApp } from '../support/app/test-app.ts'
import { builtAddon, Client, eventually, get } from './served.ts'

const options = { skip: builtAddon === undefined ? 'the entrance is not built' : false }
const file = `${import.meta.dirname}/programs/context.mjs`

describe('the async context behind the native entrance', options, () => {
  it('is that of listen() for each event of a connection, whatever a request before it has entered', async () => {
    const services = { it: { file, run: 'shared' as const } }
    await using app = await TestApp.startLoaded(appOf({ services, gateway: { entrance: 'native' } }))
    const seen = async (): Promise<string[]> =>
      (await (await fetch(new URL('/seen', app.url), { headers: { connection: 'close' } })).json()) as string[]
    const client = new Client(app.port)
    for (const path of ['/one', '/two']) {
      const before = client.bytes.length
      client.send(`POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc`)
      await eventually(() => client.bytes.length - before > 1_000_000)
    }
    client.socket.destroy()
    const other = new Client(app.port).send(get('/timeout'))
    const events = ['connection', 'data', 'request', 'timeout', 'close']
    const saw = (all: string[], event: string): boolean => all.some((one) => one.startsWith(`${event}: `))
    await eventually(async () => {
      const all = await seen()
      return events.every((event) => saw(all, event))
    })
    other.socket.destroy()
    const all = new Set(await seen())
    for (const event of events)
      assert.deepEqual(
        [...all].filter((one) => one.startsWith(`${event}: `)),
        [`${event}: of the program`],
      )
  })

  it('is that of the write for what follows a write that waits for its client', async () => {
    const services = { it: { file, run: 'shared' as const } }
    await using app = await TestApp.startLoaded(appOf({ services, gateway: { entrance: 'native' } }))
    const client = new Client(app.port)
    for (const path of ['/long', '/pipe', '/long']) {
      client.bytes = ''
      client.send(get(path)).socket.pause()
      await new Promise((resolve) => setTimeout(resolve, 50))
      client.socket.resume()
      await client.until('the end')
    }
    client.socket.destroy()
    const all = (await (await fetch(new URL('/seen', app.url))).json()) as string[]
    const follows = all.filter((one) => /^(drain|finish|closed|end callback|source read|write callback): /.test(one))
    const own = ['drain', 'finish', 'closed', 'end callback', 'source read', 'write callback']
    assert.deepEqual(new Set(follows), new Set(own.map((event) => `${event}: own`)))
  })
})
