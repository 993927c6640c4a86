import { readFile, stat } from 'node:fs/promises'
import { dirname, extname, relative, resolve } from 'node:path'
import type { Service } from '../app.ts'
import { readPackageJson } from '../file/package-json.ts'
import { firstExistingFile } from '../file/file-lookup.ts'

/** A service with its source files. Large programs are read in part. */
export interface Program {
  readonly service: Service
  readonly sources: readonly Source[]
  /** Relative imports that a compiler finds and Node does not. */
  readonly unresolvable: readonly { readonly from: Source; readonly specifier: string }[]
  /** Names of direct dependencies. */
  readonly dependencies: readonly string[]
}

export interface Source {
  readonly file: string
  /** Relative to the service's folder. */
  readonly name: string
  /** Without comments. Line numbers are unchanged. */
  readonly text: string
  /** Also without the contents of strings. */
  readonly code: string
}

/** Limits of what is read. */
const maxFiles = 500
const maxFileSize = 512 * 1024

/**
 * Reads the files that are reachable from the entry by relative imports, so without tests and
 * tools.
 */
export async function readProgram(service: Service): Promise<Program> {
  const sources: Source[] = []
  const unresolvable: { from: Source; specifier: string }[] = []
  const waiting = [service.entry.file]
  const seen = new Set(waiting)
  for (let file = waiting.shift(); file !== undefined && sources.length < maxFiles; file = waiting.shift()) {
    const source = await readSource(file, service.path)
    if (source === undefined) continue
    sources.push(source)
    for (const specifier of relativeImports(source)) {
      const target = await resolveImport(file, specifier)
      if (target === undefined) continue
      if (!isFoundByNode(source, specifier, target)) unresolvable.push({ from: source, specifier })
      if (!seen.has(target)) waiting.push(target)
      seen.add(target)
    }
  }
  return { service, sources, unresolvable, dependencies: await dependenciesOf(service) }
}

/** Flags with which a program can compile its sources, or load other kinds of files. */
const ownLoader = /^(?:-r|--require|--import|--loader|--experimental-loader|--experimental-transform-types)(?:=|$)/

export function bringsLoader({ entry }: Service): boolean {
  return entry.nodeOptions.some((option) => ownLoader.test(option))
}

/** Undefined for a file that is not source code, unreadable, or too large. */
export async function readSource(file: string, folder: string): Promise<Source | undefined> {
  if (!/^\.[cm]?[jt]sx?$/.test(extname(file))) return undefined
  try {
    if ((await stat(file)).size > maxFileSize) return undefined
    const text = withoutComments(await readFile(file, 'utf8'), (string) => string)
    return { file, name: relative(folder, file), text, code: withoutComments(text, blankString) }
  } catch {
    return undefined
  }
}

/** Strings are matched too, since `//` and `/*` inside them do not begin comments. */
function withoutComments(text: string, onString: (string: string) => string): string {
  const pattern = /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g
  return text.replaceAll(pattern, (found, string?: string) =>
    string === undefined ? onlyLines(found) : onString(string),
  )
}

function blankString(string: string): string {
  return `${string[0]}${onlyLines(string)}${string[0]}`
}

function onlyLines(text: string): string {
  return text.replaceAll(/[^\n]+/g, '')
}

/** Specifiers of relative imports. Type imports are left out, since Node never loads them. */
export function relativeImports({ text }: Source): string[] {
  const pattern =
    /(\b(?:import|export)\s+type\b[^;'"`]*?)?(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"`])(\.{1,2}\/[^'"`$]*)\2/g
  return Array.from(text.matchAll(pattern)).flatMap(([, type, , specifier]) => (type === undefined ? [specifier!] : []))
}

/** Resolves an import like a compiler, which finds more than Node does. */
export function resolveImport(from: string, specifier: string): Promise<string | undefined> {
  const path = resolve(dirname(from), specifier)
  const typed = path.replace(/\.([cm]?)js$/, '.$1ts')
  const extensions = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs']
  return firstExistingFile([
    path,
    typed,
    ...extensions.map((extension) => path + extension),
    ...extensions.map((extension) => `${path}/index${extension}`),
  ])
}

/** `import` needs the full file name. `require` also finds `.js` and `index.js`. */
function isFoundByNode({ file, text }: Source, specifier: string, target: string): boolean {
  if (target === resolve(dirname(file), specifier)) return true
  return !/\.[cm]?tsx?$/.test(target) && !/^\s*(?:import|export)\b[^;]*?\bfrom\b/m.test(text)
}

async function dependenciesOf({ path }: Service): Promise<readonly string[]> {
  try {
    return (await readPackageJson(path))?.dependencies ?? []
  } catch {
    return []
  }
}

/** The position of an index in the text or the code, as `src/server.ts:12`. */
export function placeOf(source: Source, part: 'text' | 'code', at: number): string {
  return `${source.name}:${source[part].slice(0, at).split('\n').length}`
}
