import type { App, Service } from '../app.ts'
import { type Hazard, hazardAt } from './hazard.ts'
import { bringsLoader, placeOf, type Program, type Source } from './program.ts'

/** Hazards that show in the source text of a program. */
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

/**
 * Native code resolves relative paths against the working directory of the process. That is the
 * service's folder only for a process of its own, and in an app with one service.
 */
function relativePath({ service, sources }: Program, { services }: App): Hazard[] {
  if (services.length < 2 || service.run === 'process') return []
  const native = sources.filter(({ text }) => usesNative.test(text))
  return hazardAt('RELATIVE_PATH', service.name, find(native, 'text', storeFile), {
    message:
      'gives native code a relative path, which is relative to the folder where Busbar was started, not to the folder of the service',
    hint: "Make it absolute: path.resolve('…') does, or new URL('…', import.meta.url).",
  })
}

const logLibraries =
  'pino|pino-roll|winston|winston-daily-rotate-file|log4js|bunyan|rotating-file-stream|file-stream-rotator'
const usesLog = new RegExp(`['"](?:${logLibraries})['"]`)
const logFile =
  /(?:\b(?:filename|dirname|destination|dest)\s*:\s*|\b(?:path|file)\s*:\s*(?=['"`][^'"`\n]*\.log['"`])|\bdestination\s*\(\s*)(['"`])(?![/\\]|[A-Za-z]:|file:|\$\{)[^'"`\n]+\1/

function relativeLog({ service, sources }: Program, { services }: App): Hazard[] {
  if (services.length < 2 || service.run === 'process') return []
  const logging = sources.filter(({ text }) => usesLog.test(text))
  return hazardAt('RELATIVE_LOG', service.name, find(logging, 'text', logFile), {
    message: 'has a relative path for a log file: it is in the folder of the service, and all instances write to it',
    hint: "Make it absolute: path.resolve('…'). Or log to stdout: Busbar adds the name of the service to each line.",
  })
}

const patchesHttp =
  /\b(?:IncomingMessage|ServerResponse|OutgoingMessage)\.prototype\.[\w$]+\s*=(?!=)|\b(?:assign|definePropert(?:y|ies))\s*\(\s*(?:[\w$]+\.)?(?:IncomingMessage|ServerResponse|OutgoingMessage)\.prototype\b/

/** All programs of a thread share Node's classes. */
function httpPatched({ service, sources, dependencies }: Program, { services }: App): Hazard[] {
  const others = services.filter((other) => other !== service && sharesThread(service, other)).map(({ name }) => name)
  if (others.length === 0) return []
  const restify = dependencies.includes('restify')
    ? ['its dependency restify']
    : find(sources, 'text', /(?:\bfrom\s*|\brequire\s*\(\s*)['"]restify['"]/).map((place) => `restify in ${place}`)
  return hazardAt('HTTP_PATCHED', service.name, [...restify, ...find(sources, 'code', patchesHttp)], {
    message: `changes the prototypes of node:http, which it shares with ${others.join(', ')} in the same thread`,
    hint: `Set services.${service.name}.run to 'thread' or 'process'.`,
  })
}

function sharesThread(one: Service, other: Service): boolean {
  if (one.run !== other.run || one.run === 'process') return false
  return one.run === 'shared' || (one.group !== undefined && one.group === other.group)
}

function cluster({ service, sources }: Program): Hazard[] {
  const places = find(sources, 'text', /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)['"](?:node:)?cluster['"]/)
  return hazardAt('CLUSTER', service.name, places, {
    message: 'uses node:cluster, whose fork() would start the Busbar process again',
    hint: 'Remove cluster, and set `workers`.',
  })
}

/** Syntax that type stripping does not support: Node's documentation, "TypeScript features". */
const syntaxes: readonly [name: string, pattern: RegExp][] = [
  ['an enum', /^[ \t]*(?:export\s+)?(?:const\s+)?enum\s+\w+\s*\{/m],
  ['a namespace', /^[ \t]*(?:export\s+)?namespace\s+[\w.]+\s*\{/m],
  // The pattern excludes types such as `readonly string[]`.
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
    .map(({ from, specifier }) => `the import of ${specifier} in ${from.name}`)
  const all = [...found, ...jsx, ...imports]
  return hazardAt('NOT_STRIPPABLE', service.name, all, {
    message: 'has TypeScript that Node cannot run by stripping its types',
    hint: 'Build it, and set `entry` to the JavaScript.',
  })
}

/** The first match in each file. */
function find(sources: readonly Source[], part: 'text' | 'code', pattern: RegExp): string[] {
  return sources.flatMap((source) => {
    const found = pattern.exec(source[part])
    if (found === null) return []
    return [placeOf(source, part, found.index + found[0].search(/\S/))]
  })
}
