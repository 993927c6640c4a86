import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { readConfig } from '../../src/config/file/read-config.ts'
import { TestFolder } from '../support/app/test-folder.ts'
import { failure, program } from '../support/app/config-failures.ts'

const folderOf = (config: string): TestFolder =>
  new TestFolder({ 'busbar.config.mjs': config, 'web/index.js': program })

describe('a config that is a module', () => {
  for (const [call, code] of [
    ['process.exit()', 0],
    ['process.exit(3)', 3],
    ['process.exitCode = 2; process.exit()', 2],
  ] as const)
    it(`is unreadable if it calls process.exit, with the code: ${call}`, async () => {
      using folder = folderOf(`${call}\nexport default { services: { web: './web' } }`)
      const { code: error, message } = await failure(folder.path, {})
      assert.equal(error, 'CONFIG_UNREADABLE')
      assert.equal(message, `${folder.at('busbar.config.mjs')} cannot be read: it calls process.exit(${code})`)
    })

  for (const [thrown, says] of [
    ['null', 'null'],
    ['undefined', 'undefined'],
    ['"no database"', 'no database'],
    ['Symbol("s")', 'Symbol(s)'],
    ['{ reason: "full" }', "{ reason: 'full' }"],
    ['Object.create(null)', '[Object: null prototype] {}'],
    ['{ [Symbol.for("nodejs.util.inspect.custom")]() { throw 1 } }', 'an object'],
  ] as const)
    it(`is unreadable if it throws ${thrown}`, async () => {
      using folder = folderOf(`throw ${thrown}`)
      const { code, message } = await failure(folder.path, {})
      assert.equal(code, 'CONFIG_UNREADABLE')
      assert.ok(message.endsWith(`cannot be read: it threw ${says}, which is not an Error`), message)
    })

  it('is unreadable if it throws later, before it has finished', async () => {
    using folder = folderOf(
      'setTimeout(() => { throw new Error("too late") })\nexport default new Promise((done) => setTimeout(done, 60_000))',
    )
    const { code, message } = await failure(folder.path, {})
    assert.equal(code, 'CONFIG_UNREADABLE')
    assert.match(message, /too late\n.*busbar\.config\.mjs:1:/)
  })

  for (const config of ['for (;;);', 'export default new Promise((done) => setTimeout(done, 60_000))'])
    it(`is unreadable if it does not finish in time: ${config}`, async () => {
      using folder = folderOf(config)
      const reading = readConfig(folder.at('busbar.config.mjs'), { env: {}, root: folder.path }, 1_000)
      await assert.rejects(reading, { code: 'CONFIG_UNREADABLE', message: /it has not finished within 1 seconds$/ })
    })

  it('may set the variables that its placeholders name', async () => {
    const variable = 'BUSBAR_TEST_SET_BY_CONFIG'
    using folder = folderOf(
      `process.env.${variable} = '4007'\nexport default { gateway: { port: '\${${variable}}' }, services: { web: './web' } }`,
    )
    try {
      assert.equal((await loadApp(folder.path)).gateway.port, 4007)
    } finally {
      delete process.env[variable]
    }
  })

  it('sees the arguments of the process', async () => {
    using folder = folderOf('export default { argv: process.argv }')
    const config = await readConfig(folder.at('busbar.config.mjs'), { env: {}, root: folder.path })
    assert.deepEqual(config, { argv: process.argv })
  })

  it('is read anew with all that it imports', async () => {
    using folder = folderOf(
      "import { port } from './port.mjs'\nexport default { gateway: { port }, services: { web: './web' } }",
    )
    for (const port of [4001, 4002]) {
      folder.write('port.mjs', `export const port = ${port}`)
      assert.equal((await loadApp(folder.path, { env: {} })).gateway.port, port)
    }
  })

  it('may be made of objects of classes, with getters and what they inherit', async () => {
    using folder = folderOf(`
      class Config { get workers() { return 2 } gateway = Object.create({ port: 4003 }) }
      export default Object.assign(new Config(), { services: { web: './web' } })`)
    const { workers, gateway } = await loadApp(folder.path, { env: {} })
    assert.deepEqual([workers, gateway.port], [2, 4003])
  })

  it('is refused where it has a function or a symbol instead of data', async () => {
    using folder = folderOf(`export default { workers: () => 2, stopTimeout: Symbol('s'), services: { web: './web' } }`)
    const { code, message } = await failure(folder.path, {})
    assert.equal(code, 'CONFIG_INVALID')
    assert.match(message, /workers is a function; allowed is/)
    assert.match(message, /stopTimeout is Symbol\(.*\); allowed is/)
  })

  it('is refused if a part contains itself, and may have a part twice', async () => {
    const env = "const env = { A: '1' }\nconst web = { path: './web', env }\n"
    using folder = folderOf(`${env}web.env.B = web\nexport default { services: { web } }`)
    const { code, message } = await failure(folder.path, {})
    assert.deepEqual([code, message], ['CONFIG_INVALID', 'services.web.env.B contains itself'])
    folder.write('busbar.config.mjs', `${env}export default { services: { web, again: web } }`)
    const { services } = await loadApp(folder.path, { env: {} })
    assert.deepEqual(
      services.map((service) => service.env),
      [{ A: '1' }, { A: '1' }],
    )
  })
})
