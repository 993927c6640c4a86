/** Checks the published manifests, entry points and types with tools for packages. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { packages, publishedPackages } from '../../../../scripts/pack.ts'
import { packedIn } from '../support/app/packages.ts'
import { TestFolder } from '../support/app/test-folder.ts'

/**
 * Both packages have only ES modules, which CommonJS can require in all supported versions of Node.
 */
const meant = new Set(['CJSResolvesToESM'])

for (const name of packages)
  test(`${name}: entry points resolve, with types under node16 and bundler, and no sources are named`, async () => {
    using folder = new TestFolder({})
    const tarball = await readFile(await packedIn(folder.path, name))
    const exact = new Uint8Array(tarball)
    const { messages, pkg } = await publint({ pack: { tarball: exact.buffer }, strict: true })
    assert.deepEqual(
      messages.filter(({ type }) => type !== 'suggestion'),
      [],
    )
    assert.doesNotMatch(JSON.stringify(pkg), /busbar-source|devDependencies|"private"/)
    const found = await checkPackage(createPackageFromTarballData(exact))
    assert.ok(found.types !== false)
    const problems = found.problems.filter(
      (problem) => !meant.has(problem.kind) && !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
    )
    assert.deepEqual(problems, [])
  })

test('the packages in the repository are private', async () => {
  for (const name of publishedPackages) {
    const manifest = await readFile(new URL(`../../../${name}/package.json`, import.meta.url), 'utf8')
    assert.equal((JSON.parse(manifest) as { private?: boolean }).private, true)
  }
})

test('the tarball of the lab has the programs of its arms', async () => {
  using folder = new TestFolder({})
  const files = await packedIn(folder.path, 'lab')
  const listed = execFileSync('tar', ['-tzf', files], { encoding: 'utf8' })
  for (const file of [
    'package/dist/index.js',
    'package/dist/arms/fanout/leaf.js',
    'package/schema.json',
    'package/LICENSE',
  ])
    assert.ok(listed.includes(`${file}\n`), file)
})
