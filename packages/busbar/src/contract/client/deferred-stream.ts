type Step = IteratorResult<unknown, undefined>

/**
 * A stream that opens its source at the first `next()`. Leaving it before that opens nothing.
 * Leaving it while the source is being opened closes the source once it is open.
 */
export function deferredStream(open: () => Promise<AsyncIterator<unknown>>): AsyncIterableIterator<unknown, undefined> {
  let opening: Promise<AsyncIterator<unknown>> | undefined
  let over = false
  const stream = {
    [Symbol.asyncIterator]: () => stream,
    async next(): Promise<Step> {
      if (over) return { done: true, value: undefined }
      const source = await (opening ??= open())
      return (await source.next()) as Step
    },
    async return(): Promise<Step> {
      over = true
      // Not awaited: opening may take long.
      void opening?.then((source) => source.return?.()).catch(() => {})
      return { done: true, value: undefined }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await stream.return()
    },
  }
  return stream as AsyncIterableIterator<unknown, undefined>
}
