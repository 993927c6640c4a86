import type { OtlpReceiver, ReceivedSpan } from './otlp-receiver.ts'

/** Of the caller outside, in `traceparent`. */
export const clientSpan = '1234567890123456'

/**
 * The spans of a trace, when there is one of each of these services and every one leads to the
 * first: none of its parents is missing.
 */
export async function wholeTrace(
  receiver: OtlpReceiver,
  services: readonly string[],
  id?: string,
): Promise<readonly ReceivedSpan[]> {
  return await receiver.until(() => {
    const traces = Map.groupBy(receiver.spans, ({ trace }) => trace)
    return [...traces.values()].find((spans) => {
      if (id !== undefined && spans[0]!.trace !== id) return false
      const ids = new Set(spans.map((span) => span.id))
      const roots = spans.filter(({ parent }) => !ids.has(parent))
      const seen = new Set(spans.map(({ service }) => service))
      // The client's span is the parent of the one that ends last.
      if (id !== undefined && roots[0]?.parent !== clientSpan) return false
      return roots.length === 1 && services.every((service) => seen.has(service))
    })
  })
}
