/** Certificates for links between apps: an own CA, and a certificate for each app. */
import type { webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { appUri } from '../../shared/hosts.ts'

/** PEM. */
export interface CertificatePair {
  readonly cert: string
  readonly key: string
}

export interface AppCertificate {
  /** The name of the app, by which others allow it to call. */
  readonly name: string
  /** Where others reach it: names and IP addresses. */
  readonly hosts: readonly string[]
  /** How long it is valid. */
  readonly days: number
}

export const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const day = 24 * 60 * 60 * 1000
const caDays = 3650
/** Clocks of other machines may be this much behind. */
export const clockSkew = 60 * 60 * 1000

/** A CA that signs certificates of apps, and no other CA. */
export async function makeAuthority(): Promise<CertificatePair> {
  const keys = await makeKeys()
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: [{ CN: ['Busbar CA'] }],
    keys,
    signingAlgorithm: algorithm,
    ...validity(caDays),
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  })
  return { cert: certificate.toString('pem'), key: await toPem(keys.privateKey) }
}

/** For both directions: an app proves who it is when it calls, and when it is called. */
export async function makeCertificate(
  { name, hosts, days }: AppCertificate,
  authority: CertificatePair,
): Promise<CertificatePair> {
  const keys = await makeKeys()
  const ca = new X509Certificate(authority.cert)
  const certificate = await X509CertificateGenerator.create({
    subject: [{ CN: [name] }],
    issuer: ca.subjectName,
    publicKey: keys.publicKey,
    signingKey: await fromPem(authority.key),
    signingAlgorithm: algorithm,
    ...validity(days, ca.notAfter),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      new SubjectAlternativeNameExtension(alternativeNames(name, hosts)),
    ],
  })
  return { cert: certificate.toString('pem'), key: await toPem(keys.privateKey) }
}

function alternativeNames(name: string, hosts: readonly string[]): { type: 'url' | 'ip' | 'dns'; value: string }[] {
  const addresses = hosts.map((host) => ({ type: isIP(host) === 0 ? ('dns' as const) : ('ip' as const), value: host }))
  return [{ type: 'url', value: `${appUri}${name}` }, ...addresses]
}

/** Not beyond the end of the CA. */
function validity(days: number, end?: Date): { notBefore: Date; notAfter: Date } {
  const now = Date.now()
  const notAfter = Math.min(now + days * day, end?.getTime() ?? Infinity)
  return { notBefore: new Date(now - clockSkew), notAfter: new Date(notAfter) }
}

async function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
}

async function toPem(key: webcrypto.CryptoKey): Promise<string> {
  const der = Buffer.from(await crypto.subtle.exportKey('pkcs8', key)).toString('base64')
  return `-----BEGIN PRIVATE KEY-----\n${der.replaceAll(/.{64}/g, '$&\n').trimEnd()}\n-----END PRIVATE KEY-----\n`
}

export async function fromPem(pem: string): Promise<webcrypto.CryptoKey> {
  const der = Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
  return await crypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign'])
}
