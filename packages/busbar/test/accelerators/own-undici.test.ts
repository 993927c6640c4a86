/** With any accelerators, a program's undici uses its own dispatcher, as without Busbar. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { acceleratorNames } from '../../src/shared/accelerators.ts'
import { TestApp } from '../support/app/test-app.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const undici = fileURLToPath(import.meta.resolve('undici'))

const asked = `const { Agent, getGlobalDispatcher } = require(${JSON.stringify(undici)}); getGlobalDispatcher() instanceof Agent`

const program = `const { execFileSync } = require('node:child_process')
const http = require('node:http')
const { Agent, getGlobalDispatcher, request } = require(${JSON.stringify(undici)})
const isOwn = getGlobalDispatcher() instanceof Agent
const child = String(execFileSync(process.execPath, ['-p', ${JSON.stringify(asked)}])).trim()
http.createServer(async (incoming, response) => {
  if (incoming.url === '/inner') return void response.end('inner')
  const url = 'http://web.internal/inner'
  const answers = [await (await fetch(url)).text(), await (await request(url)).body.text()]
  const { WebSocket } = await import('node:http')
  response.end(JSON.stringify([isOwn, child, ...answers, http.WebSocket === WebSocket && typeof WebSocket]))
}).listen(3000)`

for (const run of ['shared', 'thread', 'process'] as const)
  for (const accelerators of [[], acceleratorNames])
    test(`a program and its child process keep their own undici: ${run}, ${accelerators.join(', ') || 'no accelerators'}`, async () => {
      using folder = new TestFolder({ 'index.js': program })
      const web = { file: folder.at('index.js'), run }
      const gateway = { entry: undefined, routes: [{ host: undefined, prefix: '/', service: 'web' }] }
      await using app = await TestApp.start({ accelerators, services: { web }, gateway })
      const answer = await fetch(app.url, { headers: { connection: 'close' } })
      assert.deepEqual([answer.status, await answer.json()], [200, [true, 'true', 'inner', 'inner', 'function']])
    })
