/** `busbar try` from tarballs, in a repository that knows nothing of Busbar. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BusbarProcess } from '../support/app/busbar-process.ts'
import { packedIn } from '../support/app/packages.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const built = existsSync(new URL('../../../../target/release/busbar-load', import.meta.url))
const enginePackage = `@busbar/load-${process.platform}-${process.arch}`
const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url))
/** An engine that cargo has built elsewhere must not be found. */
const env = { NODE_OPTIONS: '', BUSBAR_LOAD: undefined, PORT: undefined }

interface Report {
  readonly same: boolean
  readonly generator: string
  readonly arms: readonly { readonly name: string; readonly problem: string | null }[]
}

const repository = {
  'package.json': { name: 'hello', scripts: { start: 'node server.js' } },
  'server.js': `require('node:http').createServer((_request, response) => response.end('hello')).listen(process.env.PORT ?? 3000)`,
}

describe('busbar try from tarballs', { skip: process.platform === 'win32' }, () => {
  for (const generator of ['busbar-load', 'autocannon'] as const)
    it(`finds ${generator}, and leaves the repository as it was`, async (context) => {
      if (generator === 'busbar-load' && !built) return context.skip('the load engine is not built')
      using tools = new TestFolder({})
      using folder = new TestFolder(repository)
      install(await packedIn(tools.path, 'busbar'), tools.at('node_modules/busbar'))
      install(await packedIn(tools.path, 'lab'), tools.at('node_modules/busbar-lab'))
      if (generator === 'busbar-load')
        install(await packedIn(tools.path, 'engine'), tools.at(`node_modules/${enginePackage}`))
      const before = contentOf(folder.path)
      const entry = tools.at('node_modules/busbar/bin/busbar.js')
      const args = ['try', '--budget', '0', '--json']
      const { code, stdout, stderr } = await BusbarProcess.run(args, { cwd: folder.path, env, entry })
      assert.equal(code, 0, stderr)
      const report = JSON.parse(stdout) as Report
      assert.deepEqual([report.same, report.generator], [true, generator])
      const problems = report.arms.map(({ name, problem }) => [name, problem])
      assert.deepEqual(problems, [
        ['today', null],
        ['process', null],
        ['thread', null],
        ['shared', null],
      ])
      assert.deepEqual(contentOf(folder.path), before)
    })
})

/** As npm does, but the dependencies are links to those of this repository. */
function install(tarball: string, target: string): void {
  mkdirSync(target, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'])
  const manifest = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as {
    readonly dependencies?: Readonly<Record<string, string>>
  }
  for (const name of Object.keys(manifest.dependencies ?? {})) {
    const link = join(target, '..', name)
    mkdirSync(dirname(link), { recursive: true })
    if (!existsSync(link)) symlinkSync(join(modules, name), link)
  }
}

/** Every file with its content and the time of its last change. */
function contentOf(path: string): unknown[] {
  const names = readdirSync(path, { recursive: true }).map(String).toSorted()
  return names.map((name) => {
    const file = join(path, name)
    const found = statSync(file)
    return [name, found.mtimeMs, found.isFile() ? readFileSync(file, 'utf8') : 'folder']
  })
}
