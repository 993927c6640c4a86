import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ChannelCredentials,
  type Client,
  credentials,
  loadPackageDefinition,
  type ServiceClientConstructor,
} from '@grpc/grpc-js'
import { load } from '@grpc/proto-loader'

export type Stub = Client & Record<string, any>

/** A client of grpc-js, from the text of a `.proto` file. */
export async function stubOf(
  proto: string,
  service: string,
  address: string,
  security: ChannelCredentials = credentials.createInsecure(),
  options: object = {},
): Promise<Stub> {
  const Constructor = (await definitionOf(proto, service)) as unknown as new (...args: unknown[]) => Stub
  return new Constructor(address, security, {
    'grpc.enable_retries': 0,
    'grpc.use_local_subchannel_pool': 1,
    ...options,
  })
}

/** The definition of a service, for a client or a server of grpc-js. */
export async function definitionOf(proto: string, service: string): Promise<ServiceClientConstructor> {
  const folder = await mkdtemp(join(tmpdir(), 'busbar-proto-'))
  try {
    const file = join(folder, 'service.proto')
    await writeFile(file, proto)
    const definition = await load(file, { keepCase: true, longs: Number, defaults: true })
    const found = service
      .split('.')
      .reduce<any>((part, name) => part[name] as unknown, loadPackageDefinition(definition))
    return found as ServiceClientConstructor
  } finally {
    await rm(folder, { recursive: true })
  }
}

export interface Failure {
  readonly code: number
  readonly details: string
  readonly metadata: { get(name: string): unknown[] }
}

export function unary(stub: Stub, method: string, input: unknown, ...more: unknown[]): Promise<any> {
  return new Promise((resolve, reject) =>
    stub[method](input, ...more, (error: Error | null, answer: unknown) =>
      error === null ? resolve(answer) : reject(error),
    ),
  )
}

/** The failure of a call that must not succeed. */
export async function failureOf(call: Promise<unknown>): Promise<Failure> {
  const answer = await call.catch((error: unknown) => error)
  if (answer instanceof Error) return answer as unknown as Failure
  throw new Error(`the call succeeded: ${JSON.stringify(answer)}`)
}
