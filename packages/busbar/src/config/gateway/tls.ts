import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { BusbarError } from '../../contract/errors.ts'
import type { CertificateFiles, TlsFiles } from '../app.ts'

/** PEM contents of a certificate and its key. */
export interface CertificatePair {
  readonly cert: string
  readonly key: string
  /** The names that select it, in lower case: `a.example`, or `*.example`. */
  readonly names: readonly string[]
}

export interface TlsContents {
  /** The first is for clients that ask for no name of any. */
  readonly pairs: readonly CertificatePair[]
  /** PEM. */
  readonly clientCa: string | undefined
}

/**
 * Reads and checks all certificates, their keys, and the authorities of clients. Throws
 * TLS_FILE_UNREADABLE for a file that cannot be read, TLS_FILE_INVALID if a file is not PEM, needs
 * a passphrase, or does not match the other.
 */
export async function readTlsFiles(files: TlsFiles): Promise<TlsContents> {
  const { certificates = [], clientCa } = files
  const more = certificates.map((pair, at) => readPair(pair, `gateway.tls.certificates[${at}]`))
  const [first, ...others] = await Promise.all([readPair(files, 'gateway.tls'), ...more])
  for (const [at, { names }] of others.entries()) if (names.length === 0) throw nameless(certificates[at]!, at)
  return {
    pairs: [first, ...others],
    clientCa: clientCa === undefined ? undefined : await readAuthorities(clientCa, 'gateway.tls.clientCa'),
  }
}

/** `where`: the config key of both. Throws as {@link readTlsFiles} does. */
export async function readPair(files: CertificateFiles, where: string): Promise<CertificatePair> {
  // One after the other: if several cannot be read, the error is always of the same one.
  const cert = await readPem(files.cert, `${where}.cert`)
  const key = await readPem(files.key, `${where}.key`)
  const certificate = parseCertificate(cert, `${where}.cert`, files.cert)
  if (!certificate.checkPrivateKey(parseKey(key, `${where}.key`, files.key)))
    throw new BusbarError('TLS_FILE_INVALID', {
      message: `${where}: the key ${files.key} does not belong to the certificate ${files.cert}`,
      hint: 'Give the private key of this certificate. In a chain, the server certificate comes first.',
    })
  checkChain(cert, key, `${where}.cert`, files.cert)
  return { cert, key, names: namesOf(certificate) }
}

/** The certificates of authorities. `where`: the config key of the file. */
export async function readAuthorities(file: string, where: string): Promise<string> {
  const pem = await readPem(file, where)
  parseCertificate(pem, where, file)
  try {
    createSecureContext({ ca: pem })
  } catch (error) {
    throw invalid(where, file, (error as Error).message, pem)
  }
  return pem
}

/**
 * The names of hosts for which the certificate is valid (RFC 9525, 6.3). Of a wildcard, the whole
 * first label is the `*`.
 */
function namesOf({ subjectAltName = '' }: X509Certificate): string[] {
  const names = subjectAltName
    .split(', ')
    .flatMap((one) => (one.startsWith('DNS:') ? [one.slice(4).toLowerCase()] : []))
  return names.filter((name) => /^(?:\*\.)?[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/.test(name))
}

/** `where`: the config key of the file. Throws TLS_FILE_UNREADABLE. */
export async function readPem(file: string, where: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new BusbarError('TLS_FILE_UNREADABLE', {
      message: `${where}: ${file} cannot be read: ${(error as Error).message}`,
      hint: 'Paths are relative to the folder of the config. The user that runs Busbar needs read permission.',
      cause: error,
    })
  }
}

function parseCertificate(pem: string, where: string, file: string): X509Certificate {
  // X509Certificate also accepts DER, which the TLS server refuses.
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw invalid(where, file, 'it has no PEM certificate', pem)
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw invalid(where, file, (error as Error).message, pem)
  }
}

/** X509Certificate parses only the first certificate; a TLS context parses the whole chain. */
function checkChain(cert: string, key: string, where: string, file: string): void {
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw invalid(where, file, (error as Error).message, cert)
  }
}

function parseKey(pem: string, where: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    const isEncrypted = /BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(pem)
    throw invalid(where, file, isEncrypted ? 'it needs a passphrase' : (error as Error).message, pem)
  }
}

function invalid(where: string, file: string, reason: string, pem: string): BusbarError {
  const isKey = where.endsWith('.key')
  const other = isKey ? /BEGIN CERTIFICATE-----/ : /PRIVATE KEY-----/
  return new BusbarError('TLS_FILE_INVALID', {
    message: `${where}: ${file} is not a usable ${isKey ? 'private key' : 'certificate'}: ${reason}`,
    hint: other.test(pem) ? 'Are cert and key swapped?' : 'It must be a PEM file, and a key must have no passphrase.',
  })
}

function nameless({ cert }: CertificateFiles, at: number): BusbarError {
  return new BusbarError('TLS_FILE_INVALID', {
    message: `gateway.tls.certificates[${at}].cert: ${cert} has no name of a host, so no client can ask for it`,
    hint: 'Give a certificate with a subjectAltName of type DNS, or make it gateway.tls.cert, which is for all other clients.',
  })
}
