/** A route's prefix has the same effect with every placement of its service. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { behindEntrance, TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const path = `${import.meta.dirname}/programs/prefixes`

const placements = {
  shared: { path, run: 'shared' },
  // Requests for it are sent over a byte stream.
  classes: { path, run: 'shared', env: { OWN_CLASSES: 'yes' } },
  thread: { path, run: 'thread' },
  process: { path, run: 'process' },
  command: { path, command: `${JSON.stringify(process.execPath)} index.js` },
}

const names = Object.keys(placements)

/** Each placement at `/cut/<name>`, and without stripping at `/whole/<name>`. */
const config = {
  gateway: {
    port: 0,
    routes: Object.fromEntries(
      names.flatMap((service) => [
        [`/cut/${service}`, service],
        [`/whole/${service}`, { service, strip: false }],
        [`${service}.example/host`, { service, strip: true }],
      ]),
    ),
  },
  services: placements,
}

describe('a route', () => {
  const folder = new TestFolder({ 'busbar.config.json': config })
  let app: TestApp

  before(async () => {
    app = await TestApp.startLoaded(behindEntrance(await loadApp(folder.path, { env: {} })))
  })
  after(async () => {
    await app[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  const seen = async (target: string, host = 'any.example'): Promise<unknown> => {
    const { port } = app
    const [answer] = await once(request({ port, host: '127.0.0.1', path: target, headers: { host } }).end(), 'response')
    assert.equal(answer.statusCode, 200)
    return JSON.parse(await text(answer))
  }

  for (const name of names) {
    it(`strips its prefix for a service that runs as ${name}, and adds x-forwarded-prefix`, async () => {
      const prefix = `/cut/${name}`
      assert.deepEqual(await seen(`${prefix}/x?y=1`), { url: '/x?y=1', prefix })
      assert.deepEqual(await seen(prefix), { url: '/', prefix })
      assert.deepEqual(await seen('/host/x', `${name}.example`), { url: '/x', prefix: '/host' })
    })

    it(`hides its prefix from frameworks, run as ${name}`, async () => {
      const prefix = `/cut/${name}`
      const express = { url: '/a', originalUrl: '/express/a', baseUrl: '/express', prefix }
      assert.deepEqual(await seen(`${prefix}/express/a`), express)
      const fastify = { url: '/fastify/a?b', originalUrl: '/fastify/a?b', prefix }
      assert.deepEqual(await seen(`${prefix}/fastify/a?b`), fastify)
      assert.equal((await fetch(new URL(`${prefix}/graphql?query=x`, app.url))).status, 200)
    })

    it(`passes the path on unchanged with strip: false, to a service that runs as ${name}`, async () => {
      const prefix = `/whole/${name}`
      assert.deepEqual(await seen(`${prefix}/x?y=1`), { url: `${prefix}/x?y=1`, prefix: null })
      assert.deepEqual(await seen(prefix), { url: prefix, prefix: null })
      assert.deepEqual(await seen(`${prefix}//x`), { url: `${prefix}//x`, prefix: null })
    })

    it(`does the same with an upgrade, run as ${name}`, async () => {
      const cut = `/cut/${name}`
      assert.deepEqual(await seenByUpgrade(`${cut}/x?y=1`), { url: '/x?y=1', prefix: cut })
      const whole = `/whole/${name}/x`
      assert.deepEqual(await seenByUpgrade(whole), { url: whole, prefix: null })
    })
  }

  async function seenByUpgrade(target: string): Promise<unknown> {
    const headers = { connection: 'Upgrade', upgrade: 'seen' }
    const outgoing = request({ port: app.port, host: '127.0.0.1', path: target, headers }).end()
    const [, socket, head] = await once(outgoing, 'upgrade')
    return JSON.parse(String(head) + (await text(socket)))
  }
})
