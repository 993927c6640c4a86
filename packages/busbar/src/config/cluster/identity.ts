/** How this app proves who it is to others, and what it accepts of them. */
import { createSecureContext } from 'node:tls'
import { BusbarError } from '../../contract/errors.ts'
import type { Identity, IdentityFiles, Revocations } from '../../shared/hosts.ts'
import { readAuthorities, readPair, readPem } from '../gateway/tls.ts'

/**
 * Throws TLS_FILE_UNREADABLE for a file that cannot be read, TLS_FILE_INVALID for one that is not
 * what it should be.
 */
export async function readIdentity(files: IdentityFiles): Promise<Identity> {
  const { cert, key } = await readPair(files, 'identity')
  const ca = await readAuthorities(files.ca, 'identity.ca')
  const revocations = files.crl === undefined ? undefined : await readRevocations(files.crl)
  return { cert, key, ca, ...(revocations !== undefined && { revocations }) }
}

/** A file may have several lists. Node reads only the first one of a text. */
async function readRevocations(file: string): Promise<Revocations> {
  const pem = await readPem(file, 'identity.crl')
  const lists = pem.match(/-----BEGIN X509 CRL-----[^-]*-----END X509 CRL-----/g) ?? []
  try {
    if (lists.length === 0) throw new Error('it has no PEM list')
    for (const crl of lists) createSecureContext({ crl })
    // Only apps with a list load it.
    const { X509Crl } = await import('@peculiar/x509')
    const serials = lists.flatMap((list) =>
      new X509Crl(list).entries.map(({ serialNumber }) => toNodesForm(serialNumber)),
    )
    return { lists, serials }
  } catch (error) {
    throw new BusbarError('TLS_FILE_INVALID', {
      message: `identity.crl: ${file} is not a usable list of revoked certificates: ${(error as Error).message}`,
      hint: 'It must be a PEM file with the list of each CA in identity.ca. `busbar cert --revoke` makes one.',
    })
  }
}

/** Node names a number in capitals, and without the leading zero of DER. */
function toNodesForm(serial: string): string {
  return serial.replace(/^(?:00)+/, '').toUpperCase()
}
