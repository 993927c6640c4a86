/** Splits a body into its lines as they come. Leaving the loop cancels the body, and with it the request. */
export async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const parts = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = parts.pop()!
      for (const line of parts) if (line !== '') yield line
    }
  } finally {
    // A body that has ended or broken cannot be cancelled, and need not be.
    await reader.cancel().catch(() => {})
  }
}
