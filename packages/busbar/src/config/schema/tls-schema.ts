import * as z from 'zod'
import { filled, integer, port, portNumber } from './fields.ts'

const certOf = 'PEM file of the certificate and of those that signed it.'
const keyOf = 'PEM file of its private key, without a passphrase.'

export function clientCertificate(description: string) {
  return z.enum(['optional', 'required']).optional().meta({ title: '"optional" or "required"', description })
}

const certificate = z
  .strictObject({
    cert: filled().meta({ title: 'a file', description: certOf }),
    key: filled().meta({ title: 'a file', description: keyOf }),
  })
  .meta({ title: 'an object of cert and key' })

const hsts = z
  .union([
    z.boolean(),
    z.strictObject({
      maxAge: integer(0, 2 ** 31 - 1)
        .prefault(31_536_000)
        .meta({ title: 'an integer from 0 to 2147483647', description: 'Seconds. 0 makes browsers forget it.' }),
      includeSubDomains: z
        .boolean()
        .prefault(false)
        .meta({ title: 'true or false', description: 'Whether it is also true for all names below that of the site.' }),
      preload: z
        .boolean()
        .prefault(false)
        .meta({ title: 'true or false', description: 'Whether browsers may have the site in their built-in lists.' }),
    }),
  ])
  .optional()
  .meta({
    title: 'true, false, or an object',
    description: 'Sets `Strict-Transport-Security`: browsers then use HTTPS only, for a year by default.',
  })

const redirect = z
  .union([
    port(),
    z.strictObject({
      port: port().meta({ title: portNumber, description: 'The port to listen on.' }),
      to: port().optional().meta({
        title: portNumber,
        description: 'The port of the HTTPS URLs, as clients reach it. Default: `gateway.port`.',
      }),
    }),
  ])
  .optional()
  .meta({
    title: 'a port, or an object of port and to',
    description: 'A port for plain HTTP, such as 80, that redirects (308) to HTTPS.',
  })

export const tls = z
  .strictObject({
    cert: filled().meta({ title: 'a file', description: certOf }),
    key: filled().meta({ title: 'a file', description: keyOf }),
    certificates: z.array(certificate).optional().meta({
      title: 'a list of objects of cert and key',
      description: 'Further certificates. Clients get them by the names in them; all other clients get `cert`.',
    }),
    minVersion: z.enum(['TLSv1.2', 'TLSv1.3']).prefault('TLSv1.2').meta({
      title: '"TLSv1.2" or "TLSv1.3"',
      description: 'The oldest version of TLS that is accepted.',
    }),
    clientCa: filled().optional().meta({
      title: 'a file',
      description: 'PEM file of authorities. Clients are asked for a certificate that one of them has signed.',
    }),
    clientCertificate: clientCertificate(
      'Whether clients must show a certificate, for `entry` and for routes that do not say it. Needs `clientCa`. Default: `optional`.',
    ),
    hsts,
    redirect,
  })
  .optional()
  .meta({
    title: 'an object of cert and key',
    description: 'Serves HTTPS; the files are read again when they change.',
  })

export type ParsedTls = NonNullable<z.output<typeof tls>>
