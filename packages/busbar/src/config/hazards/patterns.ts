import type { App, Service } from '../app.ts'
import type { Hazard } from './hazard.ts'
import { bringsLoader, type Program, type Source } from './program.ts'

/** What shows in the text of a program. */
export function findSourceHazards(program: Program, app: App): Hazard[] {
  return [
    ...relativePath(program, app),
    ...relativeLog(program, app),
    ...cluster(program),
    ...httpPatched(program, app),
    ...notStrippable(program),
  ]
}

const nativeStores = 'better-sqlite3|sqlite3|sqlite|libsql|duckdb|lmdb|classic-level|leveldown|level|rocksdb'
const usesNative = new RegExp(`['"](?:${nativeStores})['"]`)
const storeFile =
  /(?:\bnew\s+[\w.]+|\b\w*[Dd]atabase|\bopen|\blevel)\s*\(\s*(?:\{\s*(?:filename|path)\s*:\s*)?(['"`])(?![/\\:]|[A-Za-z]:|file:|\$\{)[^'"`\n]*(?:[/\\]|\.\w+)[^'"`\n]*\1/

/** Native code opens them. A process has its own folder, and so has an app of one service. */
function relativePath({ service, sources }: Program, { services }: App): Hazard[] {
  if (services.length < 2 || service.run === 'process') return []
  const native = sources.filter(({ text }) => usesNative.test(text))
  return hazard('RELATIVE_PATH', service.name, find(native, 'text', storeFile), {
    message:
      'gives native code a relative path, which starts where Busbar was started, not in the folder of the service',
    hint: "Make it absolute: path.resolve('…') does, or new URL('…', import.meta.url).",
  })
}

const logLibraries =
  'pino|pino-roll|winston|winston-daily-rotate-file|log4js|bunyan|rotating-file-stream|file-stream-rotator'
const usesLog = new RegExp(`['"](?:${logLibraries})['"]`)
const logFile =
  /(?:\b(?:filename|dirname|destination|dest)\s*:\s*|\b(?:path|file)\s*:\s*(?=['"`][^'"`\n]*\.log['"`])|\bdestination\s*\(\s*)(['"`])(?![/\\]|[A-Za-z]:|file:|\$\{)[^'"`\n]+\1/

/** Every instance of the service opens the file, and none reads what another has written. */
function relativeLog({ service, sources }: Program, { services }: App): Hazard[] {
  if (services.length < 2 || service.run === 'process') return []
  const logging = sources.filter(({ text }) => usesLog.test(text))
  return hazard('RELATIVE_LOG', service.name, find(logging, 'text', logFile), {
    message:
      'names a log file by a relative path: it lies in the folder of the service, and all of its instances write to it',
    hint: "Make it absolute: path.resolve('…'). Or log to stdout: Busbar names the service on each line.",
  })
}

const patchesHttp =
  /\b(?:IncomingMessage|ServerResponse|OutgoingMessage)\.prototype\.[\w$]+\s*=(?!=)|\b(?:assign|definePropert(?:y|ies))\s*\(\s*(?:[\w$]+\.)?(?:IncomingMessage|ServerResponse|OutgoingMessage)\.prototype\b/

/** Node's classes are one for all programs of a thread. */
function httpPatched({ service, sources, dependencies }: Program, { services }: App): Hazard[] {
  const others = services.filter((other) => other !== service && sharesThread(service, other)).map(({ name }) => name)
  if (others.length === 0) return []
  const restify = dependencies.includes('restify')
    ? ['restify, which it depends on']
    : find(sources, 'text', /(?:\bfrom\s*|\brequire\s*\(\s*)['"]restify['"]/).map((place) => `restify in ${place}`)
  return hazard('HTTP_PATCHED', service.name, [...restify, ...find(sources, 'code', patchesHttp)], {
    message: `changes the prototypes of node:http, also for ${others.join(', ')} in the same thread`,
    hint: `Let services.${service.name}.run be 'thread' or 'process'.`,
  })
}

function sharesThread(one: Service, other: Service): boolean {
  if (one.run !== other.run || one.run === 'process') return false
  return one.run === 'shared' || (one.group !== undefined && one.group === other.group)
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
  // Not a type such as `readonly string[]`.
  [
    'a parameter property',
    /\bconstructor\s*\((?:[^)]*[,)])?\s*(?:@[\w.]+(?:\([^)]*\))?\s*)*(?:public|private|protected|readonly)\s+(?:override\s+)?(?:readonly\s+)?[\w$]+\s*[?:,)=]/,
  ],
  ['a decorator', /(?:^[ \t]*|\(\s*)@[A-Za-z_$]/m],
  ['an import assignment', /^[ \t]*(?:export\s+)?import\s+\w+\s*=\s*[\w.]+/m],
]

function notStrippable({ service, sources, unresolvable }: Program): Hazard[] {
  if (bringsLoader(service)) return []
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

export function hazard(
  code: Hazard['code'],
  service: string,
  places: readonly string[],
  { message, hint }: Parts,
): Hazard[] {
  if (places.length === 0) return []
  const shown = places.slice(0, 3).join('; ') + (places.length > 3 ? ` and ${places.length - 3} more` : '')
  return [{ code, services: [service], message: `${service} ${message} (${shown})`, hint }]
}

/** The first place of each file, as `src/server.ts:12`. */
function find(sources: readonly Source[], part: 'text' | 'code', pattern: RegExp): string[] {
  return sources.flatMap((source) => {
    const found = pattern.exec(source[part])
    if (found === null) return []
    return [placeOf(source, part, found.index + found[0].search(/\S/))]
  })
}

/** `src/server.ts:12`, of an index in one of its parts. */
export function placeOf(source: Source, part: 'text' | 'code', at: number): string {
  return `${source.name}:${source[part].slice(0, at).split('\n').length}`
}
