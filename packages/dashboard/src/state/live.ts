/** Follows the app by one stream, which it opens again when it ends. */
import { batch, computed, signal } from '@preact/signals'
import { ApiError } from '../api/client.ts'
import { readEvents } from '../api/events.ts'
import type { AppStatus, LogEvent, StatusEvent } from '../api/types.ts'
import { fromRecorded, type Recording } from '../recording/recording.ts'
import { moments, recordStatus } from './history.ts'
import { addLines, lines } from './log-lines.ts'
import { signOut, token } from './session.ts'

/** `recorded`: the page shows a saved file. */
export type Connection = 'connecting' | 'live' | 'lost' | 'recorded'

export const connection = signal<Connection>('connecting')
/** Null before the first event. */
export const status = signal<AppStatus | null>(null)
/** Of the app's own clock: milliseconds since 1970. */
export const seenAt = signal(0)
export const latestTrace = signal<string | null>(null)
/** Changes with each restart and placement: then what describes the app is read again. */
export const shape = computed(() => {
  const { app, workers = [], instances = [] } = status.value ?? {}
  return `${app?.startedAt} ${workers.map(({ name, kind }) => `${name} ${kind}`).join()} ${instances.length}`
})

/** Milliseconds between two attempts. */
const retryAfter = 1500

/** Until `stop` aborts. Signs out if the token is wrong. */
export async function follow(stop: AbortSignal): Promise<void> {
  while (!stop.aborted && token.value !== null) {
    try {
      for await (const { event, data } of readEvents('/live?logs=true', stop)) receive(event, data)
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return signOut()
    }
    if (stop.aborted) return
    connection.value = 'lost'
    await new Promise((resolve) => setTimeout(resolve, retryAfter))
  }
}

/** Instead of following an app. */
export function showRecording(recording: Recording): void {
  batch(() => {
    connection.value = 'recorded'
    moments.value = recording.moments.map(fromRecorded)
    lines.value = recording.lines
    status.value = recording.status
    seenAt.value = recording.seenAt
  })
}

function receive(event: string, data: unknown): void {
  batch(() => {
    if (event === 'log') return addLines(data as LogEvent)
    if (event !== 'status') return
    const received = data as StatusEvent
    connection.value = 'live'
    recordStatus(received)
    status.value = received.status
    seenAt.value = received.at
    latestTrace.value = received.trace
  })
}
