/** Tests for invalid configs: each must be refused with a code and a message. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BusbarError, type ErrorCode } from '../../../src/contract/errors.ts'
import { loadApp, type LoadOptions } from '../../../src/config/load.ts'
import { type Files, TestFolder } from './test-folder.ts'

export interface Broken extends LoadOptions {
  /** The fault, for the title. */
  readonly what: string
  readonly code: ErrorCode
  /** Parts of the message or the hint. `<root>` is replaced by the app's folder. */
  readonly says: readonly string[]
  /** The config of an app with programs in `web` and `stock`. */
  readonly config?: object
  /** Additional files. */
  readonly files?: Files
  /** Relative to the app's folder. */
  readonly place?: string
}

/** A program. It is never started. */
export const program = ''

/** Two valid services. */
const two = { web: './web', stock: './stock' }
export const defaults = { run: 'shared' }
export const app = { defaults, services: two }
export const web = (config: object): object => ({ services: { web: { path: './web', ...config } } })
export const gateway = (config: object): object => ({ ...app, gateway: config })

/** Defines a test for each config. `about`: part of the config with the faults. */
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
        const text = `${error.message}\n${error.hint ?? ''}`
        assert.equal(error.code, code, text)
        assert.ok(!/^\d+ problems/.test(error.message), text)
        for (const part of says)
          assert.ok(text.includes(part.replaceAll('<root>', folder.path)), `${part}\nis not in\n${text}`)
        assert.ok(!text.includes('undefined') && !text.includes('[object'), text)
        assert.equal(error.exitCode, 3)
      })
  })
}

/** Loads an invalid config, and returns the error. */
export async function failure(place: string, options: LoadOptions): Promise<BusbarError> {
  try {
    await loadApp(place, { env: {}, ...options })
  } catch (error) {
    assert.ok(BusbarError.is(error), String((error as Error).stack))
    return error
  }
  return assert.fail('it was accepted')
}
