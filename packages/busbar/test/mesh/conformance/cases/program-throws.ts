import { EventEmitter } from 'node:events'
import { createServer } from 'node:http'
import type { RequestListener } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { plain } from '../case.ts'
import type { Case } from '../case.ts'
import { openUntil, uploadingUntil } from './caller-gives-up.ts'

/** Exceptions in the program. */
export const programThrows: readonly Case[] = [
  throwing(
    'a listener that throws',
    () => {
      throw new Error('thrown')
    },
    openUntil('uncaught thrown'),
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
    uploadingUntil('uncaught thrown'),
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
      // The server's options do not reach its emitter.
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

/** An uncaught exception stays in the program. The caller never sees it. */
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
