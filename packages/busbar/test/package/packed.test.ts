/** Tests the tarball of the built package, installed in an app. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { BusbarProcess, type Ended } from '../support/app/busbar-process.ts'
import { installPacked } from '../support/app/packed-package.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const execute = promisify(execFile)
const repository = fileURLToPath(new URL('../../../..', import.meta.url))
// The package has no sources, so imports that need them must fail here.
const env = { NODE_OPTIONS: '' }

let folder: TestFolder

before(async () => {
  folder = new TestFolder({
    'package.json': { name: 'shop', private: true },
    'busbar.config.ts': `
      import { defineApp } from 'busbar'
      export default defineApp({
        workers: 2,
        defaults: { run: 'shared' },
        gateway: { port: 0, entry: 'web' },
        services: { web: './web', stock: './stock' },
      })`,
    'web/index.js': `
      require('node:http').createServer(async (request, response) => {
        response.end(await (await fetch('http://stock.internal/')).text())
      }).listen(3000)`,
    'stock/index.ts': `
      import { createServer, type RequestListener } from 'node:http'
      const answer: RequestListener = (_request, response) => response.end('in stock')
      createServer(answer).listen(3001)`,
  })
  await installPacked(folder.path)
})

after(() => folder[Symbol.dispose]())

test('the package has its programs, types and schema, and neither sources nor tests', async () => {
  const names = await readdir(join(folder.path, 'node_modules/busbar'), { recursive: true })
  for (const name of [
    'bin/busbar.js',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/worker/main.js',
    'dist/busbar.schema.json',
    'dist/gateway/openapi/reference.js',
    'dist/dashboard/index.html',
    'LICENSE',
  ])
    assert.ok(names.includes(name), name)
  const modules = names.filter((name) => name.startsWith('dist/') && name.endsWith('.js'))
  // Bundled (scripts/bundle.ts): the sources are five times as many.
  assert.ok(modules.length < 250, `${modules.length} modules`)
  const strangers = names.filter(
    (name) => (name.endsWith('.ts') && !name.endsWith('.d.ts')) || /^(src|test)\b|tsbuildinfo|\.map$/.test(name),
  )
  assert.deepEqual(strangers, [])
  for (const name of names.filter((name) => /\.c?js$/.test(name)))
    assert.doesNotMatch(await readFile(join(folder.path, 'node_modules/busbar', name), 'utf8'), /^\/\/# source/m, name)
})

test('busbar check prints the plan of an app', async () => {
  const { code, stdout, stderr } = await run('check')
  assert.deepEqual([code, stderr], [0, ''])
  assert.match(stdout, /web +shared, 2 workers +web\/index\.js/)
})

test('busbar start runs the app in workers, answers a nested call, and stops', async () => {
  await using busbar = new BusbarProcess(['start'], { cwd: folder.path, env, entry: bin() })
  const url = await busbar.url()
  assert.equal(await (await fetch(url)).text(), 'in stock')
  busbar.child.kill('SIGTERM')
  const { code, stderr } = await busbar.ended
  assert.deepEqual([code, stderr], [0, ''])
})

test('busbar start --open serves the dashboard with its files', async () => {
  const files = folder.at('files')
  await mkdir(files)
  // No browser opens: the address and its token are in a file for this user.
  const closed = { ...env, BROWSER: 'true', TMPDIR: files }
  await using busbar = new BusbarProcess(['start', '--open'], { cwd: folder.path, env: closed, entry: bin() })
  await busbar.url()
  const { dashboard } = await busbar.event((found) => 'dashboard' in found)
  const { origin, hash } = new URL(/http:[^"]+#[^"]+/.exec(await readFile(dashboard as string, 'utf8'))![0])
  const page = await (await fetch(origin)).text()
  const paths = [...page.matchAll(/(?:src|href)="(\.[^"]+)"/g)].map(([, path]) => path!)
  assert.ok(paths.length >= 2, page)
  for (const path of paths) assert.equal((await fetch(new URL(path, origin))).status, 200, path)
  assert.equal((await fetch(`${origin}/status`)).status, 401)
  const headers = { authorization: hash.replace('#token=', 'Bearer ') }
  assert.equal((await fetch(`${origin}/status`, { headers })).status, 200)
})

test('busbar start loads a program in a symlinked folder once', async () => {
  using linked = new TestFolder({
    'real/index.mjs': `
      import { createServer } from 'node:http'
      globalThis.loads = (globalThis.loads ?? 0) + 1
      createServer((_request, response) => response.end(String(globalThis.loads))).listen(3000)`,
  })
  symlinkSync(linked.at('real'), linked.at('link'))
  linked.write('busbar.config.json', { gateway: { port: 0 }, services: { it: './link' } })
  await using busbar = new BusbarProcess(['start', linked.path], { cwd: folder.path, env, entry: bin() })
  assert.equal(await (await fetch(await busbar.url())).text(), '1')
})

test('busbar bench reports that the lab is not installed', async () => {
  const { code, stdout, stderr } = await run('bench', 'fanout')
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /busbar bench needs the lab, which is not installed .*\n.*npm install --save-dev busbar-lab/)
})

test('its types are sufficient to check a config', async () => {
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', '']
  const tsc = fileURLToPath(new URL('../../../../node_modules/.bin/tsc', import.meta.url))
  await execute(tsc, [...options, 'busbar.config.ts'], { cwd: folder.path })
  folder.write(
    'wrong.config.ts',
    `import { defineApp } from 'busbar'\nexport default defineApp({ wokers: 2, services: {} })`,
  )
  const wrong = await execute(tsc, [...options, 'wrong.config.ts'], { cwd: folder.path }).catch(
    (error: { stdout: string }) => error,
  )
  assert.match(wrong.stdout, /wrong\.config\.ts\(2,\d+\): error TS\d+: .*'wokers'/)
})

for (const [module, moduleResolution] of [
  ['node16', 'node16'],
  ['esnext', 'bundler'],
] as const)
  test(`startApp has its types under ${moduleResolution}`, async () => {
    folder.write(
      'embeds.mts',
      `import { startApp } from 'busbar'
      import { fn, service, type } from 'busbar/contract'
      const stock = service('stock', { count: fn({ input: type<string>(), output: type<number>() }) })
      class Cart { add(item: string): number { return item.length } }
      const cart = service.from('cart', () => new Cart())
      await using app = await startApp('.', {
        port: 0,
        log: ({ line }) => console.log(line.length),
        replace: {
          web: (request, response) => response.end(request.url),
          posts: async (request, response) => void response.end(await request.toArray()),
          pages: { fetch: (request) => Response.json({ url: request.url }) },
          stock: stock.implement({ count: (item) => item.length }),
          cart,
        },
      })
      const answer: Response = await app.fetch('web', '/', { method: 'POST', body: 'x' })
      const count: number = await app.client(stock).count('lamp')
      const added: number = await app.client(cart).add('lamp')
      // @ts-expect-error: the input is text
      void app.client(stock).count(7)
      // @ts-expect-error: an unknown option
      void startApp('.', { prot: count + added })
      // @ts-expect-error: it returns nothing
      void startApp('.', { replace: { web: answer.status } })`,
    )
    const compilerOptions = {
      noEmit: true,
      strict: true,
      exactOptionalPropertyTypes: true,
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable'],
      typeRoots: [join(repository, 'node_modules/@types')],
      types: ['node'],
      module,
      moduleResolution,
    }
    folder.write('tsconfig.embeds.json', { compilerOptions, files: ['embeds.mts'] })
    await execute(join(repository, 'node_modules/.bin/tsc'), ['-p', folder.at('tsconfig.embeds.json')])
  })

test('a client has types in a page, without types of Node and disposables', async () => {
  folder.write(
    'page.ts',
    `import { client } from 'busbar/client'
    import { fn, service, type } from 'busbar/contract'
    const shop = service('shop', { price: fn({ input: type<number>(), output: type<string>() }) })
    const price: string = await client(shop, 'https://shop.example').price(1)
    // @ts-expect-error: an unknown method
    client(shop, 'https://shop.example').prices(price)`,
  )
  const compilerOptions = {
    noEmit: true,
    strict: true,
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: [],
    module: 'esnext',
    moduleResolution: 'bundler',
  }
  folder.write('tsconfig.json', { compilerOptions, files: ['page.ts'] })
  const tsc = fileURLToPath(new URL('../../../../node_modules/.bin/tsc', import.meta.url))
  await execute(tsc, ['-p', folder.path])
})

function bin(): string {
  return join(folder.path, 'node_modules/busbar/bin/busbar.js')
}

function run(...args: readonly string[]): Promise<Ended> {
  return BusbarProcess.run(args, { cwd: folder.path, env, entry: bin() })
}
