/**
 * Proves that nothing needs an accelerator: in a copy of the repository without one accelerator's folder the tests of the semantics
 * pass. For each, one after the other: `node scripts/delete-accelerators.ts`; `--only=exchange` for one of them, and the test files
 * or folders to run in place of those.
 */
import { spawnSync } from 'node:child_process'
import { cp, glob, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { semanticsSuites } from './tasks/steps.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const accelerators = 'packages/busbar/src/accelerators'
/** What is installed is linked, and what is built is not needed. */
const leftOut = new Set(['.git', 'node_modules', 'dist', 'target'])

const args = process.argv.slice(2)
const only = args.find((arg) => arg.startsWith('--only='))?.slice('--only='.length)
const tests = args.filter((arg) => !arg.startsWith('--'))

for (const name of only === undefined ? await readdir(join(root, accelerators)) : [only])
  if (!(await passesWithout(name))) process.exitCode = 1

async function passesWithout(name: string): Promise<boolean> {
  const copy = await mkdtemp(join(tmpdir(), 'busbar-without-'))
  try {
    await copyTo(copy)
    await rm(join(copy, accelerators, name), { recursive: true })
    const runner = ['scripts/run-tests.ts', '--test-reporter=./scripts/failures-reporter.ts']
    const suites = tests.length > 0 ? tests : semanticsSuites
    const { status } = spawnSync(process.execPath, [...runner, ...suites], { cwd: copy, stdio: 'inherit' })
    console.error(`${status === 0 ? '✔' : '✖'} without the accelerator ${name}`)
    return status === 0
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function copyTo(copy: string): Promise<void> {
  await cp(root, copy, { recursive: true, verbatimSymlinks: true, filter: (path) => !leftOut.has(basename(path)) })
  for await (const installed of glob(['node_modules', '{packages,examples,scripts}/*/node_modules'], { cwd: root })) {
    await mkdir(join(copy, installed))
    for (const entry of await readdir(join(root, installed), { withFileTypes: true })) {
      const path = join(installed, entry.name)
      // The packages of this repository are those of the copy.
      if (entry.isSymbolicLink()) await cp(join(root, path), join(copy, path), { verbatimSymlinks: true })
      else await symlink(join(root, path), join(copy, path))
    }
  }
}
