import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { BusbarError } from '../../contract/errors.ts'
import type { TlsFiles } from '../app.ts'

export interface TlsPair {
  /** PEM texts. */
  readonly cert: string
  readonly key: string
}

/**
 * Reads a certificate and its key, and makes sure that they are that: TLS_FILE_UNREADABLE for a file that is missing or
 * may not be read, TLS_FILE_INVALID for one that is no PEM, needs a passphrase, or does not belong to the other.
 */
export async function readTlsFiles(files: TlsFiles): Promise<TlsPair> {
  const [cert, key] = await Promise.all([readPem(files.cert, 'cert'), readPem(files.key, 'key')])
  const certificate = parseCertificate(cert, files.cert)
  if (!certificate.checkPrivateKey(parseKey(key, files.key)))
    throw new BusbarError('TLS_FILE_INVALID', {
      message: `gateway.tls: the key ${files.key} does not belong to the certificate ${files.cert}`,
      hint: 'Give the key that the certificate was made for; in a chain, the own certificate comes first.',
    })
  checkChain(cert, key, files.cert)
  return { cert, key }
}

async function readPem(file: string, name: keyof TlsFiles): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new BusbarError('TLS_FILE_UNREADABLE', {
      message: `gateway.tls.${name}: ${file} cannot be read: ${(error as Error).message}`,
      hint: 'Paths are relative to the folder of the config; the user that runs Busbar must be allowed to read them.',
      cause: error,
    })
  }
}

function parseCertificate(pem: string, file: string): X509Certificate {
  // X509Certificate takes DER too, which the TLS server behind it would refuse.
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw invalid('cert', file, 'it has no PEM certificate', pem)
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw invalid('cert', file, (error as Error).message, pem)
  }
}

/** The certificates behind the first are only looked at by the server itself. */
function checkChain(cert: string, key: string, file: string): void {
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    throw invalid('cert', file, (error as Error).message, cert)
  }
}

function parseKey(pem: string, file: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    const isEncrypted = /BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(pem)
    throw invalid('key', file, isEncrypted ? 'it needs a passphrase' : (error as Error).message, pem)
  }
}

function invalid(name: keyof TlsFiles, file: string, reason: string, pem: string): BusbarError {
  const other = name === 'cert' ? /PRIVATE KEY-----/ : /BEGIN CERTIFICATE-----/
  return new BusbarError('TLS_FILE_INVALID', {
    message: `gateway.tls.${name}: ${file} is no ${name === 'cert' ? 'certificate' : 'private key'} that can be used: ${reason}`,
    hint: other.test(pem) ? 'Are cert and key swapped?' : 'It must be a PEM file; a key must have no passphrase.',
  })
}
