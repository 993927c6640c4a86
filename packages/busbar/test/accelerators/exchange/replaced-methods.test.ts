/** Tracing agents and old middleware replace methods by which Node sends a response. */
import { deepEqual } from 'node:assert/strict'
import { type OutgoingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { unless } from '../../support/mesh/accelerators.ts'
import { send } from '../../support/mesh/test-call.ts'
import { TestEndpoint } from '../../support/mesh/test-endpoint.ts'

type Method = (this: unknown, first: unknown, ...rest: unknown[]) => unknown

/** Changes the first argument of a method, until it is disposed. */
function replace(prototype: object, name: string, change: (text: string) => string): Disposable {
  const own = Object.getOwnPropertyDescriptor(prototype, name)
  const original = Reflect.get(prototype, name) as Method
  const replacement: Method = function (first, ...rest) {
    return Reflect.apply(original, this, [typeof first === 'string' ? change(first) : first, ...rest])
  }
  Object.defineProperty(prototype, name, { value: replacement, configurable: true, writable: true })
  return {
    [Symbol.dispose]() {
      if (own === undefined) Reflect.deleteProperty(prototype, name)
      else Object.defineProperty(prototype, name, own)
    },
  }
}

const addHeader = (text: string) => text.replace('\r\n', '\r\nX-Replaced: yes\r\n')

const outgoing = Object.getPrototypeOf(ServerResponse.prototype) as OutgoingMessage

/** The first argument of each is the head, or a part of the body. */
const rows = [
  { of: outgoing, name: '_storeHeader', change: addHeader, expected: ['yes', 'body'] },
  { of: ServerResponse.prototype, name: '_storeHeader', change: addHeader, expected: ['yes', 'body'] },
  { of: outgoing, name: '_send', change: () => 'BODY', expected: [undefined, 'BODY'] },
  { of: outgoing, name: '_writeRaw', change: addHeader, expected: ['yes', 'body'] },
  { of: Socket.prototype, name: 'write', change: addHeader, expected: ['yes', 'body'] },
]

describe('an exchange with a program that has replaced a method', { skip: unless('exchange') }, () => {
  for (const { of: prototype, name, change, expected } of rows)
    test(`answers by ${name} of ${prototype.constructor.name}`, async () => {
      await using endpoint = new TestEndpoint('callee', (_, response) => response.end('body'))
      const before = await send(endpoint)
      deepEqual([before.headers['x-replaced'], before.body], [undefined, 'body'])
      using _ = replace(prototype, name, change)
      const { status, headers, body } = await send(endpoint)
      deepEqual([status, headers['x-replaced'], body], [200, ...expected])
    })
})
