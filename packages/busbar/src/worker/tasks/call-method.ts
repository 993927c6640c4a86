import { client } from '../../contract/client/client.ts'
import { BusbarError } from '../../contract/errors.ts'
import type { TypedHost } from '../../contract/host/typed-host.ts'
import { isPlainContract } from '../../contract/plain-contract.ts'
import { fromTagged } from '../../contract/value/decode.ts'
import { toTaggedFor } from '../../contract/value/encode.ts'
import type { CallResult, WorkerTask } from '../../shared/worker-tasks.ts'
import type { HostedService } from '../hosted-service.ts'

type CallTask = Extract<WorkerTask, { kind: 'call' }>

/**
 * Calls a method as a client from outside does, so that limits, balancing and validation apply. The
 * contract is that of the service in this worker.
 */
export async function callMethod(task: CallTask, { typed }: HostedService): Promise<CallResult> {
  const { service } = task
  if (typed === undefined)
    throw new BusbarError('METHOD_UNKNOWN', {
      message: `service '${service}' is a program and has no methods`,
      hint: `Run busbar inject ${service} GET / to send it a request.`,
      service,
      data: { nearest: [] },
    })
  try {
    return await run(task, typed)
  } catch (thrown) {
    // A method's own error has a code that only its contract knows.
    if (!(thrown instanceof BusbarError)) throw thrown
    const { code, message, status, data } = thrown as BusbarError<string>
    return { kind: 'failed', code, message, status, data: data === undefined ? undefined : toTaggedFor('json', data) }
  }
}

async function run({ service, method, timeout, maxValues, ...task }: CallTask, host: TypedHost): Promise<CallResult> {
  const { contract } = host
  const { kind } = host.method(method).spec
  const input = fromTagged(task.input)
  const options = { service, timeout, retries: 0 }
  const methods = client(contract, `http://${service}.internal`, options) as unknown as Methods
  if (isPlainContract(contract))
    return { kind: 'fn', result: toJson(await methods[method]!(...(Array.isArray(input) ? input : [input]))) }
  const answer = methods[method]!(input)
  if (kind === 'fn') return { kind, result: toJson(await answer) }
  return await collect(answer as AsyncIterable<unknown>, maxValues)
}

type Methods = Readonly<Record<string, (...args: unknown[]) => unknown>>

async function collect(values: AsyncIterable<unknown>, most: number): Promise<CallResult> {
  const collected: unknown[] = []
  for await (const value of values) {
    if (collected.length === most) return { kind: 'stream', values: collected, ended: false }
    collected.push(toJson(value))
  }
  return { kind: 'stream', values: collected, ended: true }
}

function toJson(value: unknown): unknown {
  return value === undefined ? undefined : toTaggedFor('json', value)
}
