import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import * as adapters from '../../src/gateway/typed/adapters/index.ts'
import * as fetched from '../../src/contract/fetch-entry.ts'
import * as client from '../../src/contract/client-entry.ts'
import * as contract from '../../src/contract/index.ts'
import * as busbar from '../../src/index.ts'

const source = await readFile(new URL('../../src/index.ts', import.meta.url), 'utf8')
const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8')) as {
  exports: Record<string, unknown>
  dependencies: Record<string, string>
}

// A change of these lists affects users, and belongs in CHANGELOG.md.
test('the package exports these values', () => {
  assert.deepEqual(Object.keys(busbar).toSorted(), [
    'BusbarError',
    'createOffload',
    'defineApp',
    'errorTable',
    'offload',
    'ready',
    'shared',
    'startApp',
  ])
})

test('busbar/contract and busbar/client export these values', () => {
  assert.deepEqual(Object.keys(contract).toSorted(), [
    'BusbarError',
    'error',
    'fn',
    'many',
    'service',
    'stream',
    'topic',
    'type',
  ])
  assert.deepEqual(Object.keys(client).toSorted(), ['BusbarError', 'client', 'publisher', 'safe'])
})

test('busbar/adapters and busbar/fetch export these values', () => {
  assert.deepEqual(Object.keys(adapters).toSorted(), ['fastifyPlugin', 'fetchHandler', 'nodeListener'])
  assert.deepEqual(Object.keys(fetched).toSorted(), ['fetchHandler'])
})

test('the package exports these types', () => {
  const lists = [...source.matchAll(/export (?<all>type )?\{(?<names>[^}]+)\}/g)].flatMap(({ groups }) =>
    groups!['names']!.split(',').filter((name) => groups!['all'] !== undefined || name.includes('type ')),
  )
  const types = lists.map((name) => name.replace('type ', '').trim()).filter((name) => name !== '')
  assert.deepEqual(
    new Set(types),
    new Set(
      (
        'App AppConfig ConfigContext ConfigFunction ErrorCode Atomic Counter Held Mutex WaitOptions ' +
        'Offload OffloadOptions OffloadPool OffloadPoolOptions TaskContext ' +
        'AppClient AppClientOptions AppStatus EmbeddedApp EndReason FetchHandler LogLine Replacement RequestHandler ' +
        'StartAppOptions'
      ).split(' '),
    ),
  )
})

test('the package has these entry points', () => {
  assert.deepEqual(Object.keys(manifest.exports), [
    '.',
    './contract',
    './client',
    './adapters',
    './fetch',
    './schema.json',
    './package.json',
  ])
})

test('dependencies have exact versions, so that installations are what was tested', () => {
  for (const [name, version] of Object.entries(manifest.dependencies)) assert.match(version, /^\d+\.\d+\.\d+$/, name)
})
