import { writeFile } from 'node:fs/promises'
import { type Profiler, Session } from 'node:inspector/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerTask } from '../../shared/worker-tasks.ts'

type ProfileTask = Extract<WorkerTask, { kind: 'profile' }>

/** Writes a profile of this thread, in the format of Chrome's tools. */
export async function profile({ of, duration, file }: ProfileTask): Promise<void> {
  const session = new Session()
  session.connect()
  try {
    const found = await (of === 'cpu' ? cpuProfile(session, duration) : heapProfile(session, duration))
    await writeFile(file, JSON.stringify(found), { mode: 0o600 })
  } finally {
    session.disconnect()
  }
}

async function cpuProfile(session: Session, duration: number): Promise<object> {
  await session.post('Profiler.enable')
  await session.post('Profiler.start')
  await sleep(duration)
  return withoutStart((await session.post('Profiler.stop')).profile)
}

/**
 * V8 counts the time before the first sample from before the profiler's own start, which may take a
 * second. That is no work of the app: the profile begins with the first sample.
 */
function withoutStart(found: Profiler.Profile): Profiler.Profile {
  const [first, ...others] = found.timeDeltas ?? []
  return first === undefined ? found : { ...found, startTime: found.startTime + first, timeDeltas: [0, ...others] }
}

/** Samples allocations, also of what is collected meanwhile. */
async function heapProfile(session: Session, duration: number): Promise<object> {
  await session.post('HeapProfiler.enable')
  await session.post('HeapProfiler.startSampling', {
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  })
  await sleep(duration)
  return (await session.post('HeapProfiler.stopSampling')).profile
}
