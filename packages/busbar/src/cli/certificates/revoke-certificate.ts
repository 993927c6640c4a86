import { X509Certificate, X509Crl, X509CrlGenerator } from '@peculiar/x509'
import { BusbarError } from '../../contract/errors.ts'
import { algorithm, type CertificatePair, clockSkew, fromPem } from './make-certificate.ts'

/**
 * The list of a CA with one more certificate, as PEM. `list`: the previous one. It is valid as long
 * as the CA, because TLS accepts nobody with a list that has expired. The library writes another
 * name than the one that OpenSSL reads.
 */
export async function addToRevocations(
  certificate: string,
  authority: CertificatePair,
  list: string | undefined,
): Promise<string> {
  const ca = new X509Certificate(authority.cert)
  const serialNumber = toSigned((await signedBy(ca, certificate)).serialNumber)
  const previous = list === undefined ? [] : new X509Crl(list).entries
  const known = previous.map((entry) => ({ serialNumber: entry.serialNumber, revocationDate: entry.revocationDate }))
  const isKnown = known.some((entry) => entry.serialNumber === serialNumber)
  const crl = await X509CrlGenerator.create({
    issuer: ca.subjectName,
    thisUpdate: new Date(Date.now() - clockSkew),
    nextUpdate: ca.notAfter,
    entries: isKnown ? known : [...known, { serialNumber, revocationDate: new Date() }],
    signingKey: await fromPem(authority.key),
    signingAlgorithm: algorithm,
  })
  return `${crl.toString('pem').replaceAll(' CRL-----', ' X509 CRL-----')}\n`
}

/** In DER a number whose first bit is set is negative. The library writes the bytes as they are. */
function toSigned(serial: string): string {
  return /^[89a-f]/i.test(serial) ? `00${serial}` : serial
}

async function signedBy(ca: X509Certificate, pem: string): Promise<X509Certificate> {
  try {
    const certificate = new X509Certificate(pem)
    if (await certificate.verify({ publicKey: ca.publicKey, signatureOnly: true })) return certificate
  } catch (cause) {
    throw new BusbarError('TLS_FILE_INVALID', {
      message: `what should be revoked is not a certificate: ${(cause as Error).message}`,
      cause,
    })
  }
  throw new BusbarError('TLS_FILE_INVALID', {
    message: 'what should be revoked was not signed by this CA, so its list cannot name it',
    hint: 'Give the folder of the CA that has signed it by --ca.',
  })
}
