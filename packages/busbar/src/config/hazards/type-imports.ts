import { createRequire, isBuiltin } from 'node:module'
import { type Hazard, hazardAt } from './hazard.ts'
import {
  bringsLoader,
  placeOf,
  type Program,
  readSource,
  relativeImports,
  resolveImport,
  type Source,
} from './program.ts'

/**
 * Finds imports of types without the keyword `type`. A compiler removes them. Type stripping keeps
 * them, and they fail since the module exports no such value. An import is reported only if the
 * exporting module proves it.
 */
export async function findTypeImports({ service, sources }: Program): Promise<Hazard[]> {
  if (bringsLoader(service)) return []
  const found: string[] = []
  for (const source of sources.filter(({ file }) => isTypeScript(file)))
    for (const { name, specifier, at } of importsOf(source))
      if (await isType(name, specifier, source.file))
        found.push(`${name} of ${specifier} in ${placeOf(source, 'text', at)}`)
  return hazardAt('TYPE_IMPORT', service.name, found, {
    message: 'imports types without the keyword `type`, which fails since Node only strips types',
    hint: 'Write `import type { … }`, or `type` before the name.',
  })
}

interface NamedImport {
  readonly name: string
  readonly specifier: string
  /** Index in the source's text. */
  readonly at: number
}

/** Named imports, and re-exports, which fail in the same way. */
function importsOf({ text }: Source): NamedImport[] {
  const pattern =
    /^[ \t]*(?:import\s+(?!type\s)(?:([\w$]+)\s*,?\s*)?|export\s+)(?:\{([^}]*)\}\s*)?from\s*(['"])([^'"]+)\3/gm
  return Array.from(text.matchAll(pattern)).flatMap(({ index, 1: own, 2: list = '', 4: specifier }) => {
    const at = index + text.slice(index).search(/\S/)
    const names = [...(own === undefined ? [] : ['default']), ...valuesIn(list).map(({ from }) => from)]
    return names.map((name) => ({ name, specifier: specifier!, at }))
  })
}

/** The names between the braces of an import or export, except those with `type`. */
function valuesIn(list: string): { from: string; as: string }[] {
  return list.split(',').flatMap((part) => {
    const [, type, from, as = from] = /^\s*(type\s+(?!as\b))?([\w$]+)(?:\s+as\s+([\w$]+))?\s*$/.exec(part) ?? []
    return type !== undefined || from === undefined ? [] : [{ from, as: as! }]
  })
}

async function isType(name: string, specifier: string, from: string): Promise<boolean> {
  if (/^\.{1,2}\//.test(specifier)) {
    const target = await resolveImport(from, specifier)
    return target !== undefined && isTypeScript(target) && (await kindIn(target, name, new Set())) === 'type'
  }
  if (name === 'default') return false
  const module = specifier.replace(/^node:/, '')
  if (isBuiltin(specifier)) return quietModules.has(module) && !(name in process.getBuiltinModule(module)!)
  const file = resolveFrom(from, specifier)
  const words = file === undefined ? undefined : await wordsOf(file)
  return words !== undefined && !words.has(name)
}

function isTypeScript(file: string): boolean {
  return /\.[cm]?ts$/.test(file)
}

/** Loading other modules may print a warning (experimental, deprecated). */
const quietModules: ReadonlySet<string> = new Set(
  [
    'assert async_hooks buffer child_process crypto diagnostics_channel dns dns/promises events fs fs/promises http http2',
    'https net os path perf_hooks querystring readline readline/promises stream stream/promises stream/web tls url util',
    'worker_threads zlib',
  ].flatMap((line) => line.split(' ')),
)

/** Whether a TypeScript file exports `name` as a type or a value. Undefined if that is unknown. */
async function kindIn(file: string, name: string, seen: Set<string>): Promise<'type' | 'value' | undefined> {
  if (seen.has(file)) return undefined
  seen.add(file)
  const source = await readSource(file, file)
  if (source === undefined) return 'value'
  const { code, text } = source
  if (isValueIn(code, name)) return 'value'
  if (isTypeIn(code, name)) return 'type'
  for (const [, specifier] of text.matchAll(/\bexport\s*\*\s*from\s*['"](\.{1,2}\/[^'"]+)['"]/g)) {
    const target = await resolveImport(file, specifier!)
    const kind = target === undefined ? undefined : await kindIn(target, name, seen)
    if (kind !== undefined) return kind
  }
  return undefined
}

/** True for any value of that name, exported or not. */
function isValueIn(code: string, name: string): boolean {
  if (name === 'default') return /\bexport\s+default\s+(?!interface\b)/.test(code) || exportsIn(code).includes(name)
  const declared = new RegExp(
    `(?<!declare\\s+(?:abstract\\s+)?)\\b(?:const|let|var|function\\s*\\*?|class|enum|namespace)\\s+${escaped(name)}\\b|,\\s*${escaped(name)}\\s*=(?![=>])`,
  )
  const unpacked = new RegExp(`\\b(?:const|let|var)\\s*[{[][^=]*\\b${escaped(name)}\\b`)
  return declared.test(code) || unpacked.test(code) || exportsIn(code).includes(name)
}

function exportsIn(code: string): string[] {
  return Array.from(code.matchAll(/\bexport\s*\{([^}]*)\}/g)).flatMap(([, list]) => valuesIn(list!).map(({ as }) => as))
}

function isTypeIn(code: string, name: string): boolean {
  if (name === 'default') return /\bexport\s+default\s+interface\b/.test(code)
  const declared = new RegExp(
    `\\bexport\\s+(?:(?:declare\\s+)?(?:interface|type)|declare\\s+(?:const|let|var|function|(?:abstract\\s+)?class))\\s+${escaped(name)}\\b`,
  )
  const listed = new RegExp(`\\bexport\\s+type\\s*\\{[^}]*\\b${escaped(name)}\\s*[,}]`)
  const marked = new RegExp(`\\bexport\\s*\\{[^}]*\\btype\\s+(?:[\\w$]+\\s+as\\s+)?${escaped(name)}\\s*[,}]`)
  return declared.test(code) || listed.test(code) || marked.test(code)
}

function escaped(name: string): string {
  return name.replaceAll('$', '\\$')
}

function resolveFrom(file: string, specifier: string): string | undefined {
  try {
    return createRequire(file).resolve(specifier)
  } catch {
    return undefined
  }
}

/** Larger packages are not searched. */
const maxFiles = 300

/** Re-exports everything of another package, so its names are unknown. */
const reExportsPackage =
  /(?:\bexport\s*\*\s*from\s*|\b__exportStar\(\s*require\(\s*|\bmodule\.exports\s*=\s*require\(\s*|\.\.\.\s*require\(\s*)['"](?![./])/

/**
 * All identifiers in a package's files, and all strings that could be identifiers. A name that is
 * not among them is not exported. Undefined if the package cannot be searched completely.
 */
async function wordsOf(entry: string): Promise<ReadonlySet<string> | undefined> {
  const words = new Set<string>()
  const waiting = [entry]
  const seen = new Set(waiting)
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const source = await readSource(file, file)
    if (source === undefined || seen.size > maxFiles || reExportsPackage.test(source.text)) return undefined
    for (const [word] of source.code.matchAll(/[\w$]+/g)) words.add(word)
    for (const [, , word] of source.text.matchAll(/(['"`])([\w$]+)\1/g)) words.add(word!)
    for (const specifier of relativeImports(source)) {
      const target = await resolveImport(file, specifier)
      if (target === undefined) return undefined
      if (target.endsWith('.json') || seen.has(target)) continue
      seen.add(target)
      waiting.push(target)
    }
  }
  return words
}
