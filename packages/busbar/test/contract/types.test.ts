import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { TestFolder } from '../support/app/test-folder.ts'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const methods = 200

/** A contract of many methods, implemented, with a call of each. `bare`: only its schemas. */
function sourceOf(bare: boolean): string {
  const all = Array.from({ length: methods }, (_, at) => at)
  const schemas = all.map((at) => `export const I${at} = z.object({ id: z.int(), name: z.string() })`)
  const declared = all.map((at) => `m${at}: fn({ input: I${at}, output: I${at}, errors: { LOST: I${at} } }),`)
  const functions = all.map((at) => `m${at}: (input, { fail }) => (input.id > 1 ? input : fail('LOST', input)),`)
  const calls = all.map(
    (at) => `export const c${at} = async (): Promise<string> => (await c.m${at}({ id: 1, name: '' })).name`,
  )
  return [
    `import * as z from 'zod'`,
    ...schemas,
    ...(bare
      ? []
      : [
          `import { fn, service } from 'busbar/contract'`,
          `import { client } from 'busbar/client'`,
          `const big = service('big', {`,
          ...declared,
          `})`,
          `export const implementation = big.implement({`,
          ...functions,
          `})`,
          `const c = client(big)`,
          ...calls,
        ]),
  ].join('\n')
}

async function instantiations(bare: boolean): Promise<number> {
  const compilerOptions = {
    noEmit: true,
    composite: false,
    customConditions: ['busbar-source'],
    typeRoots: [`${root}node_modules/@types`],
  }
  using folder = new TestFolder({
    'big.ts': sourceOf(bare),
    'package.json': { type: 'module' },
    'tsconfig.json': { extends: `${root}tsconfig.base.json`, compilerOptions, files: ['big.ts'] },
  })
  symlinkSync(`${root}node_modules`, folder.at('node_modules'))
  const args = [`${root}node_modules/typescript/bin/tsc`, '-p', folder.path, '--extendedDiagnostics']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return Number(/Instantiations:\s+(\d+)/.exec(stdout)![1])
}

// Instantiations instead of time, which depends on the machine: 1,000 were about 2 ms.
it('a contract of 200 methods, implemented and called, is cheap to check', async () => {
  const added = (await instantiations(false)) - (await instantiations(true))
  assert.ok(added > methods, `${added} instantiations: nothing was checked`)
  assert.ok(added < methods * 1_000, `${added} instantiations for ${methods} methods`)
})
