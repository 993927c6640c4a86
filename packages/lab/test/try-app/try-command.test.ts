import assert from 'node:assert/strict'
import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { isFree } from '../../src/protocol/ports.ts'
import { Repository, server } from '../support/repository.ts'
import { shop } from '../support/shop.ts'

describe('busbar try', () => {
  test('finds services that call each other, compares their answers, and writes nothing', async () => {
    const { files, ports } = await shop((port) => `process.env.CATALOG_URL ?? 'http://localhost:${port}'`)
    using repository = new Repository(files)
    const before = repository.files()
    const { code, report, stderr } = await repository.try('--json', '--path', '/', '--path', '/again')
    assert.deepEqual([code, report.same], [0, true], JSON.stringify(report.arms, undefined, 1) + stderr)
    assert.deepEqual(
      report.arms.map(({ name, problem, answers }) => [name, problem, answers.map(({ status }) => status)]),
      ['today', 'process', 'thread', 'shared'].map((name) => [name, null, [200, 200]]),
    )
    const [call] = report.calls
    assert.deepEqual([call?.from, call?.to, call?.where], ['web', 'catalog', 'web/server.js:1'])
    assert.deepEqual(call?.variable, { name: 'CATALOG_URL', value: 'http://catalog.internal' })
    assert.match(report.text, /CATALOG_URL: 'http:\/\/catalog\.internal'/)
    assert.deepEqual(repository.files(), before)
    assert.deepEqual(await Promise.all(ports.map((port) => isFree(port))), [true, true])
  })

  test('--rewrite-localhost needs no change of the sources, and --write writes the config', async () => {
    const { files, ports } = await shop((port) => `'http://127.0.0.1:${port}'`)
    using repository = new Repository(files)
    const { code, stdout } = await repository.try('--rewrite-localhost', '--write')
    assert.equal(code, 0, stdout)
    const config = readFileSync(join(repository.path, 'busbar.config.ts'), 'utf8')
    assert.match(config, new RegExp(`localhost: ${ports[1]}`))
    assert.match(
      stdout,
      /web calls catalog +web\/server\.js:1 +change http:\/\/127\.0\.0\.1:\d+ to http:\/\/catalog\.internal/,
    )
    const again = await repository.start().output
    assert.deepEqual([again[2][0], again[0]], [2, ''])
    assert.match(again[1], /has a busbar\.config\.ts already, so Busbar runs it/)
  })

  test('what differs is named, and the exit code is 1', async () => {
    using repository = new Repository({
      'package.json': '{ "name": "one", "main": "server.js" }',
      'server.js': server(
        'process.env.PORT ?? 3000',
        `{ named: String(process.env.NO_PROXY).includes('.internal'), time: Date.now() }`,
      ),
    })
    const { code, report } = await repository.try('--json')
    assert.deepEqual([code, report.same], [1, false])
    for (const { name, answers } of report.arms) {
      const expected = name === 'today' ? [] : [{ part: 'body /named', today: 'false', here: 'true' }]
      assert.deepEqual(answers[0]!.differences, expected, name)
    }
    const page = await repository.try()
    assert.match(page.stdout, /GET \/ \(one\) +200 +differs +differs/)
    assert.match(page.stdout, /body \/named is "true", today "false"/)
    assert.match(page.stdout, /not compared: .*body \/time.*changes from answer to answer today/)
  })

  test('services that cannot run as today are compared with each other', async () => {
    using repository = new Repository({
      'package.json': '{ "name": "exported", "main": "server.js" }',
      'server.js': 'module.exports = (request, response) => response.end("served")',
    })
    const { code, report } = await repository.try('--json')
    assert.equal(code, 0)
    assert.deepEqual(report.arms.map(({ name }) => name).includes('today'), false)
    assert.match(report.notes[0]!, /As today: left out, since exported opens no port by itself/)
  })

  test('an app of PM2 with several instances is one process as today, which the page says', async () => {
    using repository = new Repository({
      'ecosystem.config.json': JSON.stringify({ apps: [{ name: 'web', script: './server.js', instances: 2 }] }),
      'server.js': server('process.env.PORT ?? 3000', '1'),
    })
    const { report } = await repository.try('--json')
    assert.deepEqual(report.notes[0], 'web has 2 instances under Busbar, and one process as today.')
  })

  test('a placement that cannot run is told from different answers, by what the program said', async () => {
    using repository = new Repository({
      'package.json': '{ "name": "main", "main": "server.js" }',
      'server.js': `if (String(process.env.NO_PROXY).includes('.internal')) throw new Error('only without Busbar')
        ${server('process.env.PORT ?? 3000', '1')}`,
    })
    const { code, stdout } = await repository.try()
    assert.equal(code, 1)
    assert.match(stdout, /: same answers where it could run\n/)
    assert.match(stdout, /could not run: Busbar, a thread each: thread ended before it answered: .*only without Busbar/)
    assert.doesNotMatch(stdout, /\{"level"/)
  })

  test('--write tries to write before it starts anything, and a page whose config cannot be written is printed', async () => {
    const program = {
      'package.json': '{ "name": "main", "main": "server.js" }',
      'server.js': server('process.env.PORT ?? 3000', '1'),
    }
    using taken = new Repository(program)
    // Also the administrator cannot write through it.
    symlinkSync(join(taken.path, 'missing/config.ts'), join(taken.path, 'busbar.config.ts'))
    const [stdout, stderr, [code]] = await taken.start('--write', '--budget', '0').output
    assert.deepEqual([stdout, code], ['', 2], stderr)
    assert.doesNotMatch(stderr, /comparing answers/)
    using late = new Repository({
      ...program,
      'server.js': `require('node:fs').writeFileSync(__dirname + '/busbar.config.ts', '')\n${program['server.js']}`,
    })
    const page = await late.try('--write')
    assert.equal(page.code, 2)
    assert.match(page.stdout, /same answers[^]*services: \{/)
    assert.match(page.stderr, /busbar\.config\.ts exists already/)
    assert.equal(readFileSync(join(late.path, 'busbar.config.ts'), 'utf8'), '')
  })

  test('Ctrl-C ends everything that was started', async () => {
    const { files, ports } = await shop((port) => `'http://localhost:${port}'`)
    using repository = new Repository(files)
    const { child, output } = repository.start('--path', '/')
    await waitUntil(async () => !(await isFree(ports[1]!)))
    child.kill('SIGINT')
    const [stdout, stderr, [code]] = await output
    assert.deepEqual([stdout, code], ['', 130], stderr)
    assert.deepEqual(await Promise.all(ports.map((port) => isFree(port))), [true, true])
  })

  test('Ctrl-C while it measures: the page has the answers, and no config is written', async () => {
    const { files } = await shop((port) => `'http://localhost:${port}'`)
    using repository = new Repository(files)
    const { child, output } = repository.start('--path', '/', '--write')
    let progress = ''
    child.stderr.on('data', (chunk: Buffer) => (progress += String(chunk)))
    await waitUntil(() => Promise.resolve(progress.includes('measuring') || child.exitCode !== null))
    child.kill('SIGINT')
    const [stdout, stderr, [code]] = await output
    assert.match(stdout, /same answers/)
    assert.match(stderr, /interrupted: everything that was started has ended/)
    assert.equal(code, 130)
    assert.ok(!existsSync(join(repository.path, 'busbar.config.ts')))
  })
})

async function waitUntil(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}
