import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const web = `
const http = require('node:http')
console.log('token ' + process.env.TOKEN)
http.createServer((request, response) => {
  if (request.url === '/flood') for (let line = 0; line < 5000; line++) console.log('line ' + line)
  response.end(String(process.pid))
}).listen(3000)`

function appWith(logs: object): TestFolder {
  return new TestFolder({
    'busbar.config.json': {
      gateway: { port: 0, entry: 'web' },
      logs,
      services: { web: { path: './web', env: { TOKEN: '${file:secret}' }, run: 'thread' } },
    },
    'web/index.js': web,
    secret: 'correct horse battery\n',
  })
}

test('the log goes to files and to standard output, both without secrets', async () => {
  using folder = appWith({ files: './logs' })
  await using busbar = new BusbarProcess(['start', folder.path])
  await busbar.url()
  await busbar.message('token [redacted]')
  busbar.child.kill('SIGTERM')
  const { code, stdout } = await busbar.ended
  assert.equal(code, 0)
  const file = readFileSync(folder.at('logs/app.log'), 'utf8')
  assert.ok(!`${file}${stdout}`.includes('horse'))
  assert.match(file, /"msg":"token \[redacted\]"/)
  assert.match(file, /"msg":"stopped"\}\n$/)
})

test('the rate limit drops lines and says how many', async () => {
  using folder = appWith({ rate: 100 })
  await using busbar = new BusbarProcess(['start', folder.path])
  const url = await busbar.url()
  await fetch(`${url}/flood`)
  const messages = (): string[] => busbar.events.map(({ msg }) => String(msg))
  const notice = /^(\d+) log lines dropped: web writes more than 100 lines per second/
  const dropped = (): number => messages().reduce((sum, line) => sum + Number(notice.exec(line)?.[1] ?? 0), 0)
  const written = (): number => messages().filter((line) => /^(?:line|token) /.test(line)).length
  // One notice for each second: a busy machine takes longer than one.
  await busbar.until(() => dropped() + written() >= 5001)
  assert.equal(dropped() + written(), 5001)
  assert.ok(dropped() > 0)
})

test('lines before and after a crash of the whole process, and the crash itself, are in the file', async () => {
  using folder = appWith({ files: { folder: './logs', maxSize: '1mb', maxTotal: '3mb' }, stdout: false })
  await using busbar = new BusbarProcess(['start', folder.path])
  const served = (): string[] => [...read(folder).matchAll(/serves at (http:[^"]+)"/g)].map(([, url]) => url!)
  while (served().length === 0) await sleep(20)
  const pid = Number(await (await fetch(served()[0]!)).text())
  process.kill(pid, 'SIGKILL')
  while (served().length === 1) await sleep(20)
  const text = read(folder)
  assert.ok(text.indexOf('the whole process was ended by SIGKILL') > text.indexOf('serves at'))
  busbar.child.kill('SIGTERM')
  assert.deepEqual(await busbar.ended.then(({ code, stdout }) => [code, stdout]), [0, ''])
})

function read(folder: TestFolder): string {
  return existsSync(folder.at('logs/app.log')) ? readFileSync(folder.at('logs/app.log'), 'utf8') : ''
}
