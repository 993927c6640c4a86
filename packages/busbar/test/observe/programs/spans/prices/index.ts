import { trace } from '@opentelemetry/api'
import { prices } from './contract.ts'

/** Its own span lies in its call, not in the span of the caller. */
export default prices.implement({
  price: async () =>
    await trace.getTracer('prices').startActiveSpan('look up', async (span) => {
      await new Promise(setImmediate)
      span.end()
      return JSON.stringify({ traceparent: span.spanContext().spanId })
    }),
})
