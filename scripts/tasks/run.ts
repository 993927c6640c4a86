import { spawn } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Runs a program of `node_modules/.bin` or PATH in the repository's root, with inherited output.
 */
export function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const child = spawn(command, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
    shell: process.platform === 'win32',
  })
  const pass = (signal: NodeJS.Signals) => child.kill(signal)
  // When another step has failed that ran at the same time.
  const kill = () => child.kill()
  for (const signal of signals) process.on(signal, pass)
  process.on('exit', kill)
  child.on('error', reject)
  child.on('exit', (code, signal) => {
    for (const name of signals) process.off(name, pass)
    process.off('exit', kill)
    resolve(code ?? (signal === null ? 1 : 128))
  })
  return promise
}

/**
 * Runs steps in sequence, prints their durations, and exits at the first failure. `env` applies to
 * all steps.
 */
export async function runSteps(
  steps: readonly [name: string, command: string, ...args: string[]][],
  env?: NodeJS.ProcessEnv,
): Promise<void> {
  for (const [name, command, ...args] of steps) {
    const began = performance.now()
    const code = await run(command, args, env)
    const seconds = ((performance.now() - began) / 1000).toFixed(1)
    if (code !== 0) {
      console.error(`✖ ${name} failed (${command} exited with ${code} after ${seconds} s)`)
      process.exit(code)
    }
    console.error(`✔ ${name} ${seconds} s`)
  }
}
