/** Operations that look into the workers of a service. */
import { open, mkdtemp, rm } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import * as z from 'zod'
import { BusbarError } from '../../../contract/errors.ts'
import { temporaryPrefix } from '../../../shared/process/temporary-folders.ts'
import type { EvaluationResult, WorkerTask } from '../../../shared/worker-tasks.ts'
import type { WorkerHandle } from '../../workers/worker-handle.ts'
import { defineFile, defineJson } from './operation.ts'
import { requireNode, servingWorker, servingWorkers } from './serving-worker.ts'

const instance = z.int().min(0).optional().meta({ description: 'default: the first that serves' })

export const signalService = defineJson({
  name: 'signalService',
  method: 'POST',
  path: '/services/{service}/signal',
  summary:
    'Runs the handlers that a service has for a signal, in all of its instances. A command gets the real signal.',
  input: z.strictObject({
    service: z.string(),
    signal: z.enum(Object.keys(constants.signals) as [string, ...string[]]),
  }),
  output: z.object({
    workers: z.array(
      z.object({
        worker: z.string(),
        handled: z.boolean().meta({ description: 'false: it has no handler, and nothing happened' }),
      }),
    ),
  }),
  async handle(input, context) {
    const { service } = input
    const signal = input.signal as NodeJS.Signals
    const workers = servingWorkers(service, context)
    const handled = await Promise.all(workers.map((worker) => signalWorker(worker, service, signal)))
    return { workers: workers.map(({ spec }, at) => ({ worker: spec.name, handled: handled[at]! })) }
  },
})

export const takeHeapSnapshot = defineFile({
  name: 'takeHeapSnapshot',
  method: 'POST',
  path: '/services/{service}/heap-snapshot',
  summary:
    'A snapshot of the heap of the worker that hosts the service (.heapsnapshot). The worker is paused meanwhile, and needs twice the memory.',
  input: z.strictObject({ service: z.string(), instance }),
  async handle({ service, instance }, context) {
    const worker = servingWorker(service, instance, context)
    requireNode(worker, service, 'a heap snapshot')
    return await fileOf(worker, (file) => ({ kind: 'heapSnapshot', file }))
  },
})

export const takeProfile = defineFile({
  name: 'takeProfile',
  method: 'POST',
  path: '/services/{service}/profile',
  summary:
    'A profile of the worker that hosts the service: where it uses the processor (.cpuprofile), or where it allocates (.heapprofile).',
  input: z.strictObject({
    service: z.string(),
    instance,
    of: z.enum(['cpu', 'heap']).default('cpu'),
    seconds: z.number().min(0.1).max(300).default(10),
  }),
  async handle({ service, instance, of, seconds }, context) {
    const worker = servingWorker(service, instance, context)
    requireNode(worker, service, 'a profile')
    return await fileOf(worker, (file) => ({ kind: 'profile', of, duration: seconds * 1000, file }))
  },
})

export const evaluateCode = defineJson({
  name: 'evaluateCode',
  method: 'POST',
  path: '/services/{service}/evaluate',
  summary: 'Runs JavaScript in a worker of the service, as its own code. On the admin socket only.',
  localOnly: true,
  input: z.strictObject({ service: z.string(), instance, code: z.string(), colors: z.boolean().default(false) }),
  output: z.object({
    ok: z.boolean().meta({ description: 'false: it threw' }),
    text: z.string(),
    isIncomplete: z.boolean().meta({ description: 'more lines may make it valid code' }),
  }),
  async handle({ service, instance, code, colors }, context) {
    const worker = servingWorker(service, instance, context)
    requireNode(worker, service, 'code')
    return (await worker.perform({ kind: 'evaluate', service, code, colors })) as EvaluationResult
  },
})

/** No program can handle these two. */
const uncatchable: ReadonlySet<string> = new Set(['SIGKILL', 'SIGSTOP'])

async function signalWorker(worker: WorkerHandle, service: string, signal: NodeJS.Signals): Promise<boolean> {
  const { kind } = worker.spec
  if (kind === 'command' || (kind === 'process' && uncatchable.has(signal))) return sendSignal(worker, signal)
  if (!uncatchable.has(signal)) return (await worker.perform({ kind: 'signal', service, signal })) as boolean
  throw new BusbarError('OPERATION_UNSUPPORTED', {
    message: `'${service}' runs in a thread, which cannot get ${signal}`,
    hint: "Run busbar restart to end it with the app, or give it a process of its own: run: 'process'.",
    service,
  })
}

/** To the whole group of a command's processes. */
function sendSignal({ spec, pid }: WorkerHandle, signal: NodeJS.Signals): boolean {
  if (pid === undefined) return false
  return process.kill(spec.kind === 'command' && process.platform !== 'win32' ? -pid : pid, signal)
}

/**
 * The file that a task writes, readable by this user alone. It is gone when it has been read: it
 * holds what the service has in memory.
 */
async function fileOf(worker: WorkerHandle, task: (file: string) => WorkerTask): Promise<Readable> {
  const folder = await mkdtemp(join(tmpdir(), temporaryPrefix('file')))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const path = join(folder, 'content')
    await worker.perform(task(path))
    const file = await open(path)
    return file.createReadStream().once('close', () => void remove())
  } catch (error) {
    await remove()
    throw error
  }
}
