import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { loadApp } from '../../../src/config/load.ts'
import { BusbarProcess } from '../../support/app/busbar-process.ts'
import { folderWithBusbar, type TestFolder } from '../../support/app/test-folder.ts'

const contract = `
import { fn, service, type } from 'busbar/contract'
export const reports = service('reports', { nightly: fn({ input: type(), output: type() }) })`

const files = {
  'package.json': { type: 'module' },
  'busbar.config.json': {
    gateway: { port: 0, entry: 'web' },
    services: { web: './web', reports: './reports' },
    schedule: {
      method: { cron: '* * * * * *', call: 'reports.nightly', input: { day: 'today' } },
      path: { cron: '* * * * * *', request: 'POST http://web.internal/clean?all=1', input: { a: 1 } },
      program: { cron: '* * * * * *', task: './task.ts' },
      fails: { cron: '* * * * * *', request: 'GET http://web.internal/missing' },
    },
  },
  'web/index.js': `
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
createServer(async (request, response) => {
  console.log(request.method, request.url, await text(request))
  response.writeHead(request.url === '/missing' ? 404 : 200).end('web answers')
}).listen(3000)`,
  'reports/contract.js': contract,
  'reports/index.js': `
import { reports } from './contract.js'
export default reports.implement({ nightly: ({ day }) => console.log('report of', day) })`,
  'task.ts': `
const answer: Response = await fetch('http://web.internal/from-task')
console.log('the task got:', await answer.text())`,
}

test('entries call a method, a path and a task, and describe shows what became of them', async () => {
  using folder = folderWithBusbar(files)
  await using busbar = start(folder)
  await busbar.message('report of today')
  await busbar.message('POST /clean?all=1 {"a":1}')
  await busbar.message('GET /from-task')
  const line = await busbar.message('the task got: web answers')
  assert.equal(line['service'], 'schedule.program')
  await busbar.message('schedule program: succeeded')
  await busbar.message('schedule fails: failed')
  const { stdout } = await BusbarProcess.run(['describe', folder.path, '--json'], { env: envOf(folder) })
  const { schedule } = JSON.parse(stdout) as {
    schedule: { name: string; runs: { outcome: string; error: string }[] }[]
  }
  const outcomes = Object.fromEntries(schedule.map(({ name, runs }) => [name, runs[0]]))
  assert.equal(outcomes['method']!.outcome, 'succeeded')
  assert.equal(outcomes['path']!.outcome, 'succeeded')
  assert.equal(outcomes['program']!.outcome, 'succeeded')
  assert.equal(outcomes['fails']!.error, 'GET http://web.internal/missing was answered 404 Not Found')
  const text = await BusbarProcess.run(['describe', folder.path], { env: envOf(folder) })
  assert.match(text.stdout, /method \(schedule\)\n {2}cron +\* \* \* \* \* \*\n {2}runs +reports\.nightly\n/)
  busbar.child.kill('SIGTERM')
  assert.equal((await busbar.ended).code, 0)
})

test('of two processes of an app, one runs the schedule; the other takes over when it is killed', async () => {
  const config = {
    gateway: { port: 0, entry: 'web' },
    services: { web: './web' },
    schedule: { only: { cron: '* * * * * *', task: './task.ts' } },
  }
  const task = `import { appendFileSync } from 'node:fs'; appendFileSync('./runs', process.ppid + '\\n')`
  using folder = folderWithBusbar({ ...files, 'busbar.config.json': config, 'task.ts': task })
  const runners = (): string[] =>
    existsSync(folder.at('runs')) ? readFileSync(folder.at('runs'), 'utf8').split('\n').slice(0, -1) : []
  await using first = start(folder, '--once')
  await first.message('this process runs the schedule')
  await using second = start(folder, '--once')
  await second.message('another process of this app runs the schedule')
  while (runners().length < 2) await sleep(20)
  assert.deepEqual(new Set(runners()), new Set([`${first.child.pid}`]))
  first.child.kill('SIGKILL')
  await second.message('this process runs the schedule')
  while (!runners().includes(`${second.child.pid}`)) await sleep(20)
})

test('a method that does not end does not keep the app from stopping', async () => {
  const { services } = files['busbar.config.json']
  using folder = folderWithBusbar({
    ...files,
    'busbar.config.json': {
      gateway: { port: 0, entry: 'web' },
      services,
      stopTimeout: 500,
      schedule: { method: { cron: '* * * * * *', call: 'reports.nightly', input: { day: 'today' } } },
    },
    'reports/index.js': `
import { reports } from './contract.js'
export default reports.implement({ nightly: () => (console.log('begun'), new Promise(() => {})) })`,
  })
  await using busbar = start(folder)
  await busbar.message('begun')
  busbar.child.kill('SIGTERM')
  const { code, stdout } = await busbar.ended
  assert.equal(code, 0)
  assert.match(stdout, /schedule method: failed after \d+ ms: the app stops/)
})

for (const [what, entry, message] of [
  [
    'an expression',
    { cron: '0 3 * *', task: './task.ts' },
    /schedule\.job: cron is "0 3 \* \*": it needs five or six fields/,
  ],
  [
    'too many fields',
    { cron: '* * * * * * *', task: './task.ts' },
    /schedule\.job: cron is .*: it needs five or six fields/,
  ],
  ['a day that never comes', { cron: '0 0 31 2 *', task: './task.ts' }, /schedule\.job: cron is .*: it never occurs/],
  ['a time zone', { cron: '@daily', timeZone: 'Mars/Base', task: './task.ts' }, /which is not a time zone/],
  ['a service', { cron: '@daily', call: 'report.nightly' }, /there is no service "report"; the nearest is reports/],
  ['a method of a program', { cron: '@daily', call: 'web.clean' }, /service 'web' is a program and has no methods/],
  ['a file', { cron: '@daily', task: './tusk.ts' }, /there is no file .*tusk\.ts; the nearest is/],
  ['two targets', { cron: '@daily', task: './task.ts', call: 'reports.nightly' }, /it has 2 of call, request and task/],
] as const)
  test(`an entry with a wrong target or time is refused: ${what}`, async () => {
    const { services, gateway } = files['busbar.config.json']
    using folder = folderWithBusbar({ ...files, 'busbar.config.json': { gateway, services, schedule: { job: entry } } })
    await assert.rejects(loadApp(folder.path, { env: {} }), { code: 'CONFIG_INVALID', message })
  })

function start(folder: TestFolder, ...args: string[]): BusbarProcess {
  return new BusbarProcess(['start', folder.path, ...args], { env: envOf(folder) })
}

function envOf(folder: TestFolder): NodeJS.ProcessEnv {
  return { XDG_STATE_HOME: folder.at('state'), XDG_RUNTIME_DIR: folder.at('run') }
}
