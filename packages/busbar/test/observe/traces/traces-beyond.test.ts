/** Traces that lead to other apps, and through what is not a call of a program. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeAuthority, makeCertificate } from '../../../src/cli/certificates/make-certificate.ts'
import type { App } from '../../../src/config/app.ts'
import { loadApp } from '../../../src/config/load.ts'
import { client } from '../../../src/contract/client-entry.ts'
import { newTraceId } from '../../../src/shared/traces/trace-context.ts'
import { NatsServer, withoutNats } from '../../cluster/support/nats-server.ts'
import { things } from '../../grpc/programs/app/things/contract.ts'
import { addressOf, startThings } from '../../grpc/support/things-app.ts'
import { startFar, exportPortOf, program, TwoApps } from '../../hosts/support/two-apps.ts'
import { QueueApp, quick } from '../../queues/support.ts'
import { TestApp } from '../../support/app/test-app.ts'
import { TestFolder } from '../../support/app/test-folder.ts'
import { OtlpReceiver } from '../support/otlp-receiver.ts'
import { clientSpan, wholeTrace } from '../support/whole-trace.ts'

const traces = { sample: 1, keep: 100 }
process.env['OTEL_BSP_SCHEDULE_DELAY'] = '50'

async function exportTo({ url }: OtlpReceiver): Promise<NonNullable<App['otlp']>> {
  using files = new TestFolder({
    'web/index.js': '',
    'busbar.config.json': { otlp: { url, metrics: false }, services: { web: './web' } },
  })
  return (await loadApp(files.path, { env: {} })).otlp!
}

function headersOf(id: string): { headers: { traceparent: string } } {
  return { headers: { traceparent: `00-${id}-${clientSpan}-01` } }
}

const limit = { timeout: 120_000 }

describe('a trace goes on', () => {
  test('to another app over TCP', limit, async () => {
    await using receiver = await OtlpReceiver.open()
    const seen = { traces, otlp: await exportTo(receiver) }
    await using apps = await TwoApps.start({ near: seen, far: seen })
    const id = newTraceId()
    await apps.ask('fetch/who', headersOf(id))
    await wholeTrace(receiver, ['web', 'stock'], id)
  })

  test('to another app over TLS', limit, async () => {
    await using receiver = await OtlpReceiver.open()
    const seen = { traces, otlp: await exportTo(receiver) }
    const ca = await makeAuthority()
    using files = new TestFolder()
    const tlsOf = async (name: string) => {
      const pair = await makeCertificate({ name, hosts: ['127.0.0.1'], days: 1 }, ca)
      files.write(`${name}.crt`, pair.cert)
      files.write(`${name}.key`, pair.key)
      files.write('ca.crt', ca.cert)
      return { cert: files.at(`${name}.crt`), key: files.at(`${name}.key`), ca: files.at('ca.crt') }
    }
    await using far = await startFar({ ...seen, identity: await tlsOf('far') }, { protocol: 'tls' })
    const address = { protocol: 'tls', host: '127.0.0.1', port: exportPortOf(far) } as const
    const remotes = [{ name: 'stock', addresses: [address] }]
    const services = { web: program('web.js') }
    await using near = await TestApp.start({ name: 'near', services, remotes, identity: await tlsOf('near'), ...seen })
    const id = newTraceId()
    await (await fetch(new URL('/fetch/who', near.url), headersOf(id))).text()
    await wholeTrace(receiver, ['web', 'stock'], id)
  })

  test('to another app over NATS', { ...limit, skip: withoutNats }, async () => {
    await using nats = await NatsServer.start()
    await using receiver = await OtlpReceiver.open()
    const seen = { traces, otlp: await exportTo(receiver) }
    await using apps = await TwoApps.start({ near: seen, far: seen, cluster: nats.config() })
    const id = newTraceId()
    await apps.ask('fetch/who', headersOf(id))
    await wholeTrace(receiver, ['web', 'stock'], id)
  })

  test('from a client of gRPC', limit, async () => {
    await using receiver = await OtlpReceiver.open()
    const otlp = await exportTo(receiver)
    await using app = await startThings({}, (loaded) => ({ ...loaded, traces, otlp }))
    await using remote = client(things, `grpc://${addressOf(app)}`)
    const id = newTraceId()
    await remote.context(undefined, { metadata: headersOf(id).headers })
    const [span] = await wholeTrace(receiver, ['things'], id)
    assert.deepEqual([span!.parent, span!.name], [clientSpan, 'things/context'])
  })

  test('from the caller of a method to its item of the queue', limit, async () => {
    await using receiver = await OtlpReceiver.open()
    await using app = await QueueApp.start({
      queues: quick,
      traces: { sample: 1 },
      otlp: { url: receiver.url, metrics: false },
    })
    await app.orders.place({ to: 'ada' })
    await app.untilLogged('sent ada')
    const spans = await wholeTrace(receiver, ['orders', 'mail'])
    assert.ok(spans.some(({ name }) => name === 'mail/send'))
  })

  test('from the publisher of an event to what its handler calls', limit, async () => {
    await using receiver = await OtlpReceiver.open()
    const app = await loadNews(receiver)
    await using running = await TestApp.startLoaded(app)
    const id = newTraceId()
    await (await fetch(running.url, headersOf(id))).text()
    await wholeTrace(receiver, ['web', 'back'], id)
  })

  test('from a client of the native entrance', limit, async () => {
    await using receiver = await OtlpReceiver.open()
    const app = await loadApp(`${import.meta.dirname}/../programs/traces`, { env: {} })
    const gateway = { ...app.gateway, entrance: 'native' as const }
    await using running = await TestApp.startLoaded({ ...app, gateway, traces, otlp: await exportTo(receiver) })
    const id = newTraceId()
    await (await fetch(new URL('/typed', running.url), headersOf(id))).text()
    await wholeTrace(receiver, ['front', 'prices', 'back'], id)
  })
})

async function loadNews(receiver: OtlpReceiver): Promise<App> {
  using files = new TestFolder()
  const folder = `${import.meta.dirname}/../programs/news`
  const services = { web: `${folder}/web`, mail: `${folder}/mail`, back: `${folder}/back` }
  files.write('busbar.config.json', JSON.stringify({ gateway: { port: 0, entry: 'web' }, services }))
  return { ...(await loadApp(files.path, { env: {} })), traces, otlp: await exportTo(receiver) }
}
