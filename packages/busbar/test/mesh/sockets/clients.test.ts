import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { ByteMesh } from '../../support/mesh/byte-mesh.ts'
import { clients, textOf, type Client } from '../../support/http/clients.ts'

const origin = 'http://catalog.internal'
const megabyte = 1024 * 1024

for (const [name, open] of Object.entries(clients)) {
  describe(`${name} calls a service by its name`, () => {
    /** Runs `use` against a program. Closes client and mesh afterwards. */
    async function calling(program: RequestListener, use: (client: Client) => Promise<void>): Promise<void> {
      await using _mesh = new ByteMesh({ catalog: program })
      await using client = open(origin)
      await use(client)
    }

    test('request and response arrive as they were written', async () => {
      const program: RequestListener = (request, response) => {
        const { method, url, headers } = request
        response.setHeader('x-list', ['a', 'b'])
        response.writeHead(201).end(JSON.stringify({ method, url, host: headers.host, own: headers['x-own'] }))
      }
      await calling(program, async (client) => {
        const response = await client.send({ url: `${origin}/items?page=2`, headers: { 'x-own': 'yes' } })
        assert.equal(response.status, 201)
        assert.equal(String(response.headers['x-list']).replace(' ', ''), 'a,b')
        assert.deepEqual(JSON.parse(await textOf(response.body)), {
          method: 'GET',
          url: '/items?page=2',
          host: 'catalog.internal',
          own: 'yes',
        })
      })
    })

    test('the program sees no header of the mesh', async () => {
      const program: RequestListener = (request, response) => {
        response.end(JSON.stringify([request.headers, request.rawHeaders]))
      }
      await calling(program, async (client) => {
        const { body } = await client.send({ url: origin })
        assert.doesNotMatch(await textOf(body), /busbar/i)
      })
    })

    test('a streamed body arrives chunk by chunk and comes back', async () => {
      const program: RequestListener = (request, response) => void request.pipe(response)
      await calling(program, async (client) => {
        const chunks = ['first ', 'second ', 'third']
        const { body } = await client.send({ url: origin, method: 'POST', body: Readable.from(chunks.map(bytes)) })
        assert.equal(await textOf(body), chunks.join(''))
      })
    })

    test('50 MB go up, and the caller never runs far ahead of the reader', async () => {
      const sent = createHash('sha256')
      const received = createHash('sha256')
      let ahead = 0
      let furthest = 0
      const upload = async function* (): AsyncGenerator<Buffer> {
        for (let index = 0; index < 50; index++) {
          const chunk = Buffer.alloc(megabyte, index)
          sent.update(chunk)
          ahead += chunk.length
          furthest = Math.max(furthest, ahead)
          yield chunk
        }
      }
      const program = asyncProgram(async (request, response) => {
        for await (const chunk of request as AsyncIterable<Buffer>) {
          received.update(chunk)
          ahead -= chunk.length
          await nextTurn()
        }
        response.end('done')
      })
      await calling(program, async (client) => {
        const body = Readable.from(upload(), { highWaterMark: 1 })
        const response = await client.send({ url: origin, method: 'POST', body })
        assert.equal(await textOf(response.body), 'done')
        assert.equal(ahead, 0)
        assert.equal(received.digest('hex'), sent.digest('hex'))
        assert.ok(furthest <= 6 * megabyte, `${furthest} bytes were on their way at once`)
      })
    })

    test('a caller that gives up closes the response in progress', async () => {
      const seen = Promise.withResolvers<boolean>()
      const program: RequestListener = (_request, response) => {
        response.on('close', () => seen.resolve(response.writableFinished))
        response.write('begun')
      }
      await calling(program, async (client) => {
        const giveUp = new AbortController()
        const { body } = await client.send({ url: origin, signal: giveUp.signal })
        body.on('error', () => {})
        body.once('data', () => giveUp.abort())
        assert.equal(await seen.promise, false)
      })
    })

    test('a caller that gives up during an upload closes the request', async () => {
      const seen = Promise.withResolvers<IncomingMessage>()
      const giveUp = new AbortController()
      const program: RequestListener = (request) => {
        request.on('error', () => {})
        request.on('close', () => seen.resolve(request))
        request.once('data', () => giveUp.abort())
      }
      await calling(program, async (client) => {
        const body = new Readable({ read() {} })
        body.push('begun')
        const sending = client.send({ url: origin, method: 'POST', body, signal: giveUp.signal })
        await assert.rejects(sending)
        assert.equal((await seen.promise).complete, false)
        body.destroy()
      })
    })

    test('a service that dies during its response breaks the response', async () => {
      const answers: ServerResponse[] = []
      const program: RequestListener = (_request, response) => {
        answers.push(response)
        response.writeHead(200, { 'content-length': 100 })
        response.write('begun')
      }
      await calling(program, async (client) => {
        const { body } = await client.send({ url: origin })
        body.once('data', () => answers[0]!.socket!.destroy())
        await assert.rejects(textOf(body))
      })
    })

    test('a service that dies before it answers fails the call', async () => {
      await calling(
        (request) => request.socket.destroy(),
        async (client) => {
          await assert.rejects(client.send({ url: origin }), (error) =>
            /hang up|closed|terminated|fetch failed|other side/i.test(String(error)),
          )
        },
      )
    })

    test('a response larger than any buffer waits for its reader', async () => {
      const whole = 20 * megabyte
      let written = 0
      const program = asyncProgram(async (_request, response) => {
        for (; written < whole; written += 64 * 1024)
          if (!response.write(Buffer.alloc(64 * 1024, 1))) await once(response, 'drain')
        response.end()
      })
      await calling(program, async (client) => {
        const { body } = await client.send({ url: origin })
        let read = 0
        for await (const chunk of body as AsyncIterable<Buffer>) {
          read += chunk.length
          assert.ok(written - read <= 2 * megabyte, `${written - read} bytes were on their way at once`)
        }
        assert.equal(read, whole)
      })
    })

    if (name !== 'node:http, agent: false')
      test('the second request uses the same connection', async () => {
        const ports: unknown[] = []
        const program: RequestListener = (request, response) => {
          ports.push(request.socket.remotePort)
          response.end('ok')
        }
        await calling(program, async (client) => {
          for (let turn = 0; turn < 3; turn++) {
            const { body } = await client.send({ url: origin })
            assert.equal(await textOf(body), 'ok')
            await nextTurn()
          }
          assert.equal(new Set(ports).size, 1)
          assert.equal(typeof ports[0], 'number')
        })
      })
  })
}

function bytes(text: string): Buffer {
  return Buffer.from(text)
}

/** Its rejection would be unhandled and fail the file. */
function asyncProgram(run: (request: IncomingMessage, response: ServerResponse) => Promise<void>): RequestListener {
  return (request, response) => void run(request, response)
}

describe('a caller that gives up a response', () => {
  for (const [name, give] of Object.entries({
    'with a chunk in hand': 'data',
    'before it reads any of it': 'response',
  }))
    test(`${name} is noticed by a program that writes while there is room`, { timeout: 20_000 }, async () => {
      const { promise: ended, resolve } = Promise.withResolvers<unknown>()
      const most = 64 * megabyte
      const program: RequestListener = (request, response) => {
        const seen: unknown[] = []
        request
          .on('aborted', () => seen.push('aborted'))
          .on('error', (error: NodeJS.ErrnoException) => seen.push(error.code))
        request.on('close', () => setImmediate(() => resolve([...seen, response.writableFinished])))
        let left = most
        const write = (): void => {
          while (!response.destroyed && left > 0) {
            left -= 65_536
            if (!response.write(Buffer.alloc(65_536))) return void response.once('drain', write)
          }
          response.end()
        }
        write()
      }
      await using _mesh = new ByteMesh({ catalog: program })
      get(origin, { agent: false }, (response) => {
        if (give === 'data') response.once('data', () => response.destroy())
        else setTimeout(() => response.destroy(), 50)
      }).on('error', () => {})
      assert.deepEqual(await ended, ['aborted', 'ECONNRESET', false])
    })
})
