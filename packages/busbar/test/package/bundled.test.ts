import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { rolldown } from 'rolldown'
import { folderWithBusbar } from '../support/app/test-folder.ts'

const host = `
  import { startApp } from 'busbar'
  startApp('.', { port: 0 }).catch(({ code, hint }) => console.log(code, hint))`

for (const [format, file] of [
  ['es', 'bundle.mjs'],
  ['cjs', 'bundle.cjs'],
] as const)
  test(`startApp in a bundle of ${format} says that it cannot be bundled`, async () => {
    using folder = folderWithBusbar({ 'host.mjs': host, 'index.mjs': '' })
    await using building = await rolldown({
      input: folder.at('host.mjs'),
      platform: 'node',
      // One warning: `import.meta` is empty in CommonJS.
      logLevel: 'silent',
      resolve: { conditionNames: ['busbar-source'] },
    })
    await building.write({ format, file: folder.at(file), codeSplitting: false })
    const { stdout } = await promisify(execFile)(process.execPath, [folder.at(file)], { cwd: folder.path })
    assert.match(stdout, /^PLACEMENT_UNSUPPORTED Leave the package 'busbar' out of the bundle/)
  })
