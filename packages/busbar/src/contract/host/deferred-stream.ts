type Step = IteratorResult<unknown, undefined>

/**
 * A stream whose source is looked for by the first `next()`. Leaving it before that opens nothing; leaving it while the
 * source is being looked for closes it as soon as it is found.
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
      // Not waited for: what is being opened may take long.
      void opening?.then((source) => source.return?.()).catch(() => {})
      return { done: true, value: undefined }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await stream.return()
    },
  }
  return stream as AsyncIterableIterator<unknown, undefined>
}
