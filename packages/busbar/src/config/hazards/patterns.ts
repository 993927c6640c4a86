import type { App } from '../app.ts'
import type { Hazard } from '../hazards.ts'
import type { Program, Source } from './program.ts'

/** What shows in the text of a program. */
export function findSourceHazards(program: Program, app: App): Hazard[] {
  return [...chdir(program), ...relativePath(program, app), ...cluster(program), ...notStrippable(program)]
}

/** A process has a folder of its own. */
function chdir({ service, sources }: Program): Hazard[] {
  if (service.run === 'process') return []
  const places = find(sources, 'code', /(?<![.\w])(?:process\s*\.\s*)?chdir\s*\(/)
  return hazard('CHDIR', service.name, places, {
    message: 'calls process.chdir(), which throws in a worker',
    hint: 'Make paths absolute instead; the working directory is the folder of the service where Node allows it.',
  })
}

const fileCalls = [
  '(?:readFile|writeFile|appendFile|readdir|mkdir|opendir|copyFile)(?:Sync)?',
  'create(?:Read|Write)Stream',
  '(?:exists|stat|open|access|unlink|rm)Sync',
  'new\\s+DatabaseSync',
].join('|')
const relativeFile = new RegExp(
  `\\b(?:${fileCalls})\\s*\\(\\s*(['"\`])(?![/\\\\:]|[A-Za-z]:|file:|\\$\\{)[^'"\`\\n]+\\1`,
)

/** A process has its own folder, and so has an app of one service; threads of a process cannot differ in it. */
function relativePath({ service, sources }: Program, { services }: App): Hazard[] {
  if (services.length < 2 || service.run === 'process') return []
  return hazard('RELATIVE_PATH', service.name, find(sources, 'text', relativeFile), {
    message: 'opens a file by a relative path, which starts where Busbar was started, not in the folder of the service',
    hint: "Make it absolute: path.resolve('…') does, or new URL('…', import.meta.url).",
  })
}

function cluster({ service, sources }: Program): Hazard[] {
  const places = find(sources, 'text', /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)['"](?:node:)?cluster['"]/)
  return hazard('CLUSTER', service.name, places, {
    message: 'uses node:cluster, whose fork() would start this process again',
    hint: 'Let it listen in one process, and set `workers`.',
  })
}

/** What type stripping leaves behind, or refuses. Node: "TypeScript features" in its documentation of TypeScript. */
const syntaxes: readonly [name: string, pattern: RegExp][] = [
  ['an enum', /^[ \t]*(?:export\s+)?(?:const\s+)?enum\s+\w+\s*\{/m],
  ['a namespace', /^[ \t]*(?:export\s+)?namespace\s+[\w.]+\s*\{/m],
  ['a parameter property', /\bconstructor\s*\([^)]*\b(?:public|private|protected|readonly)\s+[\w{[]/],
  ['a decorator', /(?:^[ \t]*|\(\s*)@[A-Za-z_$]/m],
  ['an import assignment', /^[ \t]*(?:export\s+)?import\s+\w+\s*=\s*[\w.]+/m],
]

/** With one of these the program brings what compiles it. */
const ownLoader = /^(?:-r|--require|--import|--loader|--experimental-loader|--experimental-transform-types)(?:=|$)/

function notStrippable({ service, sources, unresolvable }: Program): Hazard[] {
  if (service.entry.nodeOptions.some((option) => ownLoader.test(option))) return []
  const typed = sources.filter(({ file }) => /\.[cm]?tsx?$/.test(file))
  const found = syntaxes.flatMap(([name, pattern]) =>
    find(typed, 'code', pattern).map((place) => `${name} in ${place}`),
  )
  const jsx = sources.filter(({ file }) => file.endsWith('x')).map(({ name }) => `JSX in ${name}`)
  const imports = unresolvable
    .filter(({ from }) => typed.includes(from))
    .map(({ from, specifier }) => `the import of ${specifier}, as it is written, in ${from.name}`)
  const all = [...found, ...jsx, ...imports]
  return hazard('NOT_STRIPPABLE', service.name, all, {
    message: 'has TypeScript that Node cannot run by stripping its types',
    hint: 'Build it and let `entry` name the JavaScript.',
  })
}

type Parts = Pick<Hazard, 'message' | 'hint'>

function hazard(code: Hazard['code'], service: string, places: readonly string[], { message, hint }: Parts): Hazard[] {
  if (places.length === 0) return []
  const shown = places.slice(0, 3).join('; ') + (places.length > 3 ? ` and ${places.length - 3} more` : '')
  return [{ code, services: [service], message: `${service} ${message} (${shown})`, hint }]
}

/** The first place of each file, as `src/server.ts:12`. */
function find(sources: readonly Source[], part: 'text' | 'code', pattern: RegExp): string[] {
  return sources.flatMap((source) => {
    const found = pattern.exec(source[part])
    if (found === null) return []
    const at = found.index + found[0].search(/\S/)
    return [`${source.name}:${source[part].slice(0, at).split('\n').length}`]
  })
}
