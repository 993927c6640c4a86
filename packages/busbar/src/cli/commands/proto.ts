import { writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { loadProtoServices, type ProtoService } from '../../config/contracts/load-contracts.ts'
import { loadApp } from '../../config/load.ts'
import { BusbarError } from '../../contract/errors.ts'
import { makeFolder } from '../../config/file/make-folder.ts'
import { protoPathOf } from '../../contract/protobuf/descriptors.ts'
import { toLock } from '../../contract/protobuf/lock.ts'
import type { ProtoLock } from '../../contract/protobuf/lock-types.ts'
import { printProto } from '../../contract/protobuf/print.ts'
import type { CommandContext } from '../command.ts'
import { resolveOperand } from '../operand.ts'
import { reportingAnEarlyEnd } from '../terminal/early-end.ts'
import { paint, print } from '../terminal/terminal.ts'

/**
 * `busbar proto`: prints the `.proto` of a typed service. `--lock` gives new fields their numbers
 * for ever, `--into` writes the files of all services.
 */
export async function proto(context: CommandContext): Promise<number> {
  return await reportingAnEarlyEnd('busbar proto', context.terminal.err, () => printOrWrite(context))
}

async function printOrWrite(context: CommandContext): Promise<number> {
  const { flags, terminal, operands } = context
  const app = await loadApp(resolveOperand(context), { env: terminal.env, overrides: flags })
  const services = selected(await loadProtoServices(app), operands[1])
  const note = (text: string): void => print(terminal.err, `${paint(terminal.err, 'yellow', 'note:')} ${text}`)
  for (const { file } of services) file.notes.forEach(note)
  if (flags.lock === true || flags.into !== undefined) {
    if (flags.lock === true) for (const service of services) print(terminal.out, await writeLock(service))
    const folder = flags.into === undefined ? undefined : resolve(terminal.cwd, flags.into)
    if (folder !== undefined) for (const service of services) print(terminal.out, await writeProto(service, folder))
    return 0
  }
  const [service, ...others] = services
  if (others.length > 0) throw ambiguous(services)
  print(terminal.out, printProto(service!.file).trimEnd())
  if (isOutdated(service!))
    note(`${service!.lockFile} has not all of its fields: run busbar proto --lock, and commit it`)
  return 0
}

function selected(services: readonly ProtoService[], name: string | undefined): readonly ProtoService[] {
  const found = name === undefined ? services : services.filter((service) => service.name === name)
  if (found.length > 0) return found
  const names = services.map((service) => service.name).join(', ')
  throw new BusbarError('SERVICE_NOT_FOUND', {
    message:
      name === undefined
        ? 'the app has no typed service with a contract that lists its methods'
        : `${name} is no typed service of this app`,
    hint:
      names === ''
        ? 'A service needs a contract for gRPC: see docs/guides/call/typed-services.md.'
        : `The typed services are ${names}.`,
  })
}

function ambiguous(services: readonly ProtoService[]): BusbarError {
  return new BusbarError('USAGE', {
    message: `the app has ${services.length} typed services, and a .proto file has one`,
    hint: `Name one of ${services.map(({ name }) => name).join(', ')} after the folder, or write all by --into <folder>.`,
  })
}

async function writeLock({ file, lock, lockFile }: ProtoService): Promise<string> {
  await writeFile(lockFile, lockText(toLock(file, lock)))
  return lockFile
}

async function writeProto({ file }: ProtoService, folder: string): Promise<string> {
  const path = resolve(folder, protoPathOf(file))
  await makeFolder(dirname(path), 'Give a folder in which this user can write: --into <folder>.')
  await writeFile(path, printProto(file))
  return path
}

function isOutdated({ file, lock }: ProtoService): boolean {
  return lock === undefined || lockText(toLock(file, lock)) !== lockText(lock)
}

function lockText(lock: ProtoLock): string {
  return `${JSON.stringify(lock, undefined, 2)}\n`
}
