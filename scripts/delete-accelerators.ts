/**
 * Proves that nothing depends on an accelerator: the semantics suites pass in a copy of the
 * repository without the accelerator's folder. `node scripts/delete-accelerators.ts` tests all of
 * them in sequence, `--only=exchange` one. Further arguments replace the suites.
 */
import { spawnSync } from 'node:child_process'
import { cp, glob, mkdir, mkdtemp, readdir, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { semanticsSuites } from './tasks/steps.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const accelerators = 'packages/busbar/src/accelerators'
/** Installed packages are linked, and build output is not needed. */
const excluded = new Set(['.git', 'node_modules', 'dist', 'target'])

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
  await cp(root, copy, { recursive: true, verbatimSymlinks: true, filter: (path) => !excluded.has(basename(path)) })
  for await (const installed of glob(['node_modules', '{packages,examples,scripts}/*/node_modules'], { cwd: root })) {
    await mkdir(join(copy, installed))
    for (const entry of await readdir(join(root, installed), { withFileTypes: true })) {
      const path = join(installed, entry.name)
      // Links to packages of this repository are relative, so they lead to those of the copy.
      if (entry.isSymbolicLink()) await cp(join(root, path), join(copy, path), { verbatimSymlinks: true })
      else await symlink(join(root, path), join(copy, path))
    }
  }
}
