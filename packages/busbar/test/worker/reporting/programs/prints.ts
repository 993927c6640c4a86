/** Logs as fast as the outbox allows. */
import { parentPort, workerData } from 'node:worker_threads'
import { OutputWindow } from '../../../../src/shared/output/output-window.ts'
import { createOutbox } from '../../../../src/worker/reporting/outbox.ts'

const { memory, lines } = workerData as { memory: SharedArrayBuffer; lines: number }
const flow = { window: new OutputWindow(memory), blocks: true }
const outbox = createOutbox((message) => parentPort!.postMessage(message), undefined, flow)
for (let line = 0; line < lines; line++)
  outbox.log({ time: 0, level: 'info', service: 'any', stream: 'stdout', line: 'x'.repeat(872) })
outbox.flush()
