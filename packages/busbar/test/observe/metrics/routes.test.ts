/** Calls over HTTP count by the path templates of the service that answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { loadApp } from '../../../src/config/load.ts'
import type { App, Service } from '../../../src/config/app.ts'
import { formatMetrics } from '../../../src/observe/metrics/metrics.ts'
import { acceleratorNames } from '../../../src/shared/accelerators.ts'
import { parseMetrics } from '../../support/app/prometheus.ts'
import { behindEntrance, pollUntil, TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'

const folder = `${import.meta.dirname}/../programs/routes`

const placements: Record<string, Service['run']> = {
  'in one thread': 'shared',
  'a thread each': 'thread',
  'a process each': 'process',
}

/** Requests to the gateway, and the routes by which they count. */
const fromOutside: Readonly<Record<string, string>> = {
  'GET /items': 'items GET /items',
  'GET /items/7?x=1': 'items GET /items/:id',
  'GET /items/8': 'items GET /items/:id',
  'GET /items/search': 'items GET /items/search',
  'POST /items/7/parts/9': 'items POST /items/:id/parts/:part',
  'HEAD /items/7': 'items HEAD /items/:id',
  'PATCH /items/any/7': 'items PATCH /items/any/:one',
  'GET /items/day/2026-11': 'items GET /items/day/:year-:month',
  // No route of Fastify.
  'POST /items/7': 'items POST /items',
  'GET /users/7': 'users GET /users/:user',
  'GET /users/me': 'users GET /users/me',
  'GET /users/7/orders/9': 'users GET /users/:user/orders/:order',
  'GET /users/7/orders/none/such': 'users GET /users',
  'GET /legacy/orders/1': 'legacy GET /legacy/orders/:id',
  'POST /legacy/orders/1': 'legacy POST /legacy/orders/:id',
  'DELETE /legacy/orders/1/lines/2': 'legacy DELETE /legacy/orders/:id/lines/:line',
  'GET /legacy/orders/1/lines/2': 'legacy GET /legacy',
  'GET /legacy/files/a/b/c': 'legacy GET /legacy/files/*',
  'GET /notes/by/7': 'notes GET /notes/by/{id}',
  'POST /notes/count': 'notes POST /notes/count',
}

/** Those of `web`, as the called service sees them: it has no prefix. */
const between: Readonly<Record<string, string>> = {
  'GET /call/items/7': 'items GET /:id',
  'GET /call/items/none/such': 'items GET ',
  'GET /call/users/users/8/orders/9?x=/': 'users GET /users/:user/orders/:order',
  'GET /call/legacy/orders/1': 'legacy GET /orders/:id',
  'GET /call/notes/by/9': 'notes GET /by/{id}',
}

for (const [where, run] of Object.entries(placements))
  for (const accelerators of [acceleratorNames, []])
    test(`HTTP calls count by path templates, ${where}, ${withOr(accelerators)}`, { timeout: 120_000 }, async () => {
      await using app = await TestApp.startLoaded(await placed(run, { accelerators }))
      for (const template of ['/users/me', '/users/:user', '/users/:user/orders/:order'])
        await untilFound(app, 'users', template)
      const before = seen(app)
      const requests = [...Object.keys(fromOutside), ...Object.keys(between)]
      for (const request of requests) await call(app, request)
      const expected = [
        ...Object.values(fromOutside).map((edge) => ` > ${edge}`),
        ...Object.values(between).flatMap((edge) => [`web > ${edge}`, ' > web GET /']),
      ]
      await pollUntil(
        () => sumOf(seen(app)) - sumOf(before) === expected.length,
        () => [...seen(app)],
      )
      const counted = [...seen(app)].flatMap(([edge, calls]) =>
        Array<string>(calls - (before.get(edge) ?? 0)).fill(edge),
      )
      assert.deepEqual(counted.sort(), expected.sort())
    })

test('a route is in the metrics, and stays when its worker is replaced', { timeout: 120_000 }, async () => {
  await using app = await TestApp.startLoaded(await placed('thread'))
  await call(app, 'GET /items/1')
  const worker = app.running.status().instances.find(({ service }) => service === 'items')!.worker
  await fetch(new URL('/items/exit', app.url))
  await app.untilReplaced(worker)
  await call(app, 'GET /items/2')
  const counted = (): string[] =>
    (parseMetrics(formatMetrics(app.running.status())).get('http_server_request_duration_seconds')?.samples ?? [])
      .filter(({ name }) => name.endsWith('_count'))
      .map(({ labels, value }) => `${labels['service']} ${labels['http_route']}: ${value}`)
  await pollUntil(() => counted().includes('items /items/:id: 2'), counted)
})

for (const run of ['shared', 'process'] as const)
  test(`a client cannot add templates by a parameter under which Express mounts a router (${run})`, async () => {
    await using app = await TestApp.startLoaded(await placed(run))
    // The second one tells that the segment is a parameter.
    for (const group of ['one', 'two', ':x(.+.+.+y)', '%3Ax', 'urn:isbn:12', 'a*', '{b}'])
      await call(app, `GET /users/in/${group}/members`)
    // Express ignores the case.
    for (const path of ['/users/IN/two/members', '/users/In/one/members']) await call(app, `GET ${path}`)
    const members = (): string[] => [...seen(app).keys()].filter((edge) => edge.endsWith('/members'))
    while (members().length === 0) await call(app, `GET /users/in/${'a'.repeat(400)}/members`)
    assert.deepEqual(members(), [' > users GET /users/in/:id/members'])
  })

test(
  'text at which Express mounts a router is no template any more when it differs',
  { timeout: 120_000 },
  async () => {
    await using app = await TestApp.startLoaded(await placed('thread'))
    const count = (route: string): number => seen(app).get(` > users GET ${route}`) ?? 0
    while (count('/users/in/one/members') === 0) await call(app, 'GET /users/in/one/members')
    while (count('/users/in/:id/members') === 0) await call(app, 'GET /users/in/two/members')
    const [one, all] = [count('/users/in/one/members'), count('/users/in/:id/members')]
    for (let sent = 0; sent < 3; sent++) await call(app, 'GET /users/in/one/members')
    await pollUntil(
      () => count('/users/in/:id/members') === all + 3,
      () => [...seen(app)],
    )
    assert.equal(count('/users/in/one/members'), one)
  },
)

test('a template of another route does not hide where Express mounts a router', { timeout: 120_000 }, async () => {
  await using app = await TestApp.startLoaded(await placed('thread'))
  await untilFound(app, 'users', '/users/:user')
  await untilFound(app, 'users', '/users/@all')
})

test('a router that is made for each request adds no templates', { timeout: 120_000 }, async () => {
  await using app = await TestApp.startLoaded(await placed('thread'))
  for (const name of ['one', 'one', 'two', 'two', 'one']) await call(app, `GET /users/made/${name}/now`)
  const routes = (): string[] => [...seen(app).keys()].filter((edge) => edge.includes('users'))
  await pollUntil(() => seen(app).get(' > users GET /users') === 5, routes)
  assert.deepEqual(routes(), [' > users GET /users'])
})

test('a parameter with the text of a segment beside it is not mistaken', { timeout: 120_000 }, async () => {
  await using app = await TestApp.startLoaded(await placed('thread'))
  for (let sent = 0; sent < 3; sent++) await call(app, 'GET /users/orders/orders/1')
  await untilFound(app, 'users', '/users/:user/orders/:order')
  await call(app, 'GET /users/orders/orders/1')
  const routes = (): string[] => [...seen(app).keys()].sort()
  await pollUntil(() => seen(app).has(' > users GET /users/:user/orders/:order'), routes)
  assert.deepEqual(routes(), [' > users GET /users', ' > users GET /users/:user/orders/:order'])
})

test('a route of Express for all methods has one template', { timeout: 120_000 }, async () => {
  await using app = await TestApp.startLoaded(await placed('thread'))
  const count = (method: string): number => seen(app).get(` > users ${method} /users/any/:one`) ?? 0
  for (const method of ['GET', 'HEAD', 'POST', 'PUT'])
    while (count(method) === 0) {
      await call(app, `${method} /users/any/1`)
      await setTimeout(20)
    }
  await call(app, 'DELETE /users/any/1')
  await pollUntil(
    () => count('DELETE') === 1,
    () => [...seen(app)],
  )
})

test('a command has the path templates of the config', { timeout: 120_000 }, async () => {
  using files = new TestFolder({
    'busbar.config.json': {
      gateway: { port: 0, routes: { '/tool': 'tool' } },
      services: {
        tool: { command: 'node index.js', path: './tool', pathTemplates: ['/jobs/:job', 'POST /jobs/{job}'] },
      },
    },
    'tool/index.js': `require('node:http').createServer((_, response) => response.end('done')).listen(process.env.PORT)`,
  })
  await using app = await TestApp.startLoaded(behindEntrance(await loadApp(files.path, { env: {} })))
  for (const request of ['GET /tool/jobs/1', 'GET /tool/jobs/2', 'POST /tool/jobs/1', 'GET /tool/other'])
    await call(app, request)
  const expected = [' > tool GET /tool 1', ' > tool GET /tool/jobs/:job 2', ' > tool POST /tool/jobs/{job} 1']
  const counted = (): string[] => [...seen(app)].map(([edge, calls]) => `${edge} ${calls}`).sort()
  await pollUntil(() => counted().join() === expected.join(), counted)
})

/** Express names a route with the first request to it. Other workers learn of it a moment later. */
async function untilFound(app: TestApp, service: string, template: string): Promise<void> {
  while (!seen(app).has(` > ${service} GET ${template}`)) {
    await call(app, `GET ${template.replaceAll(/:\w+/g, '1')}`)
    await setTimeout(20)
  }
}

async function call(app: TestApp, request: string): Promise<void> {
  const [method, path] = request.split(' ') as [string, string]
  await (await fetch(new URL(path, app.url), { method })).text()
}

/** Calls by edge. */
function seen(app: TestApp): ReadonlyMap<string, number> {
  const all = app.running.status().edges.map(({ caller, callee, method, route, calls }) => {
    return [`${caller} > ${callee} ${method} ${route}`, calls] as const
  })
  return new Map([...Map.groupBy(all, ([edge]) => edge)].map(([edge, same]) => [edge, sumOf(same)]))
}

function sumOf(counts: Iterable<readonly [string, number]>): number {
  return [...counts].reduce((sum, [, calls]) => sum + calls, 0)
}

function withOr(accelerators: readonly string[]): string {
  return `${accelerators.length === 0 ? 'without' : 'with'} accelerators`
}

async function placed(run: Service['run'], changes: Partial<App> = {}): Promise<App> {
  const app = await loadApp(folder, { env: {} })
  return { ...behindEntrance(app), ...changes, services: app.services.map((service) => ({ ...service, run })) }
}
