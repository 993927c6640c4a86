import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { App } from '../config/app.ts'
import { defaultAccelerators, type AcceleratorState } from '../shared/accelerators.ts'

const extension = import.meta.url.slice(-3)

/** Which accelerators a worker of the app would use here: asked of a thread, since the main one has no code of workers. */
export async function probeAccelerators({ accelerators = defaultAccelerators }: App): Promise<AcceleratorState[]> {
  const thread = new Worker(new URL(`../worker/probe${extension}`, import.meta.url), { workerData: accelerators })
  const [states] = (await once(thread, 'message')) as [AcceleratorState[]]
  await thread.terminate()
  return states
}
