import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  composeDuration,
  composeSize,
  composeText,
  publishedPorts,
} from '../../src/adopt/sources/compose/compose-text.ts'
import { composeRules } from '../../src/adopt/sources/compose/compose-rules.ts'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { folderWithBusbar } from '../support/app/test-folder.ts'
import { freePorts } from '../support/http/free-ports.ts'
import { ImportedApp, server, textAt } from './imported-app.ts'

test('busbar import of a Compose file: what is built here runs, with ports, needs, health and addresses', async () => {
  const [web, api] = (await freePorts(2)) as [number, number]
  using app = await ImportedApp.from({
    'compose.yaml': `
name: shop
x-common: &common
  restart: unless-stopped
  stop_grace_period: 1m5s
services:
  web:
    <<: *common
    build: ./web
    ports: ["127.0.0.1:${web}:3000"]
    depends_on: [api, db]
    environment:
      API: http://api:3000
      GREETING: \${GREETING:-hello}
  api:
    <<: *common
    build: { context: ., dockerfile: api/Dockerfile, target: server }
    ports: [{ target: 3000, published: "${api}" }]
    environment: [ "MODE=fast", "PRICE=$$5" ]
    healthcheck: { test: ["CMD", "curl", "-f", "http://localhost:3000/health"], interval: 10s, retries: 2 }
    deploy: { replicas: 2, resources: { limits: { memory: 256M } } }
  dev:
    image: node:24-slim
    working_dir: /usr/src/app
    volumes: ["./dev:/usr/src/app"]
    command: npm start
  db:
    image: postgres:17
  debug:
    build: ./web
    profiles: [debug]
volumes: { data: {} }
`,
    'web/Dockerfile':
      'FROM node:24\nWORKDIR /app\nCOPY . .\nENV STAGE=last\nEXPOSE 3000\nCMD ["node", "/app/server.js"]\n',
    'web/server.js': `
      require('node:http').createServer(async (request, response) => {
        const answer = await fetch(process.env.API)
        response.end([process.env.GREETING, process.env.STAGE, await answer.text()].join(' '))
      }).listen(3000)`,
    'api/Dockerfile':
      'FROM node:24 AS server\nWORKDIR /srv\nCMD node \\\n  api/index.js\nFROM scratch AS other\nCMD ["/none"]\n',
    'api/index.js': server('process.env.MODE + process.env.PRICE'),
    'dev/package.json': { scripts: { start: 'node main.js' } },
    'dev/main.js': server("'dev'"),
  })
  assert.deepEqual(Object.keys(app.report.config.services), ['web', 'api', 'dev'])
  assert.deepEqual(
    app.report.leftOut.map(({ name }) => name),
    ['db', 'debug'],
  )
  assert.deepEqual(app.service('web').needs, ['api'])
  assert.deepEqual(app.service('api').health, { path: '/health', interval: 10_000, unhealthyAfter: 2 })
  assert.deepEqual([app.service('api').instances, app.service('api').memory], [2, 256 * 1024 ** 2])
  assert.equal(app.service('web').stopTimeout, 65_000)
  assert.match(app.reason('volumes')!, /files of this machine/)
  await using started = app.start()
  assert.equal(await started.url(), `http://127.0.0.1:${web}`)
  assert.equal(await textAt(await started.url()), 'hello last fast$5')
  assert.equal(await textAt(`http://127.0.0.1:${api}`), 'fast$5')
})

test('an optional file of variables that is not there is left out, and a check of the host requests /', async () => {
  using app = await ImportedApp.from({
    'compose.yaml': `
services:
  web:
    build: ./web
    env_file: [{ path: ./none.env, required: false }, web.env]
    healthcheck: { test: ["CMD", "curl", "-f", "http://localhost"] }
  api: { build: ./web, env_file: [{ path: ./none.env, required: false }] }
`,
    'web/package.json': { scripts: { start: 'node server.js' } },
    'web/server.js': server('process.env.MODE'),
    'web.env': 'MODE=fast',
  })
  assert.equal(app.service('web').envFile, 'web.env')
  assert.deepEqual(app.service('web').health, { path: '/' })
  assert.equal(app.service('api').envFile, undefined)
  assert.match(app.reason('services.api.env_file')!, /optional/)
  await using started = app.start()
  assert.equal(await textAt(await started.url()), 'fast')
})

test('packages of a monorepo that containers start by name run in their own folders', async () => {
  using app = await ImportedApp.from({
    'compose.yaml': `
services:
  web: { build: { context: ., dockerfile: packages/web/Dockerfile } }
  api: { build: ., command: pnpm --filter @shop/api start }
  jobs: { build: ., command: "cd packages/jobs && node jobs.js" }
`,
    'package.json': { workspaces: ['packages/*'] },
    'packages/web/Dockerfile':
      'FROM node:24\nENTRYPOINT ["/sbin/tini", "--"]\nCMD ["npm", "start", "--workspace=web"]\n',
    'packages/web/package.json': { name: 'web', scripts: { start: 'node web.js' } },
    'packages/web/web.js': server("'web'"),
    'packages/api/package.json': { name: '@shop/api', scripts: { start: 'node api.js --fast' } },
    'packages/api/api.js': server("'api'"),
    'packages/jobs/jobs.js': server("'jobs'"),
  })
  assert.deepEqual(app.report.config.services, {
    web: { run: 'process', path: './packages/web', entry: './web.js' },
    api: { run: 'process', path: './packages/api', entry: './api.js', args: ['--fast'] },
    jobs: { run: 'process', path: './packages/jobs', entry: './jobs.js' },
  })
})

test('variables of a Dockerfile have the values of its arguments, and a stage what its base starts', async () => {
  using app = await ImportedApp.from({
    'compose.yaml': 'services:\n  web: { build: { context: ., args: [MODE=fast] } }\n',
    Dockerfile: `
ARG VERSION=24
FROM node:\${VERSION} AS base
ARG PORT=80
ARG MODE=slow
ENV PORT=$PORT MODE="\${MODE}" REGION=\${REGION:-eu} PRICE=\\$5
CMD ["node", "web.js"]
FROM base AS tools
RUN true
`,
    'web.js': server("'web'"),
  })
  assert.deepEqual(app.service('web').env, { PORT: '80', MODE: 'fast', REGION: 'eu', PRICE: '$5' })
  assert.equal(app.service('web').entry, './web.js')
})

test('npm start without a start script is node server.js, as for npm', async () => {
  using app = await ImportedApp.from({
    'compose.yaml': 'services:\n  web: { build: . }\n',
    'package.json': { main: 'lib.js' },
    'lib.js': 'module.exports = { add: 1 }',
    'server.js': server("'web'"),
  })
  assert.equal(app.service('web').entry, './server.js')
})

test('variables that name containers are noted, with what to write instead', async () => {
  using app = await ImportedApp.from({
    'compose.yaml': `
services:
  web:
    build: ./web
    environment:
      POSTGRES_HOST: postgres
      POSTGRES_USER: postgres
      DATABASE_URL: postgres://user:secret@postgres:5432/shop
      CATALOG_HOST: catalog
      CATALOG_URL: http://catalog:3000
      MODE: fast
  catalog: { build: ./catalog, environment: { MODE: fast } }
  postgres: { image: "postgres:17" }
`,
    'web/package.json': { scripts: { start: 'node web.js' } },
    'web/web.js': server("'web'"),
    'catalog/package.json': { scripts: { start: 'node catalog.js' } },
    'catalog/catalog.js': server("'catalog'"),
  })
  const notes = app.report.mapped.map(({ from, note }) => [from, note])
  assert.deepEqual(
    notes.filter(([from]) => from!.endsWith('environment')),
    [
      [
        'services.web.environment',
        'CATALOG_URL: services are http://<name>.internal; ' +
          'POSTGRES_HOST, DATABASE_URL: no host of this machine is called postgres, write localhost and its published port; ' +
          'CATALOG_HOST: no host of this machine is called catalog, write catalog.internal',
      ],
      ['services.catalog.environment', undefined],
    ],
  )
})

test('values of Compose keep their meaning', () => {
  assert.equal(composeText('$A ${B} ${C:-d} ${E-f} ${G:?h} $$I ${'), '${A:-} ${B:-} ${C:-d} ${E:-f} ${G} $I $${')
  assert.equal(composeDuration('1m30s'), 90_000)
  assert.equal(composeDuration('250ms'), 250)
  assert.equal(composeSize('64k'), 64 * 1024)
  assert.equal(composeSize('1.5gb'), 1.5 * 1024 ** 3)
})

test('every key of a service of the compose-spec is mapped, or has a reason', () => {
  const text = readFileSync(new URL('schemas/compose-spec.json', import.meta.url), 'utf8')
  const { definitions } = JSON.parse(text) as { definitions: { service: { properties: object } } }
  const keys = Object.keys(definitions.service.properties)
  assert.ok(keys.length > 80)
  assert.deepEqual(
    keys.filter((key) => !Object.hasOwn(composeRules, key)),
    [],
  )
})

test('a command of Compose follows the ENTRYPOINT of the Dockerfile, and an entrypoint replaces it', async () => {
  using app = await ImportedApp.from({
    'compose.yaml': `
services:
  web: { build: ., command: ["web.js", "--fast"] }
  api: { build: ., entrypoint: node api.js }
  jobs: { build: . }
`,
    Dockerfile: 'FROM node:24\nENTRYPOINT ["node"]\nCMD ["jobs.js"]\n',
    'web.js': server("'web'"),
    'api.js': server("'api'"),
    'jobs.js': server("'jobs'"),
  })
  assert.deepEqual([app.service('web').entry, app.service('web').args], ['./web.js', ['--fast']])
  assert.deepEqual([app.service('api').entry, app.service('jobs').entry], ['./api.js', './jobs.js'])
})

test('all ports of a range are published', () => {
  const ports = (...list: readonly unknown[]): number[] => publishedPorts(list).map(({ port }) => port)
  assert.deepEqual(
    ports('3000-3002:80-82', { published: '6-7', target: 5 }, '[::1]:9000:9000'),
    [3000, 3001, 3002, 6, 7, 9000],
  )
  assert.deepEqual(ports('3002-3000:80-82', '70000:80', '8080:80/udp', '80'), [])
})

test('an alias that nothing defines is a fault of the file', async () => {
  using folder = folderWithBusbar({ 'compose.yaml': 'services: { web: *nothing }\n' })
  const { code, stderr } = await BusbarProcess.run(['import', '.'], { cwd: folder.path })
  assert.equal(code, 3)
  assert.match(stderr, /compose\.yaml is not valid YAML: Unresolved alias.*CONFIG_UNREADABLE/)
})
