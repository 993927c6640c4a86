import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

/** Counts the calls of `http.request` in its thread, also those of modules that import it. */
const counting = `import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
const { request } = http
let calls = 0
http.request = (...args) => (calls++, request(...args))
syncBuiltinESMExports()
http.createServer((_, res) => res.end(String(calls))).listen(3000)`

test('a program that replaces http.request gets no calls of the gateway', async () => {
  using folder = new TestFolder({ 'web/index.mjs': counting })
  const services = { web: { file: folder.at('web/index.mjs'), run: 'shared' as const } }
  const gateway = { entry: undefined, routes: [{ host: undefined, prefix: '/web', service: 'web' }] }
  await using app = await TestApp.start({ accelerators: [], services, gateway })
  const response = await fetch(new URL('/web', app.url), { headers: { connection: 'close' } })
  equal(await response.text(), '0')
})
