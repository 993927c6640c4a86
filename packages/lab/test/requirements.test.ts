import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Arm, RequiredCommand, Requirement } from '../src/arm.ts'
import { findCommand, requirementsFolder, installRequirements } from '../src/requirements.ts'

/** A fake npm: installs the dependencies of `package.json`, or fails as without a network. */
const npm = `#!/bin/sh
test -e "$CACHE/offline" && { echo "npm error network request to registry failed" >&2; exit 1; }
echo "$@" >> "$CACHE/calls"
mkdir -p node_modules/peer
echo '{"version":"1.2.3"}' > node_modules/peer/package.json
`
const broker: RequiredCommand = { name: 'broker', printVersion: ['2'], hint: 'see broker.example' }
const needsPeer: Requirement = { kind: 'npm', packages: { peer: '1.2.3' } }

const arm = (requires?: Requirement): Arm => ({
  name: 'arm',
  title: 'arm',
  ...(requires && { requires }),
  launch: () => ({ command: ['true'], target: { path: '/' } }),
})

describe('the requirements of arms', { skip: process.platform === 'win32' }, () => {
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

  test('are installed once into a folder of the cache, without scripts, and versions are reported', async () => {
    for (const time of ['first', 'second'])
      assert.deepEqual(
        await installRequirements([arm(needsPeer)]),
        { versions: { peer: '1.2.3' }, missing: new Map() },
        time,
      )
    const [call, ...more] = await calls()
    assert.deepEqual(more, [])
    assert.match(call!, /^install --ignore-scripts --no-audit --no-fund /)
    assert.deepEqual(await cached(), [requirementsFolder(arm(needsPeer)).split('/').at(-1)])
  })

  test('are installed in exactly the given versions', async () => {
    await installRequirements([arm(needsPeer)])
    const manifest = JSON.parse(
      await readFile(join(requirementsFolder(arm(needsPeer)), 'package.json'), 'utf8'),
    ) as object
    assert.deepEqual(manifest, { private: true, dependencies: { peer: '1.2.3' } })
  })

  test('have a folder per version', () => {
    const other = arm({ kind: 'npm', packages: { peer: '1.2.4' } })
    assert.notEqual(requirementsFolder(arm(needsPeer)), requirementsFolder(other))
  })

  test('fail without a network, leave no incomplete folder, and are tried again by the next run', async () => {
    await writeFile(join(folder, 'offline'), '')
    const { missing } = await installRequirements([arm(needsPeer)])
    assert.match(missing.get('arm') ?? '', /peer 1\.2\.3 could not be installed from the registry/)
    assert.match(missing.get('arm') ?? '', /network request to registry failed/)
    assert.deepEqual(await cached(), [])
    await rm(join(folder, 'offline'))
    assert.equal((await installRequirements([arm(needsPeer)])).missing.size, 0)
  })

  test('fail without Go, with the reason', async () => {
    process.env['PATH'] = folder
    const { missing } = await installRequirements([arm({ kind: 'go', source: 'protocols/items.go' })])
    assert.equal(missing.get('arm'), 'the command go is not installed')
  })

  test('that are commands are found in PATH, and their version is reported', async () => {
    await writeFile(join(folder, 'broker'), '#!/bin/sh\necho "broker: v$1.10.3"\n', { mode: 0o700 })
    assert.deepEqual(await installRequirements([{ ...arm(), requiresCommand: broker }]), {
      versions: { broker: '2.10.3' },
      missing: new Map(),
    })
    assert.equal(findCommand('broker'), join(folder, 'broker'))
  })

  test('that are commands fail with how to get them, and nothing is installed for such an arm', async () => {
    await writeFile(join(folder, 'broker'), 'not executable', { mode: 0o600 })
    const { versions, missing } = await installRequirements([{ ...arm(needsPeer), requiresCommand: broker }])
    assert.equal(missing.get('arm'), 'the command broker is not installed: see broker.example')
    assert.deepEqual([versions, await cached()], [{}, []])
  })

  test('that hang are ended at the limit, with what they have started', async () => {
    await writeFile(join(folder, 'broker'), '#!/bin/sh\nsleep 1000 & echo $! > "$CACHE/child"\nwait\n', { mode: 0o700 })
    const { missing } = await installRequirements([{ ...arm(), requiresCommand: broker }], { versionLimit: 500 })
    assert.match(missing.get('arm')!, /broker 2 has not ended within 0\.5 s, and was killed/)
    await untilEnded(folder)
  })

  test('that hang are ended by the signal, and no other one begins', async () => {
    await writeFile(join(folder, 'npm'), '#!/bin/sh\nsleep 1000 & echo $! > "$CACHE/child"\nwait\n', { mode: 0o700 })
    const stop = new AbortController()
    const installed = installRequirements([arm(needsPeer), arm(needsPeer)], { signal: stop.signal })
    while (!existsSync(join(folder, 'child'))) await sleep(20)
    stop.abort(new Error('stopped'))
    const { missing } = await installed
    assert.match(missing.get('arm')!, /stopped/)
    await untilEnded(folder)
    assert.deepEqual(await cached(), [])
  })

  test('of an arm without any start no process', async () => {
    assert.deepEqual(await installRequirements([arm()]), { versions: {}, missing: new Map() })
    assert.deepEqual(await cached(), [])
  })
})

/** Resolves when the process is gone whose number is in the file `child`. */
async function untilEnded(folder: string): Promise<void> {
  const pid = Number(await readFile(join(folder, 'child'), 'utf8'))
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    // Nobody may wait for a process whose parent has ended.
    if (isZombie(pid)) return
    await sleep(20)
  }
}

function isZombie(pid: number): boolean {
  try {
    return / Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
