import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { TestApp } from '../support/app/test-app.ts'
import { RawHost } from './support/raw-host.ts'

const fields = (...texts: string[]): string => texts.join('\u007f')
const forged = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged'

/** Frames that answer the call with this number. */
const answers: Readonly<Record<string, (call: number) => readonly unknown[]>> = {
  '/longer': (call) => [[2, -call, 1, 1, [200, 'OK', fields('content-length', '1'), `x${forged}`]]],
  '/longer-in-parts': (call) => [
    [2, -call, 0, 1, [200, 'OK', fields('content-length', '1')]],
    [3, -call, 1, 'x'],
    [3, -call, 1, forged],
    [4, -call, 0],
  ],
  '/two-lengths': (call) => [
    [2, -call, 1, 1, [200, 'OK', fields('content-length', '1', 'content-length', '99'), `x${forged}`]],
  ],
  '/length-and-chunks': (call) => [
    [2, -call, 1, 1, [200, 'OK', fields('content-length', '1', 'transfer-encoding', 'chunked'), forged]],
  ],
  ...Object.fromEntries(
    ['', 'gzip', 'chunked, gzip', 'gzip chunked'].map((coding) => [
      `/coding-${coding.replaceAll(/\W/g, '-')}`,
      (call: number) => [[2, -call, 1, 1, [200, 'OK', fields('transfer-encoding', coding), forged]]],
    ]),
  ),
  '/unasked-switch': (call) => [
    [2, -call, 0, 1, [101, '', fields('connection', 'upgrade', 'upgrade', 'x')]],
    [3, -call, 1, [200, 'OK', fields('content-length', String(forged.length))]],
    [3, -call, 1, forged],
    [4, -call, 0],
  ],
  '/next': (call) => [[2, -call, 1, 1, [200, 'OK', fields('content-length', '4'), 'next']]],
}

describe('a body of another app that has more than one end', () => {
  for (const path of Object.keys(answers).filter((one) => one !== '/next'))
    it(`does not go on in the response of the next request: ${path.slice(1)}`, async () => {
      await using host = await RawHost.open('stock', (asked, call) => answers[asked]?.(call))
      await using near = await TestApp.start({
        name: 'near',
        services: {},
        remotes: [{ name: 'stock', addresses: [host.address] }],
        gateway: { entry: undefined, routes: [{ host: undefined, prefix: '/stock', service: 'stock' }] },
      })
      while (!(await fetch(`${near.url}/stock/next`)).ok) await new Promise((resolve) => setTimeout(resolve, 20))
      const client = connect(near.port, '127.0.0.1')
      client.write(`GET /stock${path} HTTP/1.1\r\nHost: a\r\n\r\n`)
      client.write('GET /stock/next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      const received = await text(client).catch(String)
      assert.ok(!received.includes('forged'), received)
    })
})
