import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { copyProgram, hostPrograms, programs, type HostedApp } from './support/hosted-app.ts'

const folder = join(programs, 'environment')
const otherFolder = copyProgram('environment')
const two = { one: named('environment', 'one'), two: named(otherFolder, 'two') }

function named(program: string, name: string): { program: string; args: string[]; env: Record<string, string> } {
  return { program, args: ['--flag', name], env: { NAME: name } }
}

async function both(app: HostedApp, path: string): Promise<unknown[]> {
  return await Promise.all([app.json('one', path), app.json('two', path)])
}

suite('each of two programs in a thread', () => {
  test('sees its own variables, arguments and working directory: while it loads, in requests and in named imports', async () => {
    await using app = await hostPrograms(two)
    assert.deepEqual(await app.json('one'), {
      atImport: { name: 'one', cwd: folder, imported: 'one', importedCwd: folder },
      name: 'one',
      cwd: folder,
      path: join(folder, 'x'),
      argv: [join(folder, 'index.mjs'), '--flag', 'one'],
    })
    assert.deepEqual(await both(app, '/timer'), [{ name: 'one' }, { name: 'two' }])
  })

  test('changes only its own environment, whose values are text', async () => {
    await using app = await hostPrograms(two)
    assert.deepEqual(await app.json('one', '/write'), { written: '12', seen: '12' })
    assert.deepEqual(await both(app, '/read'), [{ written: '12' }, { written: null }])
    assert.deepEqual(await app.json('one', '/delete'), { gone: true })
  })

  test('passes its variables and working directory to the processes and threads that it starts', async () => {
    await using app = await hostPrograms(two)
    assert.deepEqual(await both(app, '/child'), [{ says: `one ${folder}` }, { says: `two ${otherFolder}` }])
    assert.deepEqual(await both(app, '/child-sync'), [{ says: 'one' }, { says: 'two' }])
    assert.deepEqual(await both(app, '/thread'), [{ name: 'one' }, { name: 'two' }])
    assert.deepEqual(await both(app, '/thread-that-shares'), [{ name: 'one' }, { name: 'two' }])
  })

  test('has its folder in PWD if a shell set that variable', async () => {
    await using app = await hostPrograms(two)
    const expected = process.env['PWD'] === undefined ? [null, null] : [folder, otherFolder]
    assert.deepEqual(
      await both(app, '/pwd'),
      expected.map((pwd) => ({ pwd })),
    )
  })

  test('receives events that it emits on process, and survives fault events that it emits without a handler', async () => {
    await using app = await hostPrograms(two)
    const expected = { emitted: [false, false], isSeen: [true, true, false, false] }
    assert.deepEqual(await both(app, '/events'), [expected, expected])
  })

  test('may change its working directory without affecting the other', async () => {
    await using app = await hostPrograms(two)
    const answer = { inside: ['/', '/x', false], after: [otherFolder, true] }
    assert.deepEqual(await app.json('two', '/chdir'), answer)
    assert.equal(((await app.json('one')) as { cwd: string }).cwd, folder)
  })
})

suite('the flags of scripts.start', () => {
  const flags = ['--env-file=variables.env', '--import', './register.js', '-r', './preload.cjs']

  test('apply before the program is loaded: env files, imports and requires', async () => {
    const it = { program: 'node-options', nodeOptions: flags, env: { FROM_BOTH: 'config' } }
    await using app = await hostPrograms({ it })
    const expected = { imported: 'file', required: 'yes', file: 'file', both: 'config' }
    assert.deepEqual(await app.json('it'), expected)
    assert.deepEqual(app.report('it').warnings, [])
  })

  test('that have no effect in a thread cause a warning each', async () => {
    const nodeOptions = ['--env-file-if-exists=none.env', '--max-old-space-size=100', '--conditions', 'development']
    await using app = await hostPrograms({ it: { program: 'node-options', nodeOptions } })
    const named = app.report('it').warnings.map((warning) => /--[\w-]+/.exec(warning)?.[0])
    assert.deepEqual(named, ['--max-old-space-size', '--conditions'])
  })
})
