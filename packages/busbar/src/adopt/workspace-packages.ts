/** Where the packages of a repository are. */
import { glob, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pathKind } from '../config/file/file-lookup.ts'
import { isPlainObject } from '../config/schema/placeholders.ts'
import { readYaml } from './yaml-file.ts'

/** Packages that are looked at. */
const maxPackages = 1000

/** The patterns of a monorepo of npm, yarn or pnpm. Undefined if the folder is none. */
export async function workspacePatterns(root: string): Promise<readonly string[] | undefined> {
  const pnpm = join(root, 'pnpm-workspace.yaml')
  const content = (await pathKind(pnpm)) === 'file' ? await readYaml(pnpm) : await packageFile(root)
  if (!isPlainObject(content)) return undefined
  const { packages, workspaces } = content
  const own = isPlainObject(workspaces) ? workspaces['packages'] : workspaces
  const list: unknown = packages ?? own
  return Array.isArray(list) ? list.map(String) : undefined
}

/** Absolute paths of the folders with a `package.json` that match. */
export async function packageFolders(root: string, patterns: readonly string[]): Promise<string[]> {
  const found = new Set<string>()
  const exclude = (path: string): boolean => basename(path) === 'node_modules'
  const without = new Set<string>()
  for (const pattern of patterns) {
    const isExcluded = pattern.startsWith('!')
    const files = `${pattern.replace(/^!/, '').replace(/\/$/, '')}/package.json`
    for await (const file of glob(files, { cwd: root, exclude })) {
      if (found.size >= maxPackages) break
      ;(isExcluded ? without : found).add(join(root, file, '..'))
    }
  }
  return [...found].filter((folder) => !without.has(folder)).toSorted()
}

async function packageFile(root: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  } catch {
    return undefined
  }
}
