/**
 * Runs the app whose config is in `APP` (JSON) under Busbar. With `PACKAGES` it has the packages of
 * that folder.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runBusbar } from './run.ts'

const { APP = '{}', APP_FOLDER = '.', PACKAGES } = process.env
mkdirSync(APP_FOLDER, { recursive: true })
writeFileSync(join(APP_FOLDER, 'busbar.config.json'), APP)
if (PACKAGES !== undefined) symlinkSync(join(PACKAGES, 'node_modules'), join(APP_FOLDER, 'node_modules'))
await runBusbar('start', APP_FOLDER, '--once')
