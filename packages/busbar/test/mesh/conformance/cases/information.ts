import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { plain } from '../case.ts'
import type { Case } from '../case.ts'

/** Informational responses, and expectations of requests. */
export const informationCases: readonly Case[] = [
  plain('early hints', (_, response) => {
    response.writeEarlyHints({ link: ['</a.css>; rel=preload', '</b.js>; rel=preload'], 'x-more': '1' })
    response.end('x')
  }),
  plain('processing', (_, response) => {
    response.writeProcessing()
    response.end('x')
  }),
  plain('several kinds of information over time', async (_, response) => {
    response.writeProcessing()
    await sleep(2)
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    response.writeEarlyHints({ link: '</b.css>; rel=preload' })
    await sleep(2)
    response.setHeader('X-A', '1')
    response.end('x')
  }),
  plain('information before a large response', (_, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    response.end('x'.repeat(200_000))
  }),
  plain('corked information', (_, response) => {
    response.cork()
    response.writeProcessing()
    response.write('x')
    response.uncork()
    response.end()
  }),
  plain(
    'information arrives before the response',
    (_, response, log) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' })
      void log.until('hint seen').then(() => response.end('x'))
    },
    async (caller, log) => {
      const call = caller.open()
      await call.recording.informed()
      log.add('hint seen')
      await call.outcome()
    },
  ),
  plain('information that may not be sent', (_, response, log) => {
    for (const status of [99, 101, 200])
      try {
        ;(response as unknown as { writeInformation(status: number): void }).writeInformation(status)
      } catch (error) {
        log.add(String((error as { code?: string }).code))
      }
    response.end('x')
  }),
  plain(
    'expect: 100-continue',
    (request, response) => request.pipe(response),
    async (caller) => {
      const call = caller.stream({ headers: ['Expect', '100-continue'] })
      await call.recording.informed()
      await call.write('body')
      call.end()
    },
  ),
  {
    name: 'expect: 100-continue, which the program decides',
    program: (log) => {
      const server = createServer()
      return server.on('checkContinue', (request, response) => {
        // Whether the rest of a refused request still arrives is a race.
        if (request.url === '/no') return response.writeHead(417).end('no')
        log.watch(request, response)
        response.writeContinue()
        request.pipe(response)
      })
    },
    call: async (caller) => {
      const accepted = caller.stream({ path: '/yes', headers: ['Expect', '100-continue'] })
      await accepted.recording.informed()
      await accepted.write('body')
      accepted.end()
      await accepted.outcome()
      const refused = caller.stream({ path: '/no', headers: ['Expect', '100-continue'] })
      await refused.outcome()
      refused.end()
    },
  },
  {
    name: 'another expectation',
    program: () => createServer((_, response) => void response.end('x')),
    call: async (caller) => void (await caller.send({ headers: ['Expect', 'miracles'] })),
  },
  {
    name: 'another expectation, which the program decides',
    program: () =>
      createServer().on('checkExpectation', (request, response) => void response.end(request.headers.expect)),
    call: async (caller) => void (await caller.send({ headers: ['Expect', 'miracles'] })),
  },
]
