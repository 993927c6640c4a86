import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import * as z from 'zod'
import { fn, service } from '../../../src/contract/index.ts'
import { nodeListener, type NodeListener } from '../../../src/gateway/typed/adapters/index.ts'

const texts = service('texts', { length: fn({ input: z.object({ text: z.string() }), output: z.int() }) })
let calls = 0
const implementation = texts.implement({
  length: ({ text }) => {
    calls++
    return text.length
  },
})

const listener: NodeListener = nodeListener(implementation, { maxInputSize: 100_000 })

/** Layers between the server and the listener, by name. */
const ways: Readonly<Record<string, RequestListener>> = {
  immediately: listener,
  'after a turn, when part of it has arrived': (req, res) => void turn().then(() => listener(req, res)),
  'after a reader of its first piece': (req, res) => void firstPiece(req).then(() => listener(req, res)),
}

for (const [way, handler] of Object.entries(ways))
  describe(`the body of a request to a typed service ${way}`, () => {
    let server: Server
    let socket: Socket
    let answers: AsyncIterator<string>

    before(async () => {
      server = createServer(handler)
      await once(server.listen(0, '127.0.0.1'), 'listening')
      socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      answers = readAnswers(socket)
    })
    after(async () => {
      socket.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    })

    const answer = async (): Promise<string> => (await answers.next()).value as string

    it('may arrive with the head', async () => {
      socket.write(request('{"text":"four"}'))
      assert.equal(await answer(), '200 4')
    })

    it('may arrive in pieces that split a character', async () => {
      const bytes = Buffer.from(request('{"text":"grün €"}'))
      for (const byte of bytes) {
        socket.write(Buffer.of(byte))
        await turn()
      }
      assert.equal(await answer(), '200 6')
    })

    it('may be chunked', async () => {
      socket.write(`${head('transfer-encoding: chunked')}8\r\n{"text":\r\n`)
      await turn()
      socket.write('5\r\n"abc"\r\n1\r\n}\r\n0\r\n\r\n')
      assert.equal(await answer(), '200 3')
    })

    it('may be followed by pipelined requests', async () => {
      socket.write(['{"text":"a"}', '{"text":"ab"}', '{"text":"abc"}'].map(request).join(''))
      assert.deepEqual([await answer(), await answer(), await answer()], ['200 1', '200 2', '200 3'])
    })

    it('may be larger than a socket buffer', async () => {
      socket.write(request(JSON.stringify({ text: 'x'.repeat(90_000) })))
      assert.equal(await answer(), '200 90000')
    })

    it('is refused if it is not UTF-8, and the connection stays open', async () => {
      const body = Buffer.concat([Buffer.from('{"text":"'), Buffer.of(0xff), Buffer.from('"}')])
      socket.write(head(`content-length: ${body.length}`))
      socket.write(body)
      assert.match(await answer(), /^400 .*REQUEST_MALFORMED/)
      socket.write(request('{"text":"on"}'))
      assert.equal(await answer(), '200 2')
    })

    it('makes no call if the connection ends before it is complete', async () => {
      const made = calls
      const other = connect((server.address() as AddressInfo).port, '127.0.0.1')
      other.write(`${head('content-length: 100')}{"text":"`)
      await once(server, 'request')
      other.destroy()
      await once(other, 'close')
      await turn()
      socket.write(request('{"text":"still there"}'))
      assert.equal(await answer(), '200 11')
      assert.equal(calls, made + 1)
    })
  })

after(() => listener[Symbol.asyncDispose]())

function request(body: string): string {
  return `${head(`content-length: ${Buffer.byteLength(body)}`)}${body}`
}

function head(length: string): string {
  return `POST /texts/length HTTP/1.1\r\nhost: texts\r\ncontent-type: application/json\r\n${length}\r\n\r\n`
}

/** Reads and unshifts the body, like code that inspects its first bytes. */
async function firstPiece(req: IncomingMessage): Promise<void> {
  await once(req, 'readable')
  const chunk = req.read() as Buffer | null
  if (chunk !== null) req.unshift(chunk)
}

/** Status and body of each answer on the connection. */
async function* readAnswers(socket: Socket): AsyncGenerator<string, void, undefined> {
  let text = ''
  for await (const chunk of socket.setEncoding('utf8')) {
    text += chunk as string
    for (;;) {
      const end = text.indexOf('\r\n\r\n')
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
      if (end < 0 || text.length < end + 4 + length) break
      yield `${text.slice(9, 12)} ${text.slice(end + 4, end + 4 + length)}`
      text = text.slice(end + 4 + length)
    }
  }
}
