import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import type { CertificateFiles } from '../arm.ts'

/** Makes a certificate for `localhost` that lasts a day and is trusted only by whoever is given it. */
export async function makeCertificate(folder: string): Promise<CertificateFiles> {
  await mkdir(folder, { recursive: true })
  const pems = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + 86_400_000),
    extensions: [
      // No authority: a strict client refuses a server whose own certificate is one, even where it is trusted itself.
      { name: 'basicConstraints', cA: false },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
        ],
      },
    ],
  })
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }
  await writeFile(files.cert, pems.cert)
  await writeFile(files.key, pems.private, { mode: 0o600 })
  return files
}
