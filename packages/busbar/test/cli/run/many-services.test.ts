import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const names = Array.from({ length: 200 }, (_, index) => `s${index}`)
const pathOf = (name: string): string => `dienste/größe-字-${name}`

test('an app of 200 services in folders with non-ASCII names, and a config with a BOM, is checked and serves', async () => {
  const config = {
    gateway: { port: 0, routes: Object.fromEntries(names.map((name) => [`/${name}`, name])) },
    defaults: { run: 'shared' },
    services: Object.fromEntries(names.map((name) => [name, `./${pathOf(name)}`])),
  }
  const program = (name: string): string =>
    `require('node:http').createServer((request, response) => response.end('${name} für 字')).listen(3000)`
  using folder = new TestFolder({
    'busbar.config.json': `\uFEFF${JSON.stringify(config)}`,
    ...Object.fromEntries(names.map((name) => [`${pathOf(name)}/index.js`, program(name)])),
  })
  const { code, stdout, stderr } = await BusbarProcess.run(['check', folder.path])
  assert.equal(code, 0, stderr)
  for (const name of names) assert.ok(stdout.includes(name), name)
  await using busbar = new BusbarProcess(['start', folder.path])
  const url = await busbar.url()
  for (const name of ['s0', 's99', 's199']) {
    const response = await fetch(`${url}/${name}`)
    assert.equal(await response.text(), `${name} für 字`)
  }
  busbar.child.kill('SIGTERM')
  assert.equal((await busbar.ended).code, 0)
})
