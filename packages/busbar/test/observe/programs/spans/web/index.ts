import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { createServer, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { client } from 'busbar/client'
import { prices } from '../prices/contract.ts'

const tracer = trace.getTracer('shop', '1.2.3')
const typed = client(prices)
const back = 'http://back.internal/'

const calls: Record<string, () => Promise<unknown>> = {
  '/fetch': async () => await (await fetch(back)).json(),
  '/node': () =>
    new Promise((resolve, reject) => {
      request(back, { agent: false }, (response) => resolve(json(response)))
        .on('error', reject)
        .end()
    }),
  '/typed': async () => JSON.parse(await typed.price()) as unknown,
}

async function work(path: string): Promise<object> {
  const active = trace.getActiveSpan()?.spanContext()
  const carrier: Record<string, string> = {}
  propagation.inject(context.active(), carrier)
  const seen = await tracer.startActiveSpan('work', { attributes: { path }, kind: SpanKind.INTERNAL }, async (span) => {
    const inner = tracer.startSpan('inner')
    inner.addEvent('begun', { at: 1 }).recordException(new Error('no stock'))
    inner.setStatus({ code: SpanStatusCode.ERROR, message: 'no stock' }).end()
    try {
      return { inside: span.spanContext(), seen: await calls[path]!() }
    } finally {
      span.end()
    }
  })
  return { active, carrier, after: trace.getActiveSpan()?.spanContext().spanId, ...seen }
}

createServer((req, res) => {
  work(req.url!).then(
    (answer) => res.end(JSON.stringify(answer)),
    (error: Error) => res.writeHead(500).end(error.stack),
  )
}).listen(3000)
