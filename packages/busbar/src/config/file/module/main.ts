/** Entry of the thread that runs a config. It sends what came of it, and is ended then. */
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parentPort, workerData } from 'node:worker_threads'
import { BusbarError } from '../../../contract/errors.ts'
import { silenceWarning } from '../../../shared/process/silence-warning.ts'
import type { ConfigFunction } from '../../define.ts'
import { toData } from './as-data.ts'
import { configError } from './config-error.ts'
import type { ModuleOutcome, ModuleRequest } from './messages.ts'

const { file, root, env = process.env, argv } = workerData as ModuleRequest
process.argv = [...argv]
// As in the main thread, whose listener hears nothing of it.
silenceWarning('MODULE_TYPELESS_PACKAGE_JSON')
// A pending promise does not keep a thread alive.
process.once('beforeExit', () => send({ is: 'unsettled' }))
process.once('uncaughtException', (error) => void fail(error))
void run()

async function run(): Promise<void> {
  try {
    const data = toData(await evaluate())
    await Promise.all([written(process.stdout), written(process.stderr)])
    send({ is: 'value', data })
  } catch (error) {
    await fail(error)
  }
}

async function evaluate(): Promise<unknown> {
  const module = (await import(pathToFileURL(file).href)) as { default?: unknown }
  if (!('default' in module)) throw noDefault()
  const config: unknown = await module.default
  return typeof config === 'function' ? await (config as ConfigFunction)({ env, root }) : config
}

async function fail(thrown: unknown): Promise<void> {
  const error = BusbarError.is(thrown) ? thrown : await configError(thrown, file, fileURLToPath(import.meta.url))
  await Promise.all([written(process.stdout), written(process.stderr)])
  send({ is: 'failed', error: error.toRecord() })
}

/** What the config has printed is on its way. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()))
}

function send(outcome: ModuleOutcome): void {
  parentPort?.postMessage(outcome)
}

function noDefault(): BusbarError {
  return new BusbarError('CONFIG_INVALID', {
    message: `${file} exports no config`,
    hint: 'Write: export default defineApp({ … }).',
  })
}
