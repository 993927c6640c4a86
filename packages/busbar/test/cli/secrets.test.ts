import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { loadApp } from '../../src/config/load.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const secret = 'correct horse battery'

test('what a secret file contains reaches the service, and is shown nowhere', async () => {
  using folder = new TestFolder({
    'busbar.config.json': {
      gateway: { port: 0, entry: 'web' },
      services: {
        web: { path: './web', env: { PLACE: 'db:${file:secret}@host' } },
        pages: { path: './pages', command: 'node index.js ${file:key}' },
      },
      schedule: { ask: { cron: '* * * * * *', request: 'GET http://pages.internal/?key=${file:key}' } },
    },
    'pages/index.js': `require('node:http').createServer((_, response) => response.writeHead(404).end()).listen(process.env.PORT)`,
    key: 'horse-shoe',
    'web/index.js': `
      console.log('printed', process.env.PLACE)
      console.error(JSON.stringify({ place: process.env.PLACE }))
      require('node:http').createServer((_, response) => response.end(process.env.PLACE)).listen(3000)`,
    secret,
  })
  const env = { XDG_RUNTIME_DIR: folder.at('run'), XDG_STATE_HOME: folder.at('state') }
  await using busbar = new BusbarProcess(['start', folder.path, '--once'], { env })
  assert.equal(await (await fetch(await busbar.url())).text(), `db:${secret}@host`)
  await busbar.message('printed db:[redacted]@host')
  await busbar.message('schedule ask: failed')
  for (const args of [
    ['check'],
    ['check', '--json'],
    ['ps', '--json'],
    ['describe'],
    ['env'],
    ['env', '--json', '--all'],
    ['describe', '--json'],
    ['logs', '--json'],
  ]) {
    const { code, stdout, stderr } = await BusbarProcess.run(args, { env, cwd: folder.path })
    assert.equal(code, 0, stderr)
    assert.ok(!`${stdout}${stderr}`.includes('horse'), args.join(' '))
  }
  busbar.child.kill('SIGTERM')
  const { stdout, stderr } = await busbar.ended
  assert.ok(!`${stdout}${stderr}`.includes('horse'))
})

for (const [what, file, why] of [
  ['a pipe', 'pipe', /it is not a file/],
  ['a device', '/dev/zero', /it is not a file/],
  ['a folder', '.', /it is not a file/],
  ['a large file', 'large', /it is larger than 65536 bytes/],
  ['a file with a NUL byte', 'binary', /it has a NUL byte/],
] as const)
  test(`${what} is not read as a secret`, async () => {
    using folder = new TestFolder({
      'busbar.config.json': { services: { web: { path: './web', env: { KEY: `\${file:${file}}` } } } },
      'web/index.js': '',
      large: 'x'.repeat(65_537),
      binary: 'x\0y',
    })
    execFileSync('mkfifo', [folder.at('pipe')])
    await assert.rejects(loadApp(folder.path, { env: {} }), { code: 'SECRET_UNREADABLE', message: why })
  })

test('an error of a program that contains a secret is shown without it', async () => {
  using folder = new TestFolder({
    'busbar.config.json': { services: { web: { path: './web', env: { KEY: '${file:secret}' } } } },
    'web/index.js': `throw new Error('cannot sign in with ' + process.env.KEY)`,
    secret,
  })
  const { code, stdout, stderr } = await BusbarProcess.run(['start', folder.path, '--port', '0'])
  assert.equal(code, 1)
  assert.match(stderr, /cannot sign in with \[redacted\]/)
  assert.ok(!`${stdout}${stderr}`.includes('horse'))
})

test('a reload that fails, and a restart of a worker, show what a program has thrown without its secret', async () => {
  using folder = new TestFolder({
    'busbar.config.json': {
      gateway: { port: 0 },
      services: { web: { path: './web', run: 'thread', env: { KEY: '${file:secret}' } } },
    },
    'web/index.js': `if (require('fs').existsSync(__dirname + '/broken')) throw new Error('cannot sign in with ' + process.env.KEY)
      require('http').createServer((request, response) => {
        if (request.url === '/exit') process.exit(1)
        response.end()
      }).listen(3000)`,
    secret,
  })
  const where = { cwd: folder.path, env: { XDG_RUNTIME_DIR: folder.at('run') } }
  await using busbar = new BusbarProcess(['start', '--once'], where)
  const url = await busbar.url()
  folder.write('web/broken', '')
  const reloaded = await BusbarProcess.run(['reload', 'web', '--json'], where)
  assert.equal(reloaded.code, 1)
  assert.match(reloaded.stderr, /cannot sign in with \[redacted\]/)
  await fetch(`${url}/exit`, { headers: { connection: 'close' } }).catch(() => {})
  await busbar.event(({ service, msg }) => service === 'web' && /cannot sign in[^]*index\.js/.test(String(msg)))
  const shown = await BusbarProcess.run(['ps', '--json'], where)
  assert.match(shown.stdout, /cannot sign in with \[redacted\]/)
  for (const text of [reloaded.stdout, reloaded.stderr, shown.stdout, busbar.stdout]) assert.ok(!text.includes('horse'))
})
