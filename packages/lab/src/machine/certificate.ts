import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import type { CertificateFiles } from '../arm.ts'

/** Makes a certificate for `localhost` that lasts a day and is trusted only by whoever is given it. */
export async function makeCertificate(folder: string): Promise<CertificateFiles> {
  await mkdir(folder, { recursive: true })
  const pems = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    notAfterDate: new Date(Date.now() + 86_400_000),
    extensions: [
      { name: 'basicConstraints', cA: true },
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
