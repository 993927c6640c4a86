/** Reads server-sent events by `fetch`: an EventSource could send the token only in its address. */
import { send } from './client.ts'

export interface ServerEvent {
  readonly event: string
  readonly data: unknown
}

export async function* readEvents(path: string, signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const response = await send(path, { signal })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += value
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        yield parse(text.slice(0, end))
        text = text.slice(end + 2)
      }
    }
  } finally {
    // The stream may already have failed.
    await reader.cancel().catch(() => {})
  }
}

function parse(block: string): ServerEvent {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(': ')
      return [line.slice(0, colon), line.slice(colon + 2)]
    }),
  )
  return { event: fields.get('event') ?? 'message', data: JSON.parse(fields.get('data') ?? 'null') as unknown }
}
