/**
 * Starts several programs as processes of their own, as one would from a shell, and ends with them. `PROGRAMS` is a
 * JSON list of `{ file, env }`.
 */
import { spawn } from 'node:child_process'

const programs = JSON.parse(process.env['PROGRAMS'] ?? '[]') as { file: string; env: Record<string, string> }[]
const children = programs.map(({ file, env }) =>
  spawn(process.execPath, [file], { stdio: 'inherit', env: { ...process.env, ...env } }),
)
for (const child of children)
  child.on('exit', (code) => {
    for (const other of children) other.kill('SIGKILL')
    process.exit(code ?? 1)
  })
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    for (const child of children) child.kill(signal)
  })
