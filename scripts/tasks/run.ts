import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Runs a program of `node_modules/.bin`, or any on PATH, in the repository's root; its output is ours. */
export function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const child = spawn(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
    shell: process.platform === 'win32',
  })
  const pass = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of signals) process.on(signal, pass)
  child.on('error', reject)
  child.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, pass)
    resolve(code ?? (signal === null ? 1 : 128))
  })
  return promise
}

/** Runs the steps one after the other, says what each took, and stops at the first that fails. `env`: variables of all of them. */
export async function runSteps(
  steps: readonly [name: string, command: string, ...args: string[]][],
  env?: NodeJS.ProcessEnv,
): Promise<void> {
  for (const [name, command, ...args] of steps) {
    const began = performance.now()
    const code = await run(command, args, env)
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    if (code !== 0) {
      console.error(`✖ ${name} failed (${command} ended with ${code} after ${seconds} s)`)
      process.exit(code)
    }
    console.error(`✔ ${name} ${seconds} s`)
  }
}
