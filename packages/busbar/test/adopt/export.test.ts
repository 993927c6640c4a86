import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Ajv } from 'ajv'
import { validate } from 'dockerfile-utils'
import { parse, parseAllDocuments } from 'yaml'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { type Files, TestFolder } from '../support/app/test-folder.ts'
import { server } from './imported-app.ts'

const files: Files = {
  'package.json': { name: '@acme/My_Shop', version: '1.2.3' },
  'package-lock.json': {},
  'busbar.config.json': {
    gateway: { port: 3043, host: '0.0.0.0', entry: 'web', probes: true },
    stopTimeout: '20s',
    stopDelay: '3s',
    environments: { live: { services: { web: { env: { MODE: 'live' } } } } },
    services: {
      web: { path: './web' },
      'a-service-with-a-long-name': { path: './api', expose: { host: '0.0.0.0', port: 4001 } },
      admin: { path: './admin', expose: 4002, build: 'node -e 0' },
    },
  },
  'web/index.js': server("'web'"),
  'api/index.js': server("'api'"),
  'admin/index.js': server("'admin'"),
}

async function exported(folder: TestFolder, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await BusbarProcess.run(['export', ...args], { cwd: folder.path })
  assert.equal(code, 0, stderr)
  return stdout
}

describe('busbar export', () => {
  test('dockerfile: a strict parser finds no fault; it starts the app with its environment', async () => {
    using folder = new TestFolder(files)
    const text = await exported(folder, 'dockerfile', '--env', 'live')
    assert.deepEqual(validate(text), [])
    assert.match(text, /^RUN npm ci$/m)
    assert.match(text, /^RUN node node_modules\/busbar\/bin\/busbar\.js build$/m)
    assert.match(text, /^USER node$/m)
    assert.match(text, /^EXPOSE 3043 4001 4002$/m)
    assert.match(text, /^HEALTHCHECK CMD \["node","-e",".*127\.0\.0\.1:3043\/readyz/m)
    assert.match(text, /^# 4002 \(admin\) listens on the loopback address/m)
    const command = JSON.parse(/^CMD (.*)$/m.exec(text)![1]!) as string[]
    assert.deepEqual(command.slice(2), ['start', '--host', '0.0.0.0', '--port', '3043', '--env', 'live'])
    // The same command serves here, at the port of its own.
    await using started = new BusbarProcess([...command.slice(2, -4), '--port', '0', '--env', 'live'], {
      cwd: folder.path,
    })
    assert.match(await started.url(), /^http:\/\/0\.0\.0\.0:\d+$/)
  })

  test('dockerfile: the lock file above the app decides the context and the package manager', async () => {
    using folder = new TestFolder({ 'pnpm-lock.yaml': '', 'apps/shop/index.js': server("'shop'") })
    const text = await exported(folder, 'dockerfile', 'apps/shop')
    assert.deepEqual(validate(text), [])
    assert.match(text, /^RUN corepack enable && pnpm install --frozen-lockfile$/m)
    assert.match(text, /^WORKDIR \/app\/apps\/shop$/m)
    assert.match(text, /^CMD \["node","\.\.\/\.\.\/node_modules\/busbar\/bin\/busbar\.js"/m)
    const service = (parse(await exported(folder, 'compose', 'apps/shop')) as { services: { shop: { build: object } } })
      .services.shop
    assert.deepEqual(service.build, { context: '../..', dockerfile: 'apps/shop/Dockerfile' })
  })

  test('compose: valid by the schema of the compose-spec', async () => {
    using folder = new TestFolder(files)
    const content: unknown = parse(await exported(folder, 'compose'))
    const schema = JSON.parse(readFileSync(new URL('schemas/compose-spec.json', import.meta.url), 'utf8')) as {
      $schema?: string
    }
    const { $schema: _, ...rest } = schema
    const isValid = new Ajv({ strict: false, validateFormats: false }).compile(rest)
    assert.ok(isValid(content), JSON.stringify(isValid.errors))
    const shop = (content as { services: Record<string, Record<string, unknown>> }).services['my-shop']!
    assert.deepEqual(shop['ports'], ['3043:3043', '4001:4001'])
    assert.equal(shop['stop_grace_period'], '30s')
    assert.equal(isValid({ services: { web: { imagee: 'x' } } }), false)
  })

  test('kubernetes: a Deployment and a Service with only known fields', async () => {
    using folder = new TestFolder(files)
    const documents = parseAllDocuments(await exported(folder, 'kubernetes')).map(
      (document) => document.toJS() as object,
    )
    assert.deepEqual(checkTypes(documents), '')
    assert.match(checkTypes([{ ...documents[0], speck: 1 }, documents[1]!]), /"speck"' does not exist/)
    const [, service] = documents as [object, { spec: { ports: object[] } }]
    assert.deepEqual(service.spec.ports, [
      { name: 'http', port: 3043, targetPort: 'http' },
      { name: 'a-service-wi', port: 4001, targetPort: 'a-service-wi' },
    ])
  })

  test('variables and secrets of services are needed where they start, and only there', async () => {
    const env = { KEY: '${A_KEY_OF_PRODUCTION}', PASSWORD: '${file:/run/secrets/none}', LEVEL: '${LEVEL:-info}' }
    using folder = new TestFolder({
      'busbar.config.json': { services: { web: { path: './web', env, build: 'node -e 0' } } },
      'web/index.js': server("'web'"),
    })
    assert.match(await exported(folder, 'kubernetes'), /kind: Deployment/)
    const built = await BusbarProcess.run(['build'], { cwd: folder.path })
    assert.equal(built.code, 0, built.stderr)
    const started = await BusbarProcess.run(['start'], { cwd: folder.path })
    assert.equal(started.code, 3)
    assert.match(started.stderr, /needs the environment variable A_KEY_OF_PRODUCTION/)
    assert.match(started.stderr, /needs the file \/run\/secrets\/none/)
  })

  test('systemd: the unit that startup installs', async () => {
    using folder = new TestFolder(files)
    const { stdout } = await BusbarProcess.run(['startup', 'systemd', '.', '--user', '--print'], { cwd: folder.path })
    assert.equal(await exported(folder, 'systemd', '--user'), stdout)
  })

  test('--write writes the files and replaces none', async () => {
    using folder = new TestFolder(files)
    const { written, files: list } = JSON.parse(await exported(folder, 'dockerfile', '--write', '--json')) as {
      written: boolean
      files: { file: string; text: string }[]
    }
    assert.deepEqual(
      [written, list.map(({ file }) => file)],
      [true, [folder.at('Dockerfile'), folder.at('.dockerignore')]],
    )
    assert.equal(folder.read('Dockerfile'), list[0]!.text)
    const { code, stderr } = await BusbarProcess.run(['export', 'dockerfile', '--write'], { cwd: folder.path })
    assert.equal(code, 2)
    assert.match(stderr, /Dockerfile exists already/)
    assert.equal((await BusbarProcess.run(['export', 'nomad'], { cwd: folder.path })).code, 2)
  })
})

/** What the compiler says of the documents as literals of the types of Kubernetes. */
function checkTypes([deployment, service]: readonly object[]): string {
  const require = createRequire(import.meta.url)
  using folder = new TestFolder({
    'documents.ts': `
      import type { Deployment } from 'kubernetes-types/apps/v1.js'
      import type { Service } from 'kubernetes-types/core/v1.js'
      export const deployment: Deployment = ${JSON.stringify(deployment)}
      export const service: Service = ${JSON.stringify(service)}`,
    'node_modules/.keep': '',
  })
  symlinkSync(dirname(require.resolve('kubernetes-types/package.json')), folder.at('node_modules/kubernetes-types'))
  const tsc = fileURLToPath(new URL('../../../../node_modules/.bin/tsc', import.meta.url))
  const options = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--types',
    '',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
  ]
  try {
    execFileSync(tsc, [...options, join(folder.path, 'documents.ts')], { encoding: 'utf8', cwd: folder.path })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}
