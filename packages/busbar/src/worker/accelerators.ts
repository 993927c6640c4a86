import { createServer } from 'node:http'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer as createTcpServer, Socket } from 'node:net'
import { inspect } from 'node:util'
import { connectHere } from '../mesh/bytes/connect.ts'
import { parserOf } from '../mesh/bytes/accept.ts'
import type { LocalEndpoint } from '../mesh/endpoint.ts'
import { exchangeFault } from '../mesh/http/exchange/self-check.ts'
import { gatherWrites } from '../mesh/gathered-writes.ts'
import { listenVirtually } from '../mesh/listener.ts'
import { Router } from '../mesh/router.ts'
import {
  acceleratorNames,
  type AcceleratorName,
  acceleratorsVariable,
  type AcceleratorState,
  chooseAccelerators,
  optIn,
} from '../shared/accelerators.ts'
import { testedNodes } from '../shared/tested-nodes.ts'
import { handoverFault } from '../gateway/handover.ts'

/** Tries what each accelerator relies on; resolves to why it does not work here. */
const probes: Readonly<Record<AcceleratorName, () => unknown>> = {
  exchange: exchangeFault,
  stream: streamFault,
  handover: handoverFault,
  'plain-calls': parserFault,
  'batch-writes': gatheringFault,
}

const leftOut = `the config or ${acceleratorsVariable} leaves it out`
const notAsked = 'gateway.batchWrites does not ask for it'

/** Milliseconds that a call over the byte stream may take. It takes one. */
const probeTime = 5000

/** Finds out which of the accelerators that the app wants work here, and has this thread use those. */
export async function startAccelerators(wanted: readonly AcceleratorName[]): Promise<readonly AcceleratorState[]> {
  const major = Number.parseInt(process.versions.node)
  const isTested = testedNodes.includes(major)
  const states = await Promise.all(
    acceleratorNames.map(async (name): Promise<AcceleratorState> => {
      if (!wanted.includes(name)) return off(name, name === optIn ? notAsked : leftOut)
      if (!isTested) return off(name, `Node ${major} was not tested, only ${testedNodes.join(' and ')}`)
      const fault = await probes[name]()
      return fault === undefined ? { name, on: true, why: null } : off(name, `its probe failed: ${textOf(fault)}`)
    }),
  )
  chooseAccelerators(states.filter(({ on }) => on).map(({ name }) => name))
  return states
}

function off(name: AcceleratorName, why: string): AcceleratorState {
  return { name, on: false, why }
}

function textOf(fault: unknown): string {
  if (typeof fault === 'string') return fault
  return fault instanceof Error ? fault.message : inspect(fault)
}

function parserFault(): unknown {
  const socket = new Socket()
  createServer().emit('connection', socket)
  const found = parserOf(socket)
  socket.destroy()
  return found === undefined ? 'a connection does not show its parser' : undefined
}

/** One request over the byte stream, with the answer as it must be. Its hops and its count are taken where the parser tells of it. */
async function streamFault(): Promise<unknown> {
  const fault = parserFault()
  if (fault !== undefined) return fault
  const server = createServer((request, response) => void response.end(`${request.method} ${request.url}`))
  listenVirtually(server, { address: '127.0.0.1', family: 'IPv4', port: 80 })
  const endpoint: LocalEndpoint = {
    at: 'here',
    service: 'probe',
    server,
    state: 'serving',
    enter: (_, callback) => callback(),
  }
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const timer = setTimeout(resolve, probeTime, 'no answer came')
  let text = ''
  try {
    const mesh = { router: new Router([]), maxHops: 1 }
    const socket = connectHere(mesh, endpoint, 1).setEncoding('latin1')
    socket.on('data', (chunk: string) => (text += chunk)).on('error', resolve)
    socket.on('close', () => resolve(text.endsWith('\r\n\r\nGET /path') ? undefined : `it answered ${text}`))
    socket.write('GET /path HTTP/1.0\r\n\r\n')
    return await promise
  } catch (error) {
    return error
  } finally {
    clearTimeout(timer)
    server.close()
  }
}

/** Three writes of one turn over a connection of this machine, which must arrive as they were written, and each be told of. */
async function gatheringFault(): Promise<unknown> {
  let told = 0
  const server = createTcpServer((socket) => {
    gatherWrites(socket)
    for (const text of ['a', 'b', 'c']) socket.write(text, () => told++)
    socket.end()
  })
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const socket = connect({ host: '127.0.0.1', port }).setTimeout(probeTime, () => socket.destroy())
    const text = Buffer.concat(await socket.toArray()).toString()
    return text === 'abc' && told === 3 ? undefined : `of three writes ${told} were told of, and "${text}" arrived`
  } catch (error) {
    return error
  } finally {
    server.close()
  }
}
