import { randomBytes } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import type { CertificateFiles } from '../arm.ts'
import { assignCpus } from '../machine/cpu-assignment.ts'
import { Reaper } from '../machine/reaper.ts'
import type { RunningArmOptions } from './running-arm.ts'

/** What all running arms share. */
export type Workspace = Omit<RunningArmOptions, 'workers' | 'signal'>

/** Runs `work` with a temporary workspace, which is removed even if this process is killed. */
export async function withWorkspace<T>(work: (workspace: Workspace) => Promise<T>): Promise<T> {
  // Short, since the path of a Unix socket may have at most 107 bytes.
  const folder = join(tmpdir(), `busbar-lab-${randomBytes(6).toString('base64url')}`)
  // The reaper starts first, so that it removes the folder in any case.
  const reaper = new Reaper(folder)
  try {
    await mkdir(folder, { mode: 0o700 })
    const certificate = await createCertificate(folder)
    return await work({
      folder,
      reaper,
      certificate,
      environment: environment(folder),
      launcher: assignCpus().launcher,
    })
  } finally {
    await reaper.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * The environment of every arm, without the lab's own Node options. Arms are killed, so their
 * temporary files are in the workspace, which is removed.
 */
function environment(folder: string): Record<string, string> {
  const { PATH = '', HOME = '' } = process.env
  return { PATH, HOME, NODE_ENV: 'production', TMPDIR: folder }
}

/** Creates a self-signed certificate for `localhost` that is valid for a day. */
export async function createCertificate(folder: string): Promise<CertificateFiles> {
  await mkdir(folder, { recursive: true })
  const pems = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + 86_400_000),
    extensions: [
      // Not a CA: strict clients refuse a server whose own certificate is one, even if they trust
      // it.
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
