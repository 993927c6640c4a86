/** Collects what a recording holds. */
import { ApiError, get } from '../api/client.ts'
import type { Description, Trace, TraceList } from '../api/types.ts'
import { moments } from '../state/history.ts'
import { seenAt, status } from '../state/live.ts'
import { lines } from '../state/log-lines.ts'
import { type Recording, toRecorded } from './recording.ts'

/** The page keeps no more. */
export const mostMinutes = 10

export async function record(minutes: number): Promise<Recording> {
  const since = seenAt.value - minutes * 60_000
  const [description, listed] = await Promise.all([
    get<Description>('/describe'),
    get<TraceList>('/traces', { limit: 100 }),
  ])
  const traces = await tracesSince(since, listed)
  return {
    savedAt: Date.now(),
    status: status.value!,
    seenAt: seenAt.value,
    moments: moments.value.filter(({ at }) => at > since).map(toRecorded),
    lines: lines.value.filter(({ at }) => at > since),
    answers: {
      '/describe': description,
      '/traces': { ...listed, traces: listed.traces.filter(({ id }) => traces.has(id)) },
      ...Object.fromEntries([...traces].map(([id, trace]) => [`/traces/${id}`, trace])),
    },
  }
}

/** One after the other: the app serves meanwhile, and may drop some. */
async function tracesSince(since: number, { traces }: TraceList): Promise<Map<string, Trace>> {
  const found = new Map<string, Trace>()
  for (const { id, start } of traces) {
    if (start <= since) continue
    try {
      found.set(id, await get<Trace>(`/traces/${id}`))
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'TRACE_UNKNOWN')) throw error
    }
  }
  return found
}
