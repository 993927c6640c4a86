/**
 * Whether a program opens a server, and on which port, as far as its sources show it. Nothing is
 * run. In doubt it opens one.
 */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { maxBytes, programSources, withoutComments } from './program-sources.ts'

export interface ServerEvidence {
  readonly listens: boolean
  /** True if it does so only if somebody serves its export, as those of libraries. */
  readonly exportsOnly: boolean
  /** The port in its `.env` file or its sources. Undefined: none, or several. */
  readonly port: number | undefined
  /** Its sources mention the variable `PORT`. */
  readonly readsPort: boolean
}

const frameworks =
  /(?:from|require\(|import\()\s*['"](?:node:)?(?:https?2?|fastify|express|koa|hono|@hono\/|@nestjs\/|@hapi\/|@feathersjs\/|@fastify\/|restify|restana|polka|micro|fast-gateway|http-proxy|@loopback\/|moleculer-web|sails|h3|srvx|next|nuxt|nitro|ws|socket\.io|apollo-server|@apollo\/server|graphql-yoga|@trpc\/server|json-server|serve|http-server)/
const opensServer =
  /\blisten\s*\(|\.start\s*\(\s*(?:\d{2,5}|[\w.]*port\b)|\bcreateServer\b|\bserve\s*\(|\bcreateSecureServer\b|\bbindAsync\s*\(/i
/** The exports that `worker/sandbox/start/recognise-export.ts` serves. */
const servesExport =
  /\bexport\s+default\b|\bmodule\.exports\s*=(?!\s*\{(?![^}]*\b(?:default|server|app|handler|fetch|build|create)\b))|\bexports\.(?:default|server|app|handler|fetch|build|create)\s*=|\bexport\s+(?:const|let|function|async\s+function)\s+(?:server|app|handler|fetch|build|create)\b/

const ports = [
  /\b(?:listen|start)\s*\(\s*(?<digits>\d{2,5})\b/g,
  /\bPORT\b['"\]]*\)?\s*(?:\|\||\?\?)\s*['"]?(?<digits>\d{2,5})\b/g,
  // The same, as TypeScript emits it for older targets.
  /\bPORT\b['"\]]*\)\s*!==\s*null\s*&&\s*(\w+)\s*!==\s*void 0\s*\?\s*\1\s*:\s*['"]?(?<digits>\d{2,5})\b/g,
  /\bport\s*[=:]\s*['"]?(?<digits>\d{2,5})\b/gi,
  // `CATALOG_PORT ?? 3002`
  /\b\w+_PORT\b['"\]]*\)?\s*(?:\|\||\?\?)\s*['"]?(?<digits>\d{2,5})\b/g,
]

/** Where and how a program is started. */
export interface ServerLaunch {
  /** Its working directory. */
  readonly folder: string
  readonly nodeOptions: readonly string[]
}

/** `file`: absolute path of the module that starts the program. */
export async function findServer(file: string, launch?: ServerLaunch): Promise<ServerEvidence> {
  const { texts, ...found } = await readServer(file)
  const port = launch && (await portInEnvFiles(texts, launch))
  return { ...found, port: port ?? found.port }
}

async function readServer(file: string): Promise<ServerEvidence & { readonly texts: readonly string[] }> {
  const texts: string[] = []
  let listens = false
  let exports = false
  let readsPort = false
  let port: number | undefined
  for await (const source of programSources(file)) {
    if (source.text === undefined) return { listens: true, exportsOnly: false, port, readsPort, texts }
    const text = withoutComments(source.text)
    texts.push(text)
    const isServer = opensServer.test(text) || frameworks.test(text)
    if (isServer) port ??= portIn(text)
    listens ||= isServer
    readsPort ||= /\bPORT\b/.test(text)
    exports ||= source.file === file && servesExport.test(text)
  }
  return { listens: listens || exports, exportsOnly: exports && !listens, port, readsPort, texts }
}

const scriptListens = /PORT|listen|serve|bind|http|flask|uvicorn|gunicorn|django|sinatra|puma|\bnode\b/i

/** Whether a script of another language may open a server. */
export async function mayListen(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => undefined)
  return text === undefined || text.length > maxBytes || scriptListens.test(text.replaceAll(/^\s*#.*$/gm, ''))
}

function portIn(text: string): number | undefined {
  for (const pattern of ports) {
    const found = new Set([...text.matchAll(pattern)].map(({ groups }) => Number(groups!['digits'])))
    const [port] = found
    if (port !== undefined && port <= 65_535) return found.size === 1 ? port : undefined
  }
  return undefined
}

const flag = /^--env-file(?:-if-exists)?=(.+)$/
const loadsFile = /(?:from|require\(|import\(|import)\s*['"]dotenv(?:\/config)?['"]|\bloadEnvFile\s*\(/
const variable = /\benv(?:\.|\[['"])((?:[A-Z0-9]+_)*PORT)\b/g

/**
 * The port that a program finds in a file of variables. `texts`: its modules. Undefined if they
 * read several such variables, or no file.
 */
async function portInEnvFiles(
  texts: readonly string[],
  { folder, nodeOptions }: ServerLaunch,
): Promise<number | undefined> {
  const names = new Set(texts.flatMap((text) => [...text.matchAll(variable)].map(([, name]) => name!)))
  const [name, ...others] = names
  if (name === undefined || (others.length > 0 && !names.has('PORT'))) return undefined
  const loads = texts.some((text) => loadsFile.test(text)) || nodeOptions.some((one) => /\bdotenv\/config$/.test(one))
  // What Node has read already stays.
  const files = [...(loads ? ['.env'] : []), ...nodeOptions.flatMap((one) => flag.exec(one)?.[1] ?? [])]
  let port: number | undefined
  for (const file of files) {
    const text = await readFile(resolve(folder, file), 'utf8').catch(() => '')
    const value = Number(parseEnv(text)[others.length > 0 ? 'PORT' : name])
    if (Number.isInteger(value) && value > 0 && value <= 65_535) port = value
  }
  return port
}
