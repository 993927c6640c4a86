import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { command } from '../../src/cli/command.ts'
import { createCertificate } from '../../src/protocol/workspace.ts'
import { freePorts } from '../../../busbar/test/support/http/free-ports.ts'
import { withEngine } from '../support/fixture.ts'
import { written } from '../support/written.ts'

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await command([...args, '--seconds', '1', '--connections', '2'], { stdout, stderr })
  return { code, out: written(stdout), err: written(stderr) }
}

/** Says what it was sent. `/late` answers after the measurement. */
const listener: RequestListener = (request, response) => {
  if (request.url === '/late') setTimeout(() => response.end(), 2500)
  else void text(request).then((body) => response.end(`${request.method} ${body}`))
}

describe('busbar bench --url of HTTP/1.1', () => {
  let folder: string
  const servers: Server[] = []
  const at: Record<'clear' | 'secure' | 'http2' | 'nobody', string> = { clear: '', secure: '', http2: '', nobody: '' }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'busbar-lab-test-'))
    const { cert, key } = await createCertificate(folder)
    const tls = { cert: readFileSync(cert), key: readFileSync(key) }
    servers.push(createServer(listener), createSecureServer(tls, listener), createHttp2Server())
    const ports = servers.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      return `127.0.0.1:${(server.address() as AddressInfo).port}`
    })
    ;[at.clear, at.secure, at.http2] = (await Promise.all(ports)) as [string, string, string]
    at.nobody = `127.0.0.1:${(await freePorts(1))[0]}`
  })
  after(async () => {
    for (const server of servers) server.close()
    await rm(folder, { recursive: true })
  })

  test('a body is sent with every method', withEngine, async () => {
    for (const method of ['GET', 'DELETE', 'POST']) {
      const { code, out, err } = await run('--url', `http://${at.clear}/`, '--method', method, '--body', 'pen')
      assert.equal(code, 0, err + out)
    }
  })

  test('a server of HTTPS may be named by its address, without a warning of Node', withEngine, async () => {
    const warnings: string[] = []
    const note = ({ message }: Error): void => void warnings.push(message)
    process.on('warning', note)
    const { code, out, err } = await run('--url', `https://${at.secure}/`, '--skip-verify')
    process.off('warning', note)
    assert.deepEqual([code, warnings], [0, []], err + out)
  })

  test('a server that answers too late for the measurement is said, and is no success', withEngine, async () => {
    const { code, out } = await run('--url', `http://${at.clear}/late`)
    assert.deepEqual([code, /No answer came within 1 s: give it longer by --seconds/.test(out)], [1, true], out)
  })

  test('Ctrl-C ends it with 130', withEngine, async () => {
    const ended = run('--url', `http://${at.clear}/`, '--hold-p99', '1000')
    await once(servers[0]!, 'request')
    process.kill(process.pid, 'SIGINT')
    const { code, out, err } = await ended
    assert.deepEqual([code, out, err], [130, '', 'interrupted: nothing is left running\n'])
  })

  const wrong: readonly (readonly [url: string, sentence: RegExp])[] = [
    ['http://nobody/', /^http:\/\/127\.0\.0\.1:\d+\/ gave no answer: nothing listens there$/m],
    ['http://nobody/ --http2', / gave no answer: nothing listens there$/m],
    ['https://nobody/', /^127\.0\.0\.1:\d+: nothing listens there$/m],
    ['https://clear/', /^127\.0\.0\.1:\d+: it does not speak TLS: use http:$/m],
    ['http://secure/', /it closed the connection\. Is it the right scheme\?$/m],
    ['http://http2/', /it does not speak HTTP\/1\.1 .*: --http2 speaks HTTP\/2$/m],
    ['http://clear/ --http2', /: does it speak HTTP\/2\?$/m],
    ['https://secure/ --http2 --skip-verify', /it does not offer HTTP\/2 over TLS: leave --http2 out$/m],
    ['http://clear/ --hold-p99 soon', /--hold-p99 needs an integer of at least 1, not "soon"/],
    ['http://clear/ --ramp 9..1', /--ramp needs two rates such as 100\.\.2000, not "9\.\.1"/],
  ]
  for (const [line, sentence] of wrong)
    test(`${line} exits with 2 and a message`, withEngine, async () => {
      const [url = '', ...more] = line.split(' ')
      const address = url.replace(/(?<=\/\/)\w+/, (name) => at[name as keyof typeof at])
      const { code, out, err } = await run('--url', address, ...more)
      assert.deepEqual([code, out], [2, ''], err)
      assert.match(err, sentence)
    })
})
