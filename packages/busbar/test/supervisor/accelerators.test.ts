import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceleratorNames } from '../../src/shared/accelerators.ts'
import { TestApp } from '../support/app.ts'
import { TestFolder } from '../support/folder.ts'

const answers = `require('node:http').createServer((request, response) => {
  if (request.url === '/') response.end('home')
  else fetch('http://other.internal/').then((answer) => answer.text()).then((text) => response.end('by name: ' + text))
}).listen(3000)`

const whyOff = (name: string): string =>
  name === 'batch-writes'
    ? 'gateway.batchWrites does not ask for it'
    : 'the config or BUSBAR_ACCELERATORS leaves it out'

for (const run of ['shared', 'thread', 'process'] as const)
  for (const accelerators of [[], [...acceleratorNames]])
    test(`a ${run} program is reached with ${accelerators.length === 0 ? 'no' : 'all'} accelerators, and the app tells which`, async () => {
      using folder = new TestFolder({ 'web/index.js': answers, 'other/index.js': answers })
      const services = {
        web: { file: folder.at('web/index.js'), run },
        other: { file: folder.at('other/index.js'), run },
      }
      await using app = await TestApp.start({ accelerators, services })
      for (const [path, expected] of [
        ['/', 'home'],
        ['/by-name', 'by name: home'],
      ]) {
        const answer = await fetch(new URL(path!, app.url), { headers: { connection: 'close' } })
        assert.deepEqual([answer.status, await answer.text()], [200, expected])
      }
      const on = accelerators.length > 0
      const expected = acceleratorNames.map((name) => ({ name, on, why: on ? null : whyOff(name) }))
      assert.deepEqual(app.running.status().accelerators, expected)
      const lines = app.log.map(({ line }) => line).filter((line) => line.startsWith('accelerators'))
      assert.equal(lines.length, 1)
      assert.match(
        lines[0]!,
        on ? /^accelerators on: exchange, stream, / : /^accelerators off: exchange \(the config or /,
      )
    })

/** Ends its worker the first time that it is asked. */
const endsOnce = `const fs = require('node:fs')
require('node:http').createServer((request, response) => {
  try {
    fs.writeFileSync(__dirname + '/asked', '', { flag: 'wx' })
  } catch {
    return response.end('asked twice')
  }
  process.kill(process.pid, 'SIGKILL')
}).listen(3000)`

for (const accelerators of [[], [...acceleratorNames]])
  test(`what may be done twice is asked elsewhere when its instance dies, with ${accelerators.length} accelerators`, async () => {
    using folder = new TestFolder({ 'web/index.js': endsOnce })
    const web = { file: folder.at('web/index.js'), run: 'process', instances: 2 } as const
    const gateway = { entry: undefined, routes: [{ host: undefined, prefix: '/web', service: 'web' }] }
    await using app = await TestApp.start({ accelerators, services: { web }, gateway })
    const answer = await fetch(new URL('/web', app.url), { headers: { connection: 'close' } })
    assert.deepEqual([answer.status, await answer.text()], [200, 'asked twice'])
  })
