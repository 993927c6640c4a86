/** Follows the app by one stream, which it opens again when it ends. */
import { batch, computed, signal } from '@preact/signals'
import { ApiError } from '../api/client.ts'
import { readEvents } from '../api/events.ts'
import type { AppStatus, LogEvent, StatusEvent } from '../api/types.ts'
import { fromRecorded, type Recording } from '../recording/recording.ts'
import { moments, recordStatus } from './history.ts'
import { addLines, lines, livePath } from './log-lines.ts'
import { rejectToken, token } from './session.ts'
import { errorText } from './toasts.ts'

/** Null before the first event. */
export const status = signal<AppStatus | null>(null)
/** Of the app's own clock: milliseconds since 1970. */
export const seenAt = signal(0)
/** Since when the app has not answered, by the clock of the browser; null while it does. */
export const silentSince = signal<number | null>(null)
/** Why it refuses to be followed; null if it does not, or does not answer at all. */
export const refusal = signal<string | null>(null)
export const latestTrace = signal<string | null>(null)
/** Changes with each restart and placement: then what describes the app is read again. */
export const shape = computed(() => {
  const { app, workers = [], instances = [] } = status.value ?? {}
  return `${app?.startedAt} ${workers.map(({ name, kind }) => `${name} ${kind}`).join()} ${instances.length}`
})

/** Milliseconds between two attempts. */
const retryAfter = 1500

/** Milliseconds. The app sends its status each second; a busy one is late. */
const longestSilence = 5000

/** Until `stop` aborts. Signs out if the token is wrong. */
export async function follow(stop: AbortSignal): Promise<void> {
  let heardAt = Date.now()
  while (!stop.aborted && token.value !== null) {
    try {
      for await (const { event, data } of readEvents(livePath(), longestSilence, stop)) {
        heardAt = Date.now()
        receive(event, data)
      }
      refusal.value = null
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return rejectToken()
      refusal.value = error instanceof ApiError ? errorText(error) : null
    }
    if (stop.aborted) return
    silentSince.value = heardAt
    await new Promise((resolve) => setTimeout(resolve, retryAfter))
  }
}

/** Instead of following an app. */
export function showRecording(recording: Recording): void {
  batch(() => {
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
    silentSince.value = null
    refusal.value = null
    recordStatus(received)
    status.value = received.status
    seenAt.value = received.at
    latestTrace.value = received.trace
  })
}
