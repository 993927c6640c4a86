import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join, resolve } from 'node:path'
import { BusbarError } from '../../contract/errors.ts'
import { makeFolder } from '../../config/file/make-folder.ts'
import type { CertificatePair } from '../certificates/make-certificate.ts'
import type { CommandContext } from '../command.ts'
import { print } from '../terminal/terminal.ts'

/** The names that `identity` of the config has by default. */
const files = { cert: 'app.pem', key: 'app-key.pem', ca: 'ca.pem' } as const

const authorityFiles = { cert: 'ca.pem', key: 'ca-key.pem' } as const

const defaultDays = 365
/** Without hosts, for apps of one machine. */
const thisMachine = ['localhost', '127.0.0.1', '::1']

/**
 * `busbar cert`: makes a certificate for an app, signed by a CA that the first call makes, or
 * revokes one. A running app reads the files again when they change.
 */
export async function cert(context: CommandContext): Promise<number> {
  const { revoke } = context.flags
  if (revoke !== undefined) return await revokeCertificate(context, revoke)
  const [name, ...hosts] = context.operands
  const { ca = 'ca', certs = 'certs', days = defaultDays, json } = context.flags
  checkName(name)
  for (const host of hosts) checkHost(host)
  const { makeCertificate } = await import('../certificates/make-certificate.ts')
  const caFolder = resolve(ca)
  const authority = await readOrMakeAuthority(caFolder)
  const reachedAt = hosts.length > 0 ? hosts : thisMachine
  const pair = await makeCertificate({ name, hosts: reachedAt, days }, authority)
  const folder = resolve(certs)
  await makeFolder(folder, writableHint('--certs'))
  await replace(join(folder, files.ca), authority.cert, 0o644, '--certs')
  await replace(join(folder, files.key), pair.key, 0o600, '--certs')
  await replace(join(folder, files.cert), pair.cert, 0o644, '--certs')
  const made = { name, hosts: reachedAt, folder, authority: authority.isNew ? caFolder : undefined }
  if (json) print(context.terminal.out, JSON.stringify(made))
  else for (const line of textOf(made)) print(context.terminal.out, line)
  return 0
}

async function revokeCertificate({ operands, flags, terminal }: CommandContext, file: string): Promise<number> {
  if (operands.length > 0)
    throw new BusbarError('USAGE', {
      message: `busbar cert --revoke takes no name, and got ${JSON.stringify(operands[0])}`,
      hint: 'The file alone says which certificate it is.',
    })
  const folder = resolve(flags.ca ?? 'ca')
  const authority = await readAuthority(folder)
  const certificate = await readIfThere(resolve(file))
  if (authority === undefined || certificate === undefined)
    throw new BusbarError('TLS_FILE_UNREADABLE', {
      message: `there is no ${authority === undefined ? `CA in ${folder}` : file}`,
      hint: 'Certificates are revoked where the key of the CA is. Give that folder by --ca.',
    })
  const { addToRevocations } = await import('../certificates/revoke-certificate.ts')
  const list = join(folder, 'crl.pem')
  await replace(list, await addToRevocations(certificate, authority, await readIfThere(list)), 0o644, '--ca')
  if (flags.json) print(terminal.out, JSON.stringify({ revoked: file, list }))
  else
    print(
      terminal.out,
      `revoked the certificate in ${file}: copy ${list} to every app, whose identity.crl names the copy`,
    )
  return 0
}

function textOf({
  name,
  hosts,
  folder,
  authority,
}: {
  name: string
  hosts: readonly string[]
  folder: string
  authority: string | undefined
}): string[] {
  return [
    ...(authority === undefined
      ? []
      : [`made a CA in ${authority}: keep ca-key.pem secret, since anybody who has it can call every app`]),
    `made the certificate of app ${name} for ${hosts.join(', ')} in ${folder}`,
  ]
}

/** As `allow` names apps. */
function checkName(name: string | undefined): asserts name is string {
  if (name === undefined)
    throw new BusbarError('USAGE', {
      message: 'busbar cert needs the name of an app',
      hint: 'Write busbar cert <name> [hosts...], or busbar cert --revoke <file>.',
    })
  if (/^[a-z0-9](?:[a-z0-9._-]{0,126}[a-z0-9])?$/.test(name)) return
  throw new BusbarError('USAGE', {
    message: `${JSON.stringify(name)} cannot be the name of an app in a certificate: use a-z, 0-9 and inner dots, hyphens and underscores`,
  })
}

/** A name of labels, whose first may be a wildcard. One whose last is a number is an address. */
const hostName =
  /^(?:\*\.)?(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*(?![0-9]+$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i

/** As callers write it in `remote`. An address with a zone (`fe80::1%eth0`) has another form. */
function checkHost(host: string): void {
  if ((isIP(host) !== 0 && !host.includes('%')) || (host.length <= 253 && hostName.test(host))) return
  throw new BusbarError('USAGE', {
    message: `${JSON.stringify(host)} is not a host: a certificate has names such as stock.example and IP addresses`,
    hint: 'Write each host by itself, without scheme, port and brackets: busbar cert stock stock.example 10.0.0.7.',
  })
}

function writableHint(flag: '--ca' | '--certs'): string {
  return `Give a folder in which this user can write: ${flag} <folder>.`
}

async function readOrMakeAuthority(folder: string): Promise<CertificatePair & { readonly isNew: boolean }> {
  const known = await readAuthority(folder)
  if (known !== undefined) return { ...known, isNew: false }
  const { makeAuthority } = await import('../certificates/make-certificate.ts')
  const made = await makeAuthority()
  await makeFolder(folder, writableHint('--ca'), 0o700)
  await replace(join(folder, authorityFiles.key), made.key, 0o600, '--ca')
  await replace(join(folder, authorityFiles.cert), made.cert, 0o644, '--ca')
  return { ...made, isNew: true }
}

/** Undefined if there is none. */
async function readAuthority(folder: string): Promise<CertificatePair | undefined> {
  const [certFile, keyFile] = [join(folder, authorityFiles.cert), join(folder, authorityFiles.key)]
  const [known, key] = await Promise.all([readIfThere(certFile), readIfThere(keyFile)])
  if (known !== undefined && key !== undefined) return { cert: known, key }
  if (known === undefined && key === undefined) return undefined
  throw new BusbarError('TLS_FILE_UNREADABLE', {
    message: `the CA in ${folder} is incomplete: ${known === undefined ? certFile : keyFile} is missing`,
    hint: 'Certificates are made where the key of the CA is. Give that folder by --ca, or an empty one for a new CA.',
  })
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new BusbarError('TLS_FILE_UNREADABLE', {
      message: `cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`,
      hint: 'Give the folder of the CA by --ca. This user needs permission to read its key.',
      cause: error,
    })
  }
}

/** A running app never reads a part of a file. */
async function replace(file: string, text: string, mode: number, flag: '--ca' | '--certs'): Promise<void> {
  const draft = `${file}.${process.pid}`
  try {
    await writeFile(draft, text, { mode })
    await rename(draft, file)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => {})
    throw new BusbarError('USAGE', {
      message: `${file} cannot be written: ${(cause as NodeJS.ErrnoException).code}`,
      hint: writableHint(flag),
      cause,
    })
  }
}
