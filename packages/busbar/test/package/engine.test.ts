/** The packed load engine, installed beside the packed lab, where there is no cargo. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { packedIn } from '../support/app/packages.ts'
import { TestFolder } from '../support/app/test-folder.ts'

const built = existsSync(new URL('../../../../target/release/busbar-load', import.meta.url))
const options = { skip: built ? false : 'the load engine is not built' }
const enginePackage = `@busbar/load-${process.platform}-${process.arch}`

async function install(folder: TestFolder, name: string, tarball: string): Promise<Record<string, unknown>> {
  const target = folder.at(`node_modules/${name}`)
  await mkdir(target, { recursive: true })
  execFileSync('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'])
  return JSON.parse(await readFile(`${target}/package.json`, 'utf8')) as Record<string, unknown>
}

describe('the packed load engine', options, () => {
  it('is a program that the lab finds, and that npm installs with it', async () => {
    using folder = new TestFolder({})
    const lab = await install(folder, 'busbar-lab', await packedIn(folder.path, 'lab'))
    const engine = await install(folder, enginePackage, await packedIn(folder.path, 'engine'))
    assert.deepEqual(lab['optionalDependencies'], { [enginePackage]: engine['version'] })
    const module = pathToFileURL(folder.at('node_modules/busbar-lab/dist/engine/load.js')).href
    const code = `import(${JSON.stringify(module)}).then(({ findEngine }) => console.log(JSON.stringify(findEngine())))`
    const env = { ...process.env, BUSBAR_LOAD: undefined, NODE_OPTIONS: '' }
    const found = JSON.parse(execFileSync(process.execPath, ['-e', code], { env, encoding: 'utf8' })) as {
      readonly kind: string
      readonly command: readonly [string]
    }
    assert.equal(found.kind, 'busbar-load')
    assert.ok(found.command[0].endsWith(`node_modules/${enginePackage}/busbar-load`), found.command[0])
    accessSync(found.command[0], constants.X_OK)
  })
})
