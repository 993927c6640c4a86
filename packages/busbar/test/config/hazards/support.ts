import { findHazards } from '../../../src/config/hazards/find-hazards.ts'
import type { Hazard } from '../../../src/config/hazards/hazard.ts'
import { loadApp } from '../../../src/config/load.ts'
import { type Files, TestFolder } from '../../support/app/test-folder.ts'

/** The hazards of an app whose services are the top-level folders of `files` with an `index.*`. */
export async function hazardsOf(files: Files, config: object = {}): Promise<Hazard[]> {
  const folders = Object.keys(files).flatMap((name) => /^(\w+)\/index\./.exec(name)?.[1] ?? [])
  const services = Object.fromEntries(folders.map((name) => [name, `./${name}`]))
  using folder = new TestFolder({
    ...files,
    'busbar.config.json': { defaults: { run: 'shared' }, services, ...config },
  })
  return await findHazards(await loadApp(folder.path, { env: {} }))
}

export const other: Files = { 'other/index.js': 'require("node:http")' }
