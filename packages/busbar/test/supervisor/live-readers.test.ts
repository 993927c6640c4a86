/** Readers of `GET /live` that do not read, and those beside them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { toEntry } from '../../src/observe/log-entry.ts'
import { RecentLog } from '../../src/observe/recent-log.ts'
import { TestApp } from '../support/app/test-app.ts'
import { LiveReader, type LogEvent } from '../support/http/live-reader.ts'

const any = `${import.meta.dirname}/programs/any.js`
const token = 'a token for this run'
const authorization = `Bearer ${token}`
const page = { port: 0, token }

/** A client that reads nothing until it is told to. */
async function openStalled(url: string): Promise<IncomingMessage> {
  const [response] = (await once(get(url, { headers: { authorization } }), 'response')) as [IncomingMessage]
  response.pause()
  return response
}

test('a reader that stalls is told what it has missed, and nothing waits for it', async () => {
  const recentLog = new RecentLog()
  let written = 0
  const line = 'x'.repeat(4000)
  const write = (lines: number): void => {
    for (let n = 0; n < lines; n++, written++)
      recentLog.add(
        toEntry(
          { time: Date.now(), level: 'info', service: undefined, stream: 'busbar', line: `${written} ${line}` },
          undefined,
        ),
      )
  }
  await using app = await TestApp.start({ services: { any } }, { page, recentLog })
  const url = `${app.running.pageUrl}/live?interval=250`
  const stalled = await openStalled(`${url}&logs=true`)
  await using other = await LiveReader.open(url, authorization)
  // 2 MB between two events, so that the buffers of the system are soon full.
  for (let event = 0; event < 12; event++) {
    await other.status()
    write(500)
  }
  let [shown, dropped, bytes, text] = [0, 0, 0, '']
  stalled.setEncoding('utf8')
  for await (const chunk of stalled as AsyncIterable<string>) {
    bytes += chunk.length
    text += chunk
    const events = text.split('\n\n')
    text = events.pop()!
    for (const event of events) {
      const [, data] = /^event: log\ndata: (.+)$/.exec(event) ?? []
      if (data === undefined) continue
      const log = JSON.parse(data) as LogEvent
      shown += log.lines.length
      dropped += log.dropped
    }
    if (shown + dropped >= written) break
  }
  assert.equal(shown + dropped, written)
  assert.ok(dropped > 0, `of ${written} lines, ${shown} were shown`)
  assert.ok(bytes < written * line.length)
})

test('readers that leave at any moment give their places back', async () => {
  await using app = await TestApp.start({ services: { any } }, { page })
  const url = `${app.running.pageUrl}/live?interval=250`
  await using stays = await LiveReader.open(url, authorization)
  for (let round = 0; round < 4; round++) {
    const readers = await Promise.all(Array.from({ length: 12 }, () => openStalled(url)))
    for (const reader of readers) reader.destroy()
    await stays.status()
  }
  // All of its 16 places but one are free: the ends of the connections have arrived.
  await stays.status()
  const readers = await Promise.all(Array.from({ length: 15 }, () => openStalled(url)))
  assert.deepEqual([...new Set(readers.map(({ statusCode }) => statusCode))], [200])
  for (const reader of readers) reader.destroy()
})
