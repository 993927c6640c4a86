import { randomBytes } from 'node:crypto'
import { generate } from 'selfsigned'
import type { TlsMaterial } from '../../src/shared/control.ts'

/** A certificate for this machine alone, which its clients verify by trusting `cert`. */
export async function selfSigned(ticketKeys: Uint8Array = randomBytes(48)): Promise<TlsMaterial> {
  const made = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  return { cert: made.cert, key: made.private, ticketKeys }
}
