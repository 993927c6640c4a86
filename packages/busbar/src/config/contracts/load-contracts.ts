import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Contract, isContract } from '../../contract/contract.ts'
import { BusbarError } from '../../contract/errors.ts'
import { isPlainContract } from '../../contract/plain-contract.ts'
import { lockFileName } from '../../contract/protobuf/lock.ts'
import { parseLock } from '../../contract/protobuf/parse-lock.ts'
import type { ProtoLock } from '../../contract/protobuf/lock-types.ts'
import { fullServiceName, type ProtoFile } from '../../contract/protobuf/model.ts'
import { toProtoFile } from '../../contract/protobuf/proto-file.ts'
import type { App, Service } from '../app.ts'
import { findContract } from '../services/entry.ts'
import { valibotOf } from './valibot.ts'

/** A typed service with its protobuf form. */
export interface ProtoService {
  /** Its name in the app. */
  readonly name: string
  readonly contract: Contract
  readonly file: ProtoFile
  readonly lock: ProtoLock | undefined
  /** Where the lock file is, or would be. */
  readonly lockFile: string
}

/**
 * Loads the contracts of the app's typed services. Services of a plain class have none that lists
 * methods, and are left out. Rejects with PROTO_INCOMPATIBLE or CONTRACT_INVALID.
 */
export async function loadProtoServices(app: Pick<App, 'services'>): Promise<ProtoService[]> {
  const typed = app.services.filter(({ kind }) => kind === 'typed')
  const loaded = await Promise.all(typed.map(loadProtoService))
  const found = loaded.filter((service) => service !== undefined)
  checkNames(found)
  return found
}

async function loadProtoService(service: Service): Promise<ProtoService | undefined> {
  const { name, path, entry } = service
  // A build puts both into one folder.
  const file = (await findContract(dirname(entry.file))) ?? (await findContract(path))
  if (file === undefined) return undefined
  const contract = contractIn((await import(pathToFileURL(file).href)) as Record<string, unknown>, name, file)
  if (isPlainContract(contract)) return undefined
  const lockFile = join(path, lockFileName)
  const lock = (await readLock(lockFile)) ?? contract.protoLock
  const valibot = await valibotOf(path)
  return { name, contract, lock, lockFile, file: toProtoFile(contract, { lock, valibot }) }
}

/** The export with the service's name, else the only one. */
function contractIn(module: Record<string, unknown>, service: string, file: string): Contract {
  const contracts = [...new Set(Object.values(module).filter(isContract))]
  const named = contracts.find(({ name }) => name === service)
  const [first] = contracts
  if (named !== undefined) return named
  if (first !== undefined && contracts.length === 1) return first
  throw new BusbarError('CONTRACT_INVALID', {
    message: `${file} exports ${contracts.length} contracts, and none is named '${service}'`,
    hint: 'Export the contract of the service: gRPC needs its schemas.',
    service,
  })
}

async function readLock(file: string): Promise<ProtoLock | undefined> {
  try {
    return parseLock(await readFile(file, 'utf8'), file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Clients find a message and a service by its full name. */
function checkNames(services: readonly ProtoService[]): void {
  const taken = new Map<string, string>()
  for (const { name, file } of services) {
    const names = [fullServiceName(file), ...[...file.messages.keys()].map((message) => `${file.package}.${message}`)]
    for (const full of names) {
      const other = taken.get(full)
      if (other !== undefined)
        throw new BusbarError('CONTRACT_INVALID', {
          message: `the services '${other}' and '${name}' both have ${full} in protobuf`,
          hint: "Give one of them another package: service('…', { … }, { grpc: 'package.Service' }).",
          service: name,
        })
    }
    for (const full of names) taken.set(full, name)
  }
}
