import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { isAbsolute, join } from 'node:path'
import { describe, test } from 'node:test'
import { cacheFolder } from '../../src/shared/process/cache-folder.ts'

const module = new URL('../../src/shared/process/user-folders.ts', import.meta.url)
const script = `
const { userFolder, userName } = await import(process.argv[1])
console.log(JSON.stringify([userFolder(undefined, '.cache'), userName()]))`

/** What a process of that user, without a usable \`HOME\`, finds. */
function foundBy(user: { uid: number; gid: number } | undefined, HOME: string | undefined): string[] {
  const args = ['--conditions=busbar-source', '--input-type=module', '-e', script, module.href]
  const env = { ...(HOME !== undefined && { HOME }) }
  return JSON.parse(execFileSync(process.execPath, args, { ...user, env, cwd: '/', encoding: 'utf8' })) as string[]
}

describe('the folders of a user', { skip: process.platform === 'win32' }, () => {
  test('are those of the variables, if these are absolute', () => {
    assert.equal(cacheFolder({ XDG_CACHE_HOME: '/srv/cache' }), '/srv/cache/busbar')
    for (const folder of ['cache', './cache', ''])
      assert.equal(cacheFolder({ XDG_CACHE_HOME: folder }), cacheFolder({}))
  })

  test('are below the home of the list of users if HOME is no absolute path', () => {
    const expected = foundBy(undefined, undefined)
    assert.ok(isAbsolute(expected[0]!))
    for (const home of ['', 'home']) assert.deepEqual(foundBy(undefined, home), expected)
  })

  test('are below / for a user whom the system does not know', { skip: process.getuid?.() !== 0 }, () => {
    const unknown = { uid: 54_321, gid: 54_321 }
    assert.deepEqual(foundBy(unknown, undefined), [join('/', '.cache'), '54321'])
  })
})
