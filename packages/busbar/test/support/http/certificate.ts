import { randomBytes } from 'node:crypto'
import { generate } from 'selfsigned'
import type { TlsMaterial } from '../../../src/shared/control-messages.ts'

export interface TestTls extends TlsMaterial {
  /** PEM. Clients trust it. */
  readonly cert: string
  readonly key: string
}

/** A self-signed certificate for this machine. */
export async function selfSigned(ticketKeys: Uint8Array = randomBytes(48)): Promise<TestTls> {
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
  const pair = { cert: made.cert, key: made.private, names: ['localhost'] }
  return { ...pair, pairs: [pair], clientCa: undefined, minVersion: 'TLSv1.2', ticketKeys }
}
