import { createServer, type Server } from 'node:http'
import { mayRefuseHeads } from '../../mesh/http/head-limits.ts'
import { hasDefaultOptions } from '../../node/server-options.ts'

const standard = createServer()

/** They change a server's requests and responses, and are fixed when it is created. */
const options = ['joinDuplicateHeaders', 'rejectNonStandardBodyWrites', 'highWaterMark'] as const

/** Of `'connection'`: Node's, and the one by which the worker counts connections. */
const ownListeners = 2

/**
 * False if the program has changed how its server treats connections and requests, by an option, a
 * limit or a listener. What is handed over comes from the gateway's server, which has none of them.
 */
export function isStandard(server: Server): boolean {
  let areDefault = checked.get(server)
  if (areDefault === undefined) checked.set(server, (areDefault = hasStandardOptions(server)))
  return areDefault && !mayRefuseHeads(server) && server.timeout === 0 && !listensForConnections(server)
}

const checked = new WeakMap<Server, boolean>()

function hasStandardOptions(server: Server): boolean {
  return hasDefaultOptions(server) && options.every((name) => Reflect.get(server, name) === Reflect.get(standard, name))
}

function listensForConnections(server: Server): boolean {
  return (
    server.listenerCount('connection') > ownListeners ||
    server.listenerCount('secureConnection') > ownListeners ||
    server.listenerCount('timeout') > 0
  )
}
