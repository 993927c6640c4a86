import type { App } from '../../../src/config/app.ts'
import { loadApp, type LoadOptions } from '../../../src/config/load.ts'
import { type Files, TestFolder } from '../../support/app/test-folder.ts'

export const program = ''
export const shared = { run: 'shared' }

export async function load(files: Files, options: LoadOptions = {}, place = '.'): Promise<App> {
  using folder = new TestFolder(files)
  return await loadApp(folder.at(place), { env: {}, ...options })
}

/** An app of two programs, `web` and `stock`, with this config. */
export function loadTwo(config: object, options?: LoadOptions): Promise<App> {
  const services = { web: './web', stock: './stock' }
  const files = { 'web/index.js': program, 'stock/index.js': program }
  return load({ ...files, 'busbar.config.json': { defaults: shared, services, ...config } }, options)
}
