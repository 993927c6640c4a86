import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { describe, it } from 'node:test'
import { observeCalls } from '../../../src/mesh/sockets/observe-calls.ts'
import { onUpgradeAnswer } from '../../../src/mesh/sockets/upgrade-answer.ts'

const refusal = 'HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n'
const accepted = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: echo\r\n\r\n'

const answers: Record<string, { act: (socket: Duplex) => void; status: number }> = {
  'a head that is written at once': { act: (socket) => socket.write(accepted), status: 101 },
  'a head that comes with the end': { act: (socket) => socket.end(refusal), status: 403 },
  'a head in parts, within the status': {
    act: (socket) => {
      socket.write('HTTP/1.1 4')
      socket.end(refusal.slice('HTTP/1.1 4'.length))
    },
    status: 403,
  },
  'a head byte by byte': {
    act: (socket) => {
      for (const byte of Buffer.from(refusal)) socket.write(Uint8Array.of(byte))
    },
    status: 403,
  },
  'a head in another encoding': {
    act: (socket) => socket.end(Buffer.from(refusal).toString('base64'), 'base64'),
    status: 403,
  },
  'the head after an interim one': {
    act: (socket) => socket.write(`HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n${refusal}`),
    status: 403,
  },
  '101 after 100': {
    act: (socket) => {
      socket.write('HTTP/1.1 100 Continue\r\n\r\n')
      socket.write(accepted)
    },
    status: 101,
  },
  'bytes that are no head': { act: (socket) => socket.write('hello'), status: 101 },
  'nothing, and the end': { act: (socket) => socket.end().destroy(), status: 0 },
  'a part of a head, and the end': {
    act: (socket) => {
      socket.write('HTTP/1.1')
      socket.destroy()
    },
    status: 0,
  },
}

describe('the answer to an upgrade', () => {
  for (const [what, { act, status }] of Object.entries(answers))
    it(`is ${status} for ${what}`, async () => {
      const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
      const seen: number[] = []
      onUpgradeAnswer(socket, (one) => seen.push(one))
      act(socket)
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(seen, [status])
      assert.deepEqual([socket.listenerCount('close'), Object.hasOwn(socket, 'write')], [0, false])
    })

  it('is looked for no more once it is there, also if `write` was replaced meanwhile', () => {
    const socket = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    const seen: unknown[] = []
    const stop = observeCalls(socket, 'write', (chunk) => seen.push(chunk))
    const observed = socket.write.bind(socket)
    Object.defineProperty(socket, 'write', { value: (chunk: string) => observed(chunk), configurable: true })
    socket.write('the head')
    stop()
    socket.write('a message')
    assert.deepEqual(seen, ['the head'])
  })
})
