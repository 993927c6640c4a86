// The certificate of the services' TLS ports, which they also trust. `setup/certificate.ts` creates
// it.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.env.CERTIFICATES ?? join(import.meta.dirname, 'certs')
const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]

/**
 * @type {{ cert: Buffer, key: Buffer } | undefined} Undefined before set-up. Then there are no TLS
 * ports.
 */
export const certificate =
  existsSync(cert) && existsSync(key) ? { cert: readFileSync(cert), key: readFileSync(key) } : undefined
