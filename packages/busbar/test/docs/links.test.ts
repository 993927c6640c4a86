import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { documents, root, withoutCode } from '../support/documents.ts'

for (const file of await documents())
  test(`every link of ${file} is valid`, async () => {
    const text = withoutCode(await readFile(join(root, file), 'utf8'))
    const targets = [...text.matchAll(/\]\((?<target>[^)\s]+)\)/g)].map(({ groups }) => groups!['target']!)
    const broken: string[] = []
    for (const target of targets.filter((target) => !/^https?:/.test(target)))
      if (!(await leadsSomewhere(target, file))) broken.push(target)
    assert.deepEqual(broken, [])
  })

test('the index of the docs has every page', async () => {
  const index = await readFile(join(root, 'docs/README.md'), 'utf8')
  const pages = (await documents()).filter((file) => /^docs\/(guides|reference|decisions)\//.test(file))
  assert.deepEqual(
    pages.filter((file) => !index.includes(`(${file.slice('docs/'.length)})`)),
    [],
  )
})

test('every file in CONTRIBUTING exists', async () => {
  const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  const names = [...text.matchAll(/`(?<name>[\w./-]+\.(?:ts|cjs|rs))`/g)].map(({ groups }) => groups!['name']!)
  assert.ok(names.length > 20)
  const missing = names.filter((name) => name !== 'index.ts' && name !== '.ts' && named(name) === undefined)
  assert.deepEqual(missing, [])
})

test('every function that CONTRIBUTING names after a file is in that file', async () => {
  const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  const pairs = [...text.matchAll(/`(?<file>[\w./-]+\.(?:ts|rs))`\s+\(`(?<name>#?\w+)`\)/g)]
  assert.ok(pairs.length > 10)
  for (const { groups } of pairs) {
    const { file, name } = groups!
    const source = await readFile(named(file!)!, 'utf8')
    assert.match(source, new RegExp(`(?<![\\w#.])${name}(?:<.+>)?\\(`), `${file} has no function ${name}`)
  }
})

/** The file that a path in CONTRIBUTING means. */
function named(path: string): string | undefined {
  const folders = ['', 'packages/busbar/src', 'packages/dashboard/src', 'crates/entrance/src']
  return folders.map((folder) => join(root, folder, path)).find((file) => existsSync(file))
}

test('CONTRIBUTING lists exactly the layers', async () => {
  const text = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')
  const block = /^packages\/busbar\/src\/\n(?<layers>(?: {2}.+\n)+)/m.exec(text)!.groups!['layers']!
  const named = [...block.matchAll(/^ {2}(?<layer>\w+)\//gm)].map(({ groups }) => groups!['layer']!)
  const rules = await readFile(join(root, 'scripts/checks/check-imports.ts'), 'utf8')
  const layers = [...rules.matchAll(/^ {2}(?<layer>\w+): \[/gm)].map(({ groups }) => groups!['layer']!)
  assert.deepEqual(new Set(named), new Set(layers))
})

async function leadsSomewhere(target: string, from: string): Promise<boolean> {
  const [path, anchor] = target.split('#')
  const file = path === '' ? join(root, from) : join(root, dirname(from), path!)
  if (!existsSync(file)) return false
  return anchor === undefined || anchorsOf(await readFile(file, 'utf8')).has(anchor)
}

/** GitHub's anchors: lower case, without punctuation, spaces as hyphens. */
function anchorsOf(text: string): Set<string> {
  const titles = [...withoutCode(text).matchAll(/^#+ (?<title>.+)$/gm)].map(({ groups }) => groups!['title']!)
  return new Set(
    titles.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}
