import { resolve } from 'node:path'
import type { Address, HttpRedirect, TlsFiles } from '../app.ts'
import type { Problems } from '../problems.ts'
import type { ParsedConfig } from '../schema/app-schema.ts'
import type { ParsedTls } from '../schema/tls-schema.ts'
import { readTlsFiles } from './tls.ts'

/** Makes the paths absolute, and reads the files once to report what is wrong with them. */
export async function resolveTls(
  root: string,
  { tls, routes }: ParsedConfig['gateway'],
  gateway: Address,
  problems: Problems,
): Promise<TlsFiles | undefined> {
  checkClientCertificates(tls, routes, problems)
  if (tls === undefined) return undefined
  const pairOf = ({ cert, key }: { cert: string; key: string }): { cert: string; key: string } => ({
    cert: resolve(root, cert),
    key: resolve(root, key),
  })
  const { certificates, clientCa, clientCertificate, minVersion, redirect, hsts } = tls
  const files: TlsFiles = {
    ...pairOf(tls),
    ...(minVersion === 'TLSv1.3' && { minVersion }),
    ...(certificates !== undefined && { certificates: certificates.map(pairOf) }),
    ...(clientCa !== undefined && { clientCa: resolve(root, clientCa) }),
    ...(clientCertificate !== undefined && { clientCertificate }),
    ...(redirect !== undefined && { redirect: redirectOf(redirect, gateway, problems) }),
    ...(hsts !== undefined && { hsts: hstsOf(hsts) }),
  }
  await problems.collect(() => readTlsFiles(files))
  return files
}

function checkClientCertificates(
  tls: ParsedTls | undefined,
  routes: ParsedConfig['gateway']['routes'] = {},
  problems: Problems,
): void {
  if (tls?.clientCa !== undefined) return
  const keys = Object.entries(routes).flatMap(([key, route]) =>
    typeof route !== 'string' && route.clientCertificate === 'required'
      ? [`gateway.routes[${JSON.stringify(key)}].clientCertificate`]
      : [],
  )
  if (tls?.clientCertificate === 'required') keys.unshift('gateway.tls.clientCertificate')
  for (const key of keys)
    problems.add('CONFIG_INVALID', {
      message: `${key} is "required", and no authority is given that signs clients' certificates`,
      hint: 'Set gateway.tls.clientCa to the PEM file of that authority.',
    })
}

function redirectOf(redirect: NonNullable<ParsedTls['redirect']>, gateway: Address, problems: Problems): HttpRedirect {
  const { port, to = gateway.port } = typeof redirect === 'number' ? { port: redirect } : redirect
  if (to === 0)
    problems.add('CONFIG_INVALID', {
      message: 'gateway.tls.redirect leads to gateway.port, which is 0: the system chooses the port',
      hint: 'Set gateway.port, or gateway.tls.redirect.to.',
    })
  return { port, to }
}

/** RFC 6797, 6.1. */
function hstsOf(hsts: NonNullable<ParsedTls['hsts']>): string | undefined {
  if (hsts === false) return undefined
  const { maxAge, includeSubDomains, preload } =
    hsts === true ? { maxAge: 31_536_000, includeSubDomains: false, preload: false } : hsts
  return `max-age=${maxAge}${includeSubDomains ? '; includeSubDomains' : ''}${preload ? '; preload' : ''}`
}
