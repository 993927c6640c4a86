import { createServer } from 'node:http'
import { finished, pipeline, Readable } from 'node:stream'
import { plain } from '../case.ts'
import type { Call, Case } from '../case.ts'

/** What the program sees when the caller gives up, and in which order. */
export const callerGivesUp: readonly Case[] = [
  plain('the caller gives up before the response', (_, __, log) => log.add('called'), openUntil('called')),
  plain(
    'the caller gives up before the response to a body',
    (request, _, log) => {
      request.resume()
      request.on('end', () => log.add('called'))
    },
    async (caller, log) => {
      const call = caller.open({ method: 'POST', body: 'x', headers: ['Content-Length', '1'] })
      await log.until('called')
      call.abort()
    },
  ),
  plain(
    'the caller gives up after the head',
    (_, response) => response.flushHeaders(),
    afterwards((call) => call.recording.head()),
  ),
  plain(
    'the caller gives up in the body',
    (_, response) => {
      response.write('part')
    },
    afterwards((call) => call.recording.received(4)),
  ),
  plain(
    'the caller gives up, and the program still answers',
    (_, response, log) => {
      log.add('called')
      response.on('close', () => log.add(`written ${response.write('x')}, destroyed ${response.destroyed}`))
    },
    openUntil('called'),
  ),
  plain(
    'the caller gives up, and the program still ends its response',
    (_, response, log) => {
      log.add('called')
      response.on('close', () =>
        response.end('x', (error?: Error | null) => log.add(`ended ${error?.message ?? 'well'}`)),
      )
    },
    openUntil('called'),
  ),
  plain(
    'the caller gives up: the state of both sides',
    (request, response, log) => {
      log.add('called')
      response.on('close', () => {
        const { errored, destroyed, writableFinished, writable } = response
        log.add(`response ${String(errored)} ${destroyed} ${writableFinished} ${writable}`)
      })
      request.on('close', () => {
        const { errored, destroyed, aborted, complete, readableEnded } = request
        log.add(`request ${errored?.message} ${destroyed} ${aborted} ${complete} ${readableEnded}`)
      })
    },
    openUntil('called'),
  ),
  plain(
    'the caller gives up, and the program waits with finished',
    (request, response, log) => {
      log.add('called')
      finished(request, (error) => log.add(`request ${error?.code}`))
      finished(response, (error) => log.add(`response ${error?.code}`))
    },
    openUntil('called'),
  ),
  plain(
    'the caller gives up on a pipeline',
    (_, response, log) => {
      const source = new Readable({ read() {} })
      source.push('x')
      pipeline(source, response, (error) => log.add(`pipeline ${error?.code}`))
    },
    afterwards((call) => call.recording.received(1)),
  ),
  plain(
    'the caller gives up while its upload runs',
    (request, _, log) => {
      request.on('data', (chunk: Buffer) => log.add(`data ${chunk.toString()}`))
    },
    uploadingUntil('data part'),
  ),
  plain(
    'the caller gives up while its upload with a length runs',
    (request, _, log) => {
      request.on('data', (chunk: Buffer) => log.add(`data ${chunk.toString()}`))
    },
    async (caller, log) => {
      const call = caller.open({ method: 'POST', headers: ['Content-Length', '100'], streamed: true })
      await call.write('part')
      await log.until('data part')
      call.abort()
    },
  ),
  plain(
    'an aborted upload is seen by async iteration',
    async (request, _, log) => {
      try {
        for await (const chunk of request) log.add(`data ${String(chunk)}`)
      } catch (error) {
        log.add(`caught ${(error as { code?: string }).code}`)
      }
    },
    uploadingUntil('data part'),
  ),
  plain(
    'an aborted upload is seen by a pipeline',
    (request, response, log) => pipeline(request, response, (error) => log.add(`pipeline ${error?.code}`)),
    async (caller) => {
      const call = caller.stream()
      await call.write('part')
      await call.recording.received(4)
      call.abort()
    },
  ),
  plain(
    'the caller gives up on an upload that was answered',
    (request, response, log) => {
      request.on('data', () => {})
      response.end('early')
      response.on('close', () => log.add('answered'))
    },
    async (caller, log) => {
      const call = caller.stream()
      await call.outcome()
      await log.until('answered')
      call.abort()
    },
  ),
  plain(
    'request.signal is aborted',
    (request, response, log) => {
      const { signal } = request as unknown as { signal: AbortSignal }
      signal.addEventListener('abort', () => log.add('signal aborted'))
      log.add(`called ${signal.aborted}`)
      void response
    },
    openUntil('called false'),
  ),
  plain('request.signal is not aborted by a response', (request, response, log) => {
    const { signal } = request as unknown as { signal: AbortSignal }
    signal.addEventListener('abort', () => log.add('signal aborted'))
    response.end('x')
  }),
  plain(
    'listeners on the socket see the end',
    (request, _, log) => {
      request.socket.on('end', () => log.add('socket end'))
      request.socket.on('close', (hadError) => log.add(`socket close ${hadError}`))
      request.socket.on('error', (error) => log.add(`socket error ${error.message}`))
      log.add('called')
    },
    openUntil('called'),
  ),
  {
    name: 'clientError of an aborted upload',
    program: (log) => {
      const server = createServer((request, response) => {
        log.watch(request, response)
        request.on('data', () => log.add('data'))
      })
      return server.on('clientError', (error: Error & { code?: string }, socket) => {
        log.add(`clientError ${error.code}`)
        socket.destroy()
      })
    },
    call: uploadingUntil('data'),
  },
  plain(
    'after an abort the next call is answered',
    (request, response, log) => {
      if (request.url === '/hangs') log.add('called')
      else response.end('x')
    },
    async (caller, log) => {
      const call = caller.open({ path: '/hangs' })
      await log.until('called')
      call.abort()
      await call.outcome()
      await caller.send()
    },
  ),
]

type Calling = NonNullable<Case['call']>

/** Gives up a request without a body at an event in the program's log. */
export function openUntil(event: string): Calling {
  return async (caller, log) => {
    const call = caller.open()
    await log.until(event)
    call.abort()
  }
}

/** The same for an upload whose first chunk has been sent. */
export function uploadingUntil(event: string): Calling {
  return async (caller, log) => {
    const call = caller.stream()
    await call.write('part')
    await log.until(event)
    call.abort()
  }
}

/** Gives up after so much of the response. */
function afterwards(got: (call: Call) => Promise<void>): Calling {
  return async (caller) => {
    const call = caller.open()
    await got(call)
    call.abort()
  }
}
