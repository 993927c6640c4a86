import assert from 'node:assert/strict'
import { join } from 'node:path'
import { suite, test } from 'node:test'
import { another, hosting, programs, type HostedApp } from './support/app.ts'

const folder = join(programs, 'environment')
const tooFolder = another('environment')
const two = { one: named('environment', 'one'), two: named(tooFolder, 'two') }

function named(program: string, name: string): { program: string; args: string[]; env: Record<string, string> } {
  return { program, args: ['--flag', name], env: { NAME: name } }
}

async function both(app: HostedApp, path: string): Promise<unknown[]> {
  return await Promise.all([app.json('one', path), app.json('two', path)])
}

suite('each of two programs in a thread', () => {
  test('sees its own variables, arguments and folder, while it loads, in requests and in named imports', async () => {
    await using app = await hosting(two)
    assert.deepEqual(await app.json('one'), {
      atImport: { name: 'one', cwd: folder, imported: 'one', importedCwd: folder },
      name: 'one',
      cwd: folder,
      path: join(folder, 'x'),
      argv: [join(folder, 'index.mjs'), '--flag', 'one'],
    })
    assert.deepEqual(await both(app, '/timer'), [{ name: 'one' }, { name: 'two' }])
  })

  test('keeps what it writes into the environment to itself, as text', async () => {
    await using app = await hosting(two)
    assert.deepEqual(await app.json('one', '/write'), { written: '12', seen: '12' })
    assert.deepEqual(await both(app, '/read'), [{ written: '12' }, { written: null }])
    assert.deepEqual(await app.json('one', '/delete'), { gone: true })
  })

  test('gives its variables and folder to the processes and threads that it starts', async () => {
    await using app = await hosting(two)
    assert.deepEqual(await both(app, '/child'), [{ says: `one ${folder}` }, { says: `two ${tooFolder}` }])
    assert.deepEqual(await both(app, '/child-sync'), [{ says: 'one' }, { says: 'two' }])
    assert.deepEqual(await both(app, '/thread'), [{ name: 'one' }, { name: 'two' }])
    assert.deepEqual(await both(app, '/thread-that-shares'), [{ name: 'one' }, { name: 'two' }])
  })

  test('is in its folder as a shell would say it', async () => {
    await using app = await hosting(two)
    const expected = process.env['PWD'] === undefined ? [null, null] : [folder, tooFolder]
    assert.deepEqual(
      await both(app, '/pwd'),
      expected.map((pwd) => ({ pwd })),
    )
  })

  test('sees the events that it listens to, and ends by no fault that it emits without a handler', async () => {
    await using app = await hosting(two)
    const expected = { emitted: [false, false], isSeen: [true, true, false, false] }
    assert.deepEqual(await both(app, '/events'), [expected, expected])
  })

  test('may go to another folder, and takes nobody along', async () => {
    await using app = await hosting(two)
    const answer = { inside: ['/', '/x', false], after: [tooFolder, true] }
    assert.deepEqual(await app.json('two', '/chdir'), answer)
    assert.equal(((await app.json('one')) as { cwd: string }).cwd, folder)
  })
})

suite('the flags of scripts.start', () => {
  const flags = ['--env-file=variables.env', '--import', './register.js', '-r', './preload.cjs']

  test('are done before the program: env files, imports and requires', async () => {
    const it = { program: 'node-options', nodeOptions: flags, env: { FROM_BOTH: 'config' } }
    await using app = await hosting({ it })
    const expected = { imported: 'file', required: 'yes', file: 'file', both: 'config' }
    assert.deepEqual(await app.json('it'), expected)
    assert.deepEqual(app.report('it').warnings, [])
  })

  test('that a thread cannot have are warned of, each by name', async () => {
    const nodeOptions = ['--env-file-if-exists=none.env', '--max-old-space-size=100', '--conditions', 'development']
    await using app = await hosting({ it: { program: 'node-options', nodeOptions } })
    const named = app.report('it').warnings.map((warning) => /--[\w-]+/.exec(warning)?.[0])
    assert.deepEqual(named, ['--max-old-space-size', '--conditions'])
  })
})
