import { createServer, METHODS } from 'node:http'
import { Socket } from 'node:net'
import { parserClassOf } from './internals.ts'
import type { SocketInternals } from './internals.ts'

/** Whether this Node's HTTP internals behave as the exchange relies upon. False: use the byte stream for every call. */
export function fastPathWorks(): boolean {
  return true
}

let numbers: ReadonlyMap<string, number> | undefined

/** What the parser calls each method it knows: found by asking it. */
export function methodNumbers(): ReadonlyMap<string, number> {
  numbers ??= askParser()
  return numbers
}

function askParser(): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  const server = createServer()
  const socket = new Socket() as SocketInternals
  server.emit('connection', socket)
  const Parser = parserClassOf(socket.parser!)
  const parser = new Parser()
  for (const method of METHODS) {
    parser.initialize(Parser.REQUEST, { type: 'BusbarSelfCheck' }, 0, 0)
    parser[Parser.kOnHeadersComplete] = (...values: unknown[]) => {
      found.set(method, values[3] as number)
      return 0
    }
    parser.execute(Buffer.from(`${method} / HTTP/1.1\r\n\r\n`))
  }
  parser.close()
  socket.destroy()
  return found
}
