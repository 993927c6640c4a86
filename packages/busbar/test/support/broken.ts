/** Configs with a fault, each refused with a code and told in words, and what many of them are made of. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BusbarError, type ErrorCode } from '../../src/contract/errors.ts'
import { loadApp, type LoadOptions } from '../../src/config/load.ts'
import { type Files, TestFolder } from './folder.ts'

export interface Broken extends LoadOptions {
  /** What is wrong. */
  readonly what: string
  readonly code: ErrorCode
  /** What the message, or the hint behind it, must say. `<root>` stands for the app's folder. */
  readonly says: readonly string[]
  /** The config of an app that has programs in `web` and `stock`. */
  readonly config?: object
  /** Instead, or as well, these files. */
  readonly files?: Files
  /** Within the app's folder. */
  readonly place?: string
}

/** A program's file: what it does is of no matter, since nothing is started. */
export const program = ''

/** Two services that are in order. */
const two = { web: './web', stock: './stock' }
export const defaults = { run: 'shared' }
export const app = { defaults, services: two }
export const web = (config: object): object => ({ services: { web: { path: './web', ...config } } })
export const gateway = (config: object): object => ({ ...app, gateway: config })

/** A test for each. `about`: what the faults are in. */
export function refused(about: string, configs: readonly Broken[]): void {
  describe(`a config with a fault in ${about}`, () => {
    for (const { what, code, says, config, files, place = '.', env = {}, overrides = {} } of configs)
      it(`is refused with ${code}: ${what}`, async () => {
        using folder = new TestFolder({
          'web/index.js': program,
          'stock/index.js': program,
          ...files,
          ...(config !== undefined && { 'busbar.config.json': config }),
        })
        const error = await failure(folder.at(place), { env, overrides })
        const told = `${error.message}\n${error.hint ?? ''}`
        assert.equal(error.code, code, told)
        assert.ok(!/^\d+ problems/.test(error.message), told)
        for (const part of says)
          assert.ok(told.includes(part.replaceAll('<root>', folder.path)), `${part}\nis not in\n${told}`)
        assert.ok(!told.includes('undefined') && !told.includes('[object'), told)
        assert.equal(error.exitCode, 3)
      })
  })
}

/** Loads what must not be accepted. */
export async function failure(place: string, options: LoadOptions): Promise<BusbarError> {
  try {
    await loadApp(place, { env: {}, ...options })
  } catch (error) {
    assert.ok(BusbarError.is(error), String((error as Error).stack))
    return error
  }
  return assert.fail('it was accepted')
}
