import { EventEmitter } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { finished, pipeline, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { plain } from '../case.ts'
import type { Caller, Case } from '../case.ts'
import type { ProgramLog } from '../program-log.ts'

/** One side gives up: what the other sees, and in which order. */
export const abortCases: readonly Case[] = [...callerGivesUp(), ...programGivesUp(), ...programThrows()]

function callerGivesUp(): Case[] {
  return [
    plain('the caller gives up before the answer', (_, __, log) => log.add('called'), abortWhen('called')),
    plain(
      'the caller gives up before the answer to a body',
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
      'the caller gives up behind the head',
      (_, response) => response.flushHeaders(),
      async (caller) => {
        const call = caller.open()
        await call.recording.head()
        call.abort()
      },
    ),
    plain(
      'the caller gives up in the body',
      (_, response) => {
        response.write('part')
      },
      async (caller) => {
        const call = caller.open()
        await call.recording.received(4)
        call.abort()
      },
    ),
    plain(
      'the caller gives up, the program answers all the same',
      (_, response, log) => {
        log.add('called')
        response.on('close', () => log.add(`written ${response.write('x')}, destroyed ${response.destroyed}`))
      },
      abortWhen('called'),
    ),
    plain(
      'the caller gives up, the program ends all the same',
      (_, response, log) => {
        log.add('called')
        response.on('close', () =>
          response.end('x', (error?: Error | null) => log.add(`ended ${error?.message ?? 'well'}`)),
        )
      },
      abortWhen('called'),
    ),
    plain(
      'the caller gives up, both sides are asked for their state',
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
      abortWhen('called'),
    ),
    plain(
      'the caller gives up, the program waits by finished',
      (request, response, log) => {
        log.add('called')
        finished(request, (error) => log.add(`request ${error?.code}`))
        finished(response, (error) => log.add(`response ${error?.code}`))
      },
      abortWhen('called'),
    ),
    plain(
      'the caller gives up on a pipeline',
      (_, response, log) => {
        const source = new Readable({ read() {} })
        source.push('x')
        pipeline(source, response, (error) => log.add(`pipeline ${error?.code}`))
      },
      async (caller) => {
        const call = caller.open()
        await call.recording.received(1)
        call.abort()
      },
    ),
    plain(
      'the caller gives up while its upload runs',
      (request, _, log) => {
        request.on('data', (chunk: Buffer) => log.add(`data ${chunk.toString()}`))
      },
      async (caller, log) => {
        const call = caller.stream()
        await call.write('part')
        await log.until('data part')
        call.abort()
      },
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
      async (caller, log) => {
        const call = caller.stream()
        await call.write('part')
        await log.until('data part')
        call.abort()
      },
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
      abortWhen('called false'),
    ),
    plain('request.signal is not aborted by an answer', (request, response, log) => {
      const { signal } = request as unknown as { signal: AbortSignal }
      signal.addEventListener('abort', () => log.add('signal aborted'))
      response.end('x')
    }),
    plain(
      'listeners on the socket hear of the end',
      (request, _, log) => {
        request.socket.on('end', () => log.add('socket end'))
        request.socket.on('close', (hadError) => log.add(`socket close ${hadError}`))
        request.socket.on('error', (error) => log.add(`socket error ${error.message}`))
        log.add('called')
      },
      abortWhen('called'),
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
      call: async (caller, log) => {
        const call = caller.stream()
        await call.write('part')
        await log.until('data')
        call.abort()
      },
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
}

function programGivesUp(): Case[] {
  return [
    plain('response.destroy before the head', (_, response) => response.destroy()),
    plain('response.destroy with an error before the head', (_, response) => response.destroy(new Error('why'))),
    plain(
      'response.destroy behind the head',
      async (_, response) => {
        response.flushHeaders()
        await sleep(5)
        response.destroy()
      },
      waitForHead,
    ),
    plain('response.destroy in the body', async (_, response) => {
      response.write('part')
      await sleep(5)
      response.destroy()
    }),
    plain('response.destroy in a body with a length', async (_, response) => {
      response.writeHead(200, { 'Content-Length': 10 })
      response.write('part')
      await sleep(5)
      response.destroy()
    }),
    plain('response.destroy in a body that ends with the connection', async (_, response) => {
      response.useChunkedEncodingByDefault = false
      response.write('part')
      await sleep(5)
      response.destroy()
    }),
    plain('response.destroy in the tick of the first write', (_, response) => {
      response.write('part')
      response.destroy()
    }),
    plain('response.destroy in the tick of the end', (_, response) => {
      response.end('all of it')
      response.destroy()
    }),
    plain('response.destroy in the tick of the end of several writes', async (_, response) => {
      response.write('all ')
      await sleep(2)
      response.write('of ')
      response.end('it')
      response.destroy()
    }),
    plain('trailers that come after the end', (_, response) => {
      response.write('x')
      response.end()
      response.addTrailers({ 'X-T': 'late' })
    }),
    plain('request.destroy', (request) => request.destroy()),
    plain('request.destroy with an error', (request) => request.destroy(new Error('why'))),
    plain(
      'request.destroy in an upload',
      (request) => request.once('data', () => request.destroy()),
      async (caller) => {
        const call = caller.stream()
        await call.write('part')
        await call.outcome()
      },
    ),
    plain('socket.destroy', (request) => request.socket.destroy()),
    plain('socket.destroy in the body', async (request, response) => {
      response.write('part')
      await sleep(5)
      request.socket.destroy()
    }),
    plain('socket.destroySoon in the body', async (request, response) => {
      response.write('part')
      await sleep(5)
      request.socket.destroySoon()
    }),
    plain('socket.end before the answer', (request) => request.socket.end()),
    plain('socket.resetAndDestroy', (request) => request.socket.resetAndDestroy()),
    plain('a source that fails in a pipeline', (_, response, log) => {
      async function* source(): AsyncGenerator<string> {
        yield 'part'
        await sleep(5)
        throw new Error('why')
      }
      pipeline(source, response, (error) => log.add(`pipeline ${error?.message}`))
    }),
    plain(
      'an answer that stays behind its length',
      (_, response) => {
        response.writeHead(200, { 'Content-Length': 10 }).end('short')
      },
      undefined,
      {
        program: withoutKeepAlive((_, response) => void response.writeHead(200, { 'Content-Length': 10 }).end('short')),
      },
    ),
    plain(
      'after a destroyed answer the next call is answered',
      (request, response) => {
        if (request.url === '/dies') response.destroy()
        else response.end('x')
      },
      async (caller) => {
        await caller.send({ path: '/dies' })
        await caller.send()
      },
    ),
  ]
}

function programThrows(): Case[] {
  return [
    throwing(
      'a listener that throws',
      () => {
        throw new Error('thrown')
      },
      abortWhen('uncaught thrown'),
    ),
    throwing('a listener that throws and answers later', (_, response) => {
      setTimeout(() => response.end('late'), 5)
      throw new Error('thrown')
    }),
    throwing('a listener that throws after its answer', (_, response) => {
      response.end('answer')
      throw new Error('thrown')
    }),
    throwing(
      'a data listener that throws',
      (request) => {
        request.on('data', () => {
          throw new Error('thrown')
        })
      },
      async (caller, log) => {
        const call = caller.stream()
        await call.write('x')
        await log.until('uncaught thrown')
        call.abort()
      },
    ),
    throwing(
      'a finish listener that throws',
      (_, response) => {
        response.on('finish', () => {
          throw new Error('thrown')
        })
        response.end('x')
      },
      async (caller, log) => {
        await caller.send()
        await log.until('uncaught thrown')
      },
    ),
    throwing(
      'a close listener that throws',
      (_, response, log) => {
        response.on('close', () => {
          throw new Error('thrown')
        })
        log.add('called')
      },
      async (caller, log) => {
        const call = caller.open()
        await log.until('called')
        call.abort()
        await log.until('uncaught thrown')
      },
    ),
    {
      name: 'a rejection that the server captures',
      program: (log) => {
        // The server's own options do not reach its emitter.
        EventEmitter.captureRejections = true
        const server = createServer()
        EventEmitter.captureRejections = false
        const listener: (...values: Parameters<RequestListener>) => Promise<void> = async (request, response) => {
          log.watch(request, response)
          await sleep(1)
          throw new Error('rejected')
        }
        return server.on('request', listener as RequestListener)
      },
    },
  ]
}

/** An uncaught exception is the program's own, and the caller never sees it. */
function throwing(name: string, handler: Parameters<typeof plain>[1], call?: Case['call']): Case {
  return plain(name, handler, async (caller, log) => {
    process.setUncaughtExceptionCaptureCallback((error) => log.addAside(`uncaught ${error.message}`))
    try {
      if (call === undefined) await caller.send()
      else await call(caller, log)
      await log.settled()
    } finally {
      process.setUncaughtExceptionCaptureCallback(null)
    }
  })
}

function withoutKeepAlive(handler: Parameters<typeof createServer>[1] & object): Case['program'] {
  return () => Object.assign(createServer({ keepAliveTimeoutBuffer: 1 } as object, handler), { keepAliveTimeout: 1 })
}

function abortWhen(event: string): (caller: Caller, log: ProgramLog) => Promise<void> {
  return async (caller, log) => {
    const call = caller.open()
    await log.until(event)
    call.abort()
  }
}

async function waitForHead(caller: Caller): Promise<void> {
  const call = caller.open()
  await call.recording.head()
  await call.outcome()
}
