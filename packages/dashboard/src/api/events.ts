/** Reads server-sent events by `fetch`: an EventSource could send the token only in its address. */
import { send } from './client.ts'

export interface ServerEvent {
  readonly event: string
  readonly data: unknown
}

/**
 * Throws when nothing arrives for `silence` milliseconds, not even a part of an event: the system
 * of a suspended app keeps its connections open.
 */
export async function* readEvents(path: string, silence: number, stop: AbortSignal): AsyncGenerator<ServerEvent> {
  const silent = new AbortController()
  const expire = (): void => silent.abort()
  let timer = setTimeout(expire, silence)
  try {
    for await (const events of readParts(path, AbortSignal.any([stop, silent.signal]))) {
      clearTimeout(timer)
      timer = setTimeout(expire, silence)
      yield* events
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The events that each part of the response completes. */
async function* readParts(path: string, signal: AbortSignal): AsyncGenerator<ServerEvent[]> {
  const response = await send(path, { signal })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += value
      const blocks = text.split('\n\n')
      text = blocks.pop()!
      yield blocks.map(parse)
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
