/** In which folder a command line starts its program. */
import { resolve } from 'node:path'
import { readPackageJson } from '../../config/file/package-json.ts'
import { splitWords } from '../../config/services/start-script.ts'
import { packageFolders, workspacePatterns } from '../workspace-packages.ts'
import { quoted } from './launch.ts'

export interface PlacedLine {
  /** Absolute. */
  readonly folder: string
  /** What runs there. */
  readonly rest: string
}

/** Flags with a value: a folder, or a package of the monorepo. */
const managers: Readonly<Record<string, Readonly<Record<'folder' | 'package', readonly string[]>>>> = {
  npm: { folder: ['--prefix', '-C'], package: ['--workspace', '-w'] },
  pnpm: { folder: ['--dir', '-C'], package: ['--filter', '-F'] },
  yarn: { folder: ['--cwd'], package: ['workspace'] },
}

/** `cd web && npm start`, `npm --prefix web start` and `npm start -w web` run in `web`. */
export async function workingFolder(line: string, root: string): Promise<PlacedLine> {
  const [, moved, command] = /^cd\s+([^\s'"&;|]+)\s*&&\s*(\S.*)$/s.exec(line) ?? []
  if (moved !== undefined) return { folder: resolve(root, moved), rest: command! }
  const words = splitWords(line) ?? []
  const flags = managers[words[0] ?? '']
  if (flags === undefined) return { folder: root, rest: line }
  const [prefix, inPrefix] = withoutFlag(words, flags.folder)
  if (prefix !== undefined) return { folder: resolve(root, prefix), rest: lineOf(inPrefix) }
  const [name, inPackage] = withoutFlag(words, flags.package)
  const folder = name === undefined ? undefined : await packageFolder(name, root)
  return folder === undefined ? { folder: root, rest: line } : { folder, rest: lineOf(inPackage) }
}

/** The flag's value, and the other words. What follows `--` is for the script. */
function withoutFlag(words: readonly string[], names: readonly string[]): [string | undefined, readonly string[]] {
  const end = words.includes('--') ? words.indexOf('--') : words.length
  for (const [at, word] of words.slice(0, end).entries()) {
    const [flag, inline] = word.split(/=(.*)/s)
    if (!names.includes(flag!)) continue
    const length = inline === undefined ? 2 : 1
    return [inline ?? words[at + 1], words.toSpliced(at, length)]
  }
  return [undefined, words]
}

function lineOf(words: readonly string[]): string {
  return words.map(quoted).join(' ')
}

/** `name`: of a package, or of its folder. */
async function packageFolder(name: string, root: string): Promise<string | undefined> {
  const folders = await packageFolders(root, (await workspacePatterns(root)) ?? [])
  const byFolder = folders.find((folder) => folder === resolve(root, name))
  if (byFolder !== undefined) return byFolder
  for (const folder of folders) if ((await readPackageJson(folder))?.name === name) return folder
  return undefined
}
