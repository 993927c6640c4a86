/** A program with an SDK of its own, which a library's tracer is older than. */
const { AsyncLocalStorage } = require('node:async_hooks')
const { randomBytes } = require('node:crypto')
const { createServer } = require('node:http')
const { context, ROOT_CONTEXT, trace } = require('@opentelemetry/api')

const before = trace.getTracer('before')
const storage = new AsyncLocalStorage()
context.setGlobalContextManager({
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, run, self, ...args) => storage.run(active, () => Reflect.apply(run, self, args)),
  bind: (_, target) => target,
  enable() {},
  disable() {},
})
let spans = {}
const tracer = {
  startSpan(name, options, from = context.active()) {
    const parent = options?.root ? undefined : trace.getSpanContext(from)
    const { traceId = randomBytes(16).toString('hex'), traceFlags = 1 } = parent ?? {}
    const spanId = randomBytes(8).toString('hex')
    spans[name] = { traceId, traceFlags, spanId, parent: parent?.spanId ?? null }
    return trace.wrapSpanContext({ traceId, traceFlags, spanId })
  },
  startActiveSpan(name, ...rest) {
    const run = rest.pop()
    const [options, from = context.active()] = rest
    const span = this.startSpan(name, options, from)
    return context.with(trace.setSpan(from, span), () => run(span))
  },
}
trace.setGlobalTracerProvider({ getTracer: () => tracer })
const after = trace.getTracer('after')

createServer((request, response) => {
  spans = {}
  before.startSpan('alone')
  before.startSpan('root', { root: true })
  before.startActiveSpan('old', () => {
    before.startSpan('old in old')
    after.startSpan('new in old')
  })
  after.startActiveSpan('new', (span) => {
    before.startSpan('old in new')
    before.startSpan('given', {}, ROOT_CONTEXT)
    before.startActiveSpan('middle', { kind: 1 }, () => after.startSpan('new in middle'))
    before.startActiveSpan('given too', {}, trace.setSpan(ROOT_CONTEXT, span), () => after.startSpan('new in given'))
  })
  response.end(JSON.stringify({ traceparent: request.headers.traceparent, spans }))
}).listen(0)
