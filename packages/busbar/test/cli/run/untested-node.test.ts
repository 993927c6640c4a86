import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { testedNodes } from '../../../src/shared/accelerators.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const app = {
  'busbar.config.json': { workers: 1, gateway: { port: 0 }, services: { web: './web' } },
  'web/index.js': `require('node:http').createServer((request, response) => response.end('here')).listen(3000)`,
}

test('an app starts on an untested newer major of Node, with a warning', async () => {
  const node = `${Math.max(...testedNodes) + 1}.1.0`
  using folder = new TestFolder(app)
  await using busbar = new BusbarProcess(['start', folder.path], { env: withNodeVersion(node) })
  assert.equal(await (await fetch(await busbar.url())).text(), 'here')
  assert.deepEqual(warnings(busbar), [`Busbar was tested with Node 24 and 26, and this is Node ${node}`])
})

test('a tested Node starts without that warning', async () => {
  using folder = new TestFolder(app)
  await using busbar = new BusbarProcess(['start', folder.path])
  await busbar.url()
  assert.deepEqual(warnings(busbar), [])
})

test('the engines of the packages are the tested lines of Node', async () => {
  for (const name of ['busbar', 'lab']) {
    const text = await readFile(new URL(`../../../../${name}/package.json`, import.meta.url), 'utf8')
    const { node } = (JSON.parse(text) as { engines: { node: string } }).engines
    const ranges = [...node.matchAll(/>=(\d+)\.\d+\.\d+ <(\d+)/g)].map((match) => match.slice(1).map(Number))
    assert.deepEqual(
      ranges,
      testedNodes.map((major) => [major, major + 1]),
    )
  }
})

function warnings(busbar: BusbarProcess): unknown[] {
  return busbar.events.map(({ msg }) => msg).filter((text) => String(text).startsWith('Busbar was tested'))
}

/** Makes this process and its children report another version of Node. */
function withNodeVersion(node: string): NodeJS.ProcessEnv {
  const code = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } })`
  const preload = `--import=data:text/javascript,${encodeURIComponent(code)}`
  return { NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} ${preload}` }
}
