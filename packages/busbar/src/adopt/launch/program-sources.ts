import { readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { firstExistingFile } from '../../config/file/file-lookup.ts'

export interface ProgramSource {
  /** Absolute path. */
  readonly file: string
  /** Undefined: it is not readable, it is a bundle, or there are too many files. */
  readonly text: string | undefined
}

/** The modules of a program that are read, and the bytes of each. A larger one is a bundle. */
const maxFiles = 100
export const maxBytes = 512 * 1024

/** The module that starts a program, and those that it imports by relative paths. */
export async function* programSources(entry: string): AsyncGenerator<ProgramSource> {
  const pending = [entry]
  const seen = new Set<string>()
  while (pending.length > 0) {
    const file = pending.shift()!
    if (seen.has(file)) continue
    if (seen.size === maxFiles) return yield { file, text: undefined }
    seen.add(file)
    const text = await readSource(file)
    yield { file, text }
    if (text !== undefined) pending.push(...(await importsOf(withoutComments(text), file)))
  }
}

export function withoutComments(text: string): string {
  return text.replaceAll(/^\s*\/\/.*$/gm, '').replaceAll(/\/\*[\s\S]*?\*\//g, '')
}

async function readSource(file: string): Promise<string | undefined> {
  try {
    return (await stat(file)).size > maxBytes ? undefined : await readFile(file, 'utf8')
  } catch {
    return undefined
  }
}

const relativeImport = /(?:from|require\(|import\(|import)\s*['"](\.{1,2}\/[^'"]+)['"]/g
const extensions = ['', '.js', '.mjs', '.cjs', '.ts', '.mts', '/index.js', '/index.mjs', '/index.ts'] as const

async function importsOf(text: string, file: string): Promise<string[]> {
  const found: string[] = []
  for (const [, specifier] of text.matchAll(relativeImport)) {
    const path = resolve(dirname(file), specifier!)
    // TypeScript may name the file that it emits.
    const sources = path.endsWith('.js') ? [path.replace(/\.js$/, '.ts')] : []
    const module = await firstExistingFile([...extensions.map((extension) => path + extension), ...sources])
    if (module !== undefined && !module.endsWith('.json')) found.push(module)
  }
  return found
}
