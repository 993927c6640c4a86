/**
 * A file beside the admin socket that says how the app was started: for commands that its
 * supervisor cannot answer, because it is stuck or suspended.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import * as z from 'zod'

export const startRecord = z.object({
  name: z.string(),
  root: z.string(),
  /** After `busbar start`. */
  args: z.array(z.string()),
  folder: z.string(),
  isDetached: z.boolean(),
})

export type StartRecord = z.output<typeof startRecord>

export function writeStartRecord(socket: string, record: StartRecord): void {
  writeFileSync(fileOf(socket), JSON.stringify(startRecord.parse(record)), { mode: 0o600 })
}

/** Undefined if `startApp` started the app. */
export function readStartRecord(socket: string): StartRecord | undefined {
  try {
    return startRecord.parse(JSON.parse(readFileSync(fileOf(socket), 'utf8')))
  } catch {
    return undefined
  }
}

/** Removes the socket too. */
export function removeSocket(socket: string): void {
  for (const path of [socket, fileOf(socket)]) rmSync(path, { force: true })
}

function fileOf(socket: string): string {
  return socket.replace(/\.sock$/, '.json')
}
