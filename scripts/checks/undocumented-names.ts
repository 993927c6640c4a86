/**
 * Prints the undocumented names of this Node as JSON: properties that begin with `_` of the
 * modules, prototypes and live objects of HTTP and sockets, descriptions of their internal symbols,
 * and fields of the parser. `check-undocumented.ts` refuses the union over all supported release
 * lines.
 */
import http from 'node:http'
import https from 'node:https'
import module from 'node:module'
import net from 'node:net'
import { once } from 'node:events'
import stream from 'node:stream'
import tls from 'node:tls'

export interface UndocumentedNames {
  /** Properties that begin with `_`. */
  readonly properties: readonly string[]
  /** Descriptions of symbols on Node's objects that are neither registered nor well-known. */
  readonly symbols: readonly string[]
  /** Fields of the HTTP parser. */
  readonly parser: readonly string[]
}

const wellKnown = new Set(Reflect.ownKeys(Symbol).map((key) => Reflect.get(Symbol, key) as unknown))

if (import.meta.main) process.stdout.write(JSON.stringify(await collect()))

async function collect(): Promise<UndocumentedNames> {
  const { objects, parser } = await liveObjects()
  const modules = [http, https, module, net, stream, tls]
  const owners = [...modules, process, ...modules.flatMap((each) => Object.values(each)), ...objects].flatMap(chainOf)
  const keys = owners.flatMap((owner) => Reflect.ownKeys(owner))
  return {
    properties: unique(keys.filter((key) => typeof key === 'string').filter((key) => /^_\w/.test(key))),
    symbols: unique(keys.filter((key) => typeof key === 'symbol').flatMap(internalName)),
    parser: unique(
      chainOf(parser).flatMap((owner) => [...Object.keys(owner), ...Object.keys(owner.constructor)]),
    ).filter((name) => /^k[A-Z]|^on[A-Z]/.test(name)),
  }
}

/** A server, the sockets of both sides, a request and a response, while they are in use. */
async function liveObjects(): Promise<{ objects: object[]; parser: object }> {
  const server = http.createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as net.AddressInfo
  const agent = new http.Agent({ keepAlive: true })
  const sent = http.request({ port, host: '127.0.0.1', agent })
  sent.end()
  const [request, response] = (await once(server, 'request')) as [http.IncomingMessage, http.ServerResponse]
  response.write('a')
  const [answer] = (await once(sent, 'response')) as [http.IncomingMessage]
  const socket = request.socket as net.Socket & { parser: object; _handle: object }
  const { parser } = socket
  const objects = [
    server,
    agent,
    sent,
    request,
    response,
    answer,
    socket,
    answer.socket,
    new tls.TLSSocket(new net.Socket()),
  ]
  // The names are recorded now, since objects lose fields when they end.
  const names = objects.map((owner) => Object.create(null, describe(owner)) as object)
  const frozen = Object.create(null, describe(parser)) as object
  Object.defineProperty(frozen, 'constructor', { value: parser.constructor })
  response.end()
  agent.destroy()
  server.close()
  server.closeAllConnections()
  return { objects: [...objects, ...names], parser: frozen }
}

/** Keys of own properties, without values. */
function describe(owner: object): PropertyDescriptorMap {
  return Object.fromEntries(Reflect.ownKeys(owner).map((key) => [key, { value: undefined, enumerable: true }]))
}

/** The value and its prototypes. For a class also those of its instances. */
function chainOf(value: unknown): object[] {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return []
  const chain: object[] = []
  const starts = typeof value === 'function' ? [value, value.prototype as object | undefined] : [value]
  for (const start of starts)
    for (let owner = start; owner != null && !isLanguage(owner); owner = Object.getPrototypeOf(owner)) chain.push(owner)
  return chain
}

function isLanguage(owner: object): boolean {
  return [Object, Function, Array, Promise, Error, Set, Map].some((each) => owner === each.prototype)
}

/** Registered symbols (`Symbol.for('nodejs.…')`) and well-known ones are public. */
function internalName(symbol: symbol): string[] {
  const isPublic = wellKnown.has(symbol) || Symbol.keyFor(symbol) !== undefined
  return isPublic || !symbol.description ? [] : [symbol.description]
}

function unique(names: readonly string[]): string[] {
  return [...new Set(names)].toSorted()
}
