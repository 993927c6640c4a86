import { createReadStream } from 'node:fs'
import { finished, pipeline, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import { plain } from '../case.ts'
import type { Caller, Case } from '../case.ts'

const kilobyte = 'abcdefghijklmnopqrstuvwxyz012345'.repeat(32)
const megabyte = kilobyte.repeat(1024)

/** Response bodies. */
export const bodyCases: readonly Case[] = [
  plain('an empty body', (_, response) => response.end()),
  plain('end with an empty string', (_, response) => response.end('')),
  plain('a text beyond ASCII', (_, response) => response.end('äöü 😀 中')),
  plain('a text with a lone surrogate', (_, response) => response.end('a\ud83d!')),
  plain('a surrogate pair in two writes', (_, response) => {
    response.write('\ud83d')
    response.end('\ude00')
  }),
  ...(['latin1', 'base64', 'base64url', 'hex', 'utf16le', 'ascii', 'utf-8', 'UTF-8', 'binary'] as BufferEncoding[]).map(
    (encoding) => plain(`end with ${encoding}`, (_, response) => response.end('c0ffee', encoding)),
  ),
  plain('writes in several encodings', (_, response) => {
    response.write('é', 'latin1')
    response.write('é')
    response.write('YQ==', 'base64')
    response.write(Buffer.from('b'))
    response.write(new Uint8Array([99]))
    response.end('64', 'hex')
  }),
  plain('an encoding that does not exist', (_, response, log) => {
    try {
      response.write('x', 'none' as BufferEncoding)
    } catch (error) {
      log.add(String((error as { code?: string }).code))
    }
    response.destroy()
  }),
  plain('chunks over several turns of the event loop', async (_, response) => {
    response.write('a')
    await sleep(5)
    response.write('b')
    await sleep(5)
    response.end('c')
  }),
  plain('write callbacks', (_, response, log) => {
    response.write('a', () => log.add('a written'))
    response.write('b', 'latin1', () => log.add('b written'))
    response.end('c', () => log.add('ended'))
  }),
  plain('an empty write', (_, response, log) => {
    response.write('', () => log.add('nothing written'))
    response.end('x')
  }),
  plain('corked writes', (_, response) => {
    response.cork()
    response.write('a')
    response.write('b')
    response.uncork()
    response.end('c')
  }),
  plain('corked after the head', async (_, response) => {
    response.flushHeaders()
    await sleep(2)
    response.cork()
    response.write('a')
    response.write('b')
    process.nextTick(() => {
      response.uncork()
      response.end()
    })
  }),
  plain('a stream piped in', (_, response) => Readable.from(['a', 'b', Buffer.from('c')]).pipe(response)),
  plain('pipeline', (_, response, log) =>
    pipeline(Readable.from(['p', 'q']), response, (error) => log.add(`pipeline ${error?.code ?? 'ok'}`)),
  ),
  plain('finished on both sides', (request, response, log) => {
    finished(response, (error) => log.add(`response finished ${error?.code ?? 'ok'}`))
    finished(request, (error) => log.add(`request finished ${error?.code ?? 'ok'}`))
    request.resume()
    response.end('x')
  }),
  plain('a file', (_, response) => createReadStream(new URL(import.meta.url)).pipe(response)),
  plain('a file, compressed', (_, response) =>
    pipeline(createReadStream(new URL(import.meta.url)), createGzip(), response, () => {}),
  ),
  plain('a megabyte at once', (_, response) => response.end(megabyte)),
  plain('a megabyte of bytes at once', (_, response) => response.end(Buffer.from(megabyte))),
  plain('a megabyte with a length', (_, response) =>
    response.writeHead(200, { 'Content-Length': megabyte.length }).end(megabyte),
  ),
  plain('a megabyte in kilobytes, regardless of write', (_, response) => {
    for (let n = 0; n < 1024; n++) response.write(kilobyte)
    response.end()
  }),
  plain('four megabytes by write and drain', (_, response) => writeByDrain(response, 4 * 1024)),
  plain('four megabytes to a slow reader', (_, response) => writeByDrain(response, 4 * 1024), slowly),
  plain('write returns false', (_, response, log) => {
    log.add(`${response.write(kilobyte)}`)
    log.add(`${response.write(megabyte)}, needs drain: ${response.writableNeedDrain}`)
    response.once('drain', () => {
      log.add(`drained, ${response.writableLength} left`)
      response.end()
    })
  }),
  plain('how much fits before write returns false', (_, response, log) => {
    let count = 1
    while (response.write(kilobyte)) count++
    log.add(`${count} kB, high water mark ${response.writableHighWaterMark}`)
    response.once('drain', () => response.end())
  }),
  plain('trailers', (_, response) => {
    response.writeHead(200, { Trailer: 'X-T' })
    response.write('a')
    response.addTrailers({ 'X-T': 'v', 'X-U': ' w ' })
    response.end('b')
  }),
  plain('trailers as a list', (_, response) => {
    response.write('a')
    response.addTrailers([
      ['X-T', '1'],
      ['X-T', '2'],
    ])
    response.end()
  }),
  plain('trailers after an empty body', (_, response) => {
    response.writeHead(200, { Trailer: 'X-T' })
    response.addTrailers({ 'X-T': 'v' })
    response.end()
  }),
  plain('trailers without a chunked body', (_, response) => {
    response.setHeader('Content-Length', 1)
    response.addTrailers({ 'X-T': 'v' })
    response.end('a')
  }),
  plain('bad trailers', (_, response, log) => {
    for (const trailers of [{ 'bad name': 'x' }, { x: 'a\nb' }])
      try {
        response.addTrailers(trailers)
      } catch (error) {
        log.add(String((error as { code?: string }).code))
      }
    response.end('x')
  }),
  plain('a write after the end', (_, response, log) => {
    response.end('x')
    response.write('y', (error) => log.add(`callback ${(error as { code?: string } | null)?.code}`))
  }),
  plain('two ends', (_, response, log) => {
    response.end('x')
    response.end(() => log.add('second'))
  }),
  plain('a write of an invalid type', (_, response, log) => {
    for (const chunk of [null, 1, {}])
      try {
        response.write(chunk)
      } catch (error) {
        log.add(String((error as { code?: string }).code))
      }
    response.end('x')
  }),
  plain('a content-length met by several writes', (_, response) => {
    response.writeHead(200, { 'Content-Length': 6 })
    response.write('ab')
    response.write('cd')
    response.end('ef')
  }),
  plain(
    'a content-length met without an end',
    (_, response, log) => {
      response.writeHead(200, { 'Content-Length': 2 })
      response.write('ab')
      void log.until('complete for the caller').then(() => response.end())
    },
    async (caller, log) => {
      await caller.send()
      log.add('complete for the caller')
    },
  ),
  plain('strictContentLength: too much', (_, response, log) => {
    response.strictContentLength = true
    response.setHeader('Content-Length', 2)
    try {
      response.end('abcd')
    } catch (error) {
      log.add(String((error as { code?: string }).code))
      response.destroy()
    }
  }),
  plain('strictContentLength: too little', (_, response, log) => {
    response.strictContentLength = true
    response.setHeader('Content-Length', 4)
    try {
      response.write('ab')
      response.end()
    } catch (error) {
      log.add(String((error as { code?: string }).code))
      response.destroy()
    }
  }),
  plain('strictContentLength: exact', (_, response) => {
    response.strictContentLength = true
    response.setHeader('Content-Length', 4)
    response.write('ab')
    response.end('cd')
  }),
  plain('bytes that the program reuses', (_, response) => {
    const bytes = Buffer.from('first')
    response.write(bytes, () => {
      bytes.write('later')
      response.end()
    })
  }),
  plain('bytes that the program reuses after the end', (_, response) => {
    const bytes = Buffer.from('first')
    response.end(bytes, () => bytes.fill('x'))
  }),
  plain(
    'ten calls at once, each with its own body',
    (request, response) => response.end(request.url),
    async (caller) => {
      await Promise.all(Array.from({ length: 10 }, (_, n) => caller.send({ path: `/${n}` })))
    },
  ),
  plain(
    'server-sent events',
    async (_, response, log) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' })
      for (let n = 0; n < 3; n++) {
        response.write(`data: ${n}\n\n`)
        await log.until(`event ${n}`)
      }
      response.end()
    },
    async (caller, log) => {
      const call = caller.open()
      for (let n = 0; n < 3; n++) {
        await call.recording.received(9 * (n + 1))
        log.add(`event ${n}`)
      }
      await call.outcome()
    },
  ),
]

/** Writes as fast as backpressure allows, until `kilobytes` are written. */
function writeByDrain(
  response: { write(chunk: string): boolean; end(): unknown; once(event: 'drain', listener: () => void): unknown },
  kilobytes: number,
): void {
  let left = kilobytes
  const more = (): void => {
    while (left-- > 0) {
      if (response.write(kilobyte)) continue
      response.once('drain', more)
      return
    }
    response.end()
  }
  more()
}

async function slowly(caller: Caller): Promise<void> {
  const call = caller.open({ slow: true })
  await call.recording.head()
  await sleep(20)
  call.resume()
  await call.outcome()
}
