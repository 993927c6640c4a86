import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import type { Arm, Requirement } from '../src/arm.ts'
import { packagesOf, provide } from '../src/packages.ts'

/** Stands in for the registry's client: it installs what `package.json` asks for, or fails as it does without a network. */
const npm = `#!/bin/sh
test -e "$CACHE/offline" && { echo "npm error network request to registry failed" >&2; exit 1; }
echo "$@" >> "$CACHE/calls"
mkdir -p node_modules/peer
echo '{"version":"1.2.3"}' > node_modules/peer/package.json
`
const needsPeer: Requirement = { kind: 'npm', packages: { peer: '1.2.3' } }

const arm = (requires?: Requirement): Arm => ({
  name: 'arm',
  title: 'arm',
  ...(requires && { requires }),
  launch: () => ({ command: ['true'], target: { path: '/' } }),
})

describe('what arms require', { skip: process.platform === 'win32' }, () => {
  const { PATH = '', XDG_CACHE_HOME } = process.env
  let folder: string
  const cached = () => readdir(join(folder, 'busbar-lab')).catch(() => [])
  const calls = async () => (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n')

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'busbar-lab-test-'))
    await writeFile(join(folder, 'npm'), npm)
    await chmod(join(folder, 'npm'), 0o700)
    Object.assign(process.env, { XDG_CACHE_HOME: folder, CACHE: folder, PATH: `${folder}${delimiter}${PATH}` })
  })
  afterEach(async () => {
    delete process.env['CACHE']
    process.env['PATH'] = PATH
    if (XDG_CACHE_HOME === undefined) delete process.env['XDG_CACHE_HOME']
    else process.env['XDG_CACHE_HOME'] = XDG_CACHE_HOME
    await rm(folder, { recursive: true, force: true })
  })

  test('is installed once into a folder of the cache, without scripts, and its version is told', async () => {
    for (const time of ['first', 'second'])
      assert.deepEqual(await provide([arm(needsPeer)]), { versions: { peer: '1.2.3' }, missing: new Map() }, time)
    const [call, ...more] = await calls()
    assert.deepEqual(more, [])
    assert.match(call!, /^install --ignore-scripts --no-audit --no-fund /)
    assert.deepEqual(await cached(), [packagesOf(arm(needsPeer)).split('/').at(-1)])
  })

  test('asks for exactly the versions that are named', async () => {
    await provide([arm(needsPeer)])
    const manifest = JSON.parse(await readFile(join(packagesOf(arm(needsPeer)), 'package.json'), 'utf8')) as object
    assert.deepEqual(manifest, { private: true, dependencies: { peer: '1.2.3' } })
  })

  test('another version has another folder', () => {
    const other = arm({ kind: 'npm', packages: { peer: '1.2.4' } })
    assert.notEqual(packagesOf(arm(needsPeer)), packagesOf(other))
  })

  test('without a network the arm is missing with the reason, nothing half made stays, and the next run tries again', async () => {
    await writeFile(join(folder, 'offline'), '')
    const { missing } = await provide([arm(needsPeer)])
    assert.match(missing.get('arm') ?? '', /peer 1\.2\.3 could not be installed from the registry/)
    assert.match(missing.get('arm') ?? '', /network request to registry failed/)
    assert.deepEqual(await cached(), [])
    await rm(join(folder, 'offline'))
    assert.equal((await provide([arm(needsPeer)])).missing.size, 0)
  })

  test('without Go its arms are missing, and the reason says so', async () => {
    process.env['PATH'] = folder
    const { missing } = await provide([arm({ kind: 'go', source: 'protocols/items.go' })])
    assert.equal(missing.get('arm'), 'there is no command go here')
  })

  test('an arm that requires nothing starts nothing', async () => {
    assert.deepEqual(await provide([arm()]), { versions: {}, missing: new Map() })
    assert.deepEqual(await cached(), [])
  })
})
