/** Creates the example's certificate, unless there is one that is valid for another week. */
import { X509Certificate } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { generate } from 'selfsigned'

const week = 7 * 24 * 60 * 60 * 1000
const folder = process.argv[2] ?? join(import.meta.dirname, '..', 'certs')
const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') }

if (!(await isGood(files.cert))) {
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
  await mkdir(folder, { recursive: true })
  await writeFile(files.key, made.private, { mode: 0o600 })
  await writeFile(files.cert, made.cert)
}

async function isGood(file: string): Promise<boolean> {
  try {
    return new X509Certificate(await readFile(file)).validToDate.getTime() > Date.now() + week
  } catch {
    return false
  }
}
