import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../../bin/busbar.js', import.meta.url))
const old = await findOldNode()

test(
  'an older Node gets one clear sentence and 2',
  { skip: old === undefined && 'no Node below 24 on PATH' },
  async () => {
    const { code, stdout, stderr } = await run(old!.path, [bin, 'start'])
    assert.deepEqual([code, stdout], [2, ''])
    assert.equal(
      stderr,
      `busbar needs Node >= 24.20 or >= 26.6, and this is Node ${old!.version}. Install a newer Node and try again.\n`,
    )
  },
)

/**
 * The machine's own Node, which is behind the installed one on PATH. `.ci/run` installs one if
 * there is none.
 */
async function findOldNode(): Promise<{ path: string; version: string } | undefined> {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => !folder.includes('node_modules'))
  const candidates = [process.env['BUSBAR_OLD_NODE'], ...folders.map((folder) => join(folder, 'node'))]
  for (const path of candidates) {
    if (path === undefined || !existsSync(path)) continue
    const version = (await run(path, ['-p', 'process.versions.node'])).stdout.trim()
    if (Number.parseInt(version) < 24) return { path, version }
  }
  return undefined
}

/** Without the options of this process, which an older Node may not support. */
function run(command: string, args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, NODE_OPTIONS: '' }
  const { promise, resolve } = Promise.withResolvers<{ code: number; stdout: string; stderr: string }>()
  execFile(command, args, { env }, (error, stdout, stderr) => {
    resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
  })
  return promise
}
