import { readFile, stat } from 'node:fs/promises'
import { dirname, extname, relative, resolve } from 'node:path'
import type { Service } from '../app.ts'
import { readPackageFile } from '../file/package-file.ts'
import { firstFile } from '../file/places.ts'

/** A service as the hazards are looked for in: what it is made of, as far as that was read. */
export interface Program {
  readonly service: Service
  readonly sources: readonly Source[]
  /** Relative imports that Node itself will not find, as `from` writes them. */
  readonly unresolvable: readonly { readonly from: Source; readonly specifier: string }[]
  /** Names of the direct dependencies of its package. */
  readonly dependencies: readonly string[]
}

export interface Source {
  readonly file: string
  /** Relative to the service's folder. */
  readonly name: string
  /** Without comments; every line is still where it was. */
  readonly text: string
  /** Without the contents of strings too. */
  readonly code: string
}

/** A program larger than this is looked at in part. */
const mostFiles = 500
const largestFile = 512 * 1024

/** Reads the files that the entry leads to by relative imports: what runs, without tests and tools. */
export async function readProgram(service: Service): Promise<Program> {
  const sources: Source[] = []
  const unresolvable: { from: Source; specifier: string }[] = []
  const waiting = [service.entry.file]
  const seen = new Set(waiting)
  for (let file = waiting.shift(); file !== undefined && sources.length < mostFiles; file = waiting.shift()) {
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

/** With one of these flags the program brings what compiles it, or loads other kinds of files. */
const ownLoader = /^(?:-r|--require|--import|--loader|--experimental-loader|--experimental-transform-types)(?:=|$)/

export function bringsLoader({ entry }: Service): boolean {
  return entry.nodeOptions.some((option) => ownLoader.test(option))
}

/** Undefined for what is no source, or too large. */
export async function readSource(file: string, folder: string): Promise<Source | undefined> {
  if (!/^\.[cm]?[jt]sx?$/.test(extname(file))) return undefined
  try {
    if ((await stat(file)).size > largestFile) return undefined
    const text = withoutComments(await readFile(file, 'utf8'), (string) => string)
    return { file, name: relative(folder, file), text, code: withoutComments(text, blankString) }
  } catch {
    return undefined
  }
}

/** Strings are matched so that `//` and `/*` inside them are no comments. */
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

/** What is imported for its types only is never loaded. */
export function relativeImports({ text }: Source): string[] {
  const pattern =
    /(\b(?:import|export)\s+type\b[^;'"`]*?)?(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"`])(\.{1,2}\/[^'"`$]*)\2/g
  return Array.from(text.matchAll(pattern)).flatMap(([, type, , specifier]) => (type === undefined ? [specifier!] : []))
}

/** As a compiler would find it, which is more than Node finds. */
export function resolveImport(from: string, specifier: string): Promise<string | undefined> {
  const path = resolve(dirname(from), specifier)
  const typed = path.replace(/\.([cm]?)js$/, '.$1ts')
  const extensions = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs']
  return firstFile([
    path,
    typed,
    ...extensions.map((extension) => path + extension),
    ...extensions.map((extension) => `${path}/index${extension}`),
  ])
}

/** `import` takes the file's full name; `require` also finds `.js` and `index.js`, and only there nothing is said. */
function isFoundByNode({ file, text }: Source, specifier: string, target: string): boolean {
  if (target === resolve(dirname(file), specifier)) return true
  return !/\.[cm]?tsx?$/.test(target) && !/^\s*(?:import|export)\b[^;]*?\bfrom\b/m.test(text)
}

async function dependenciesOf({ path }: Service): Promise<readonly string[]> {
  try {
    return (await readPackageFile(path))?.dependencies ?? []
  } catch {
    return []
  }
}
