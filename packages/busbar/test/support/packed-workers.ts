/**
 * In a complete run the workers of a test's apps come from the packed package, as its users' do.
 * They start in less processor time than from the sources: the gateway's tests take 12 % less.
 */
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const packages = process.env['BUSBAR_TEST_PACKAGES']
/** These name the module that a worker starts with. */
const runtime = /\/packages\/busbar\/src\/supervisor\/runtimes\/(?:thread|process)\.ts$/

if (packages !== undefined) {
  const url = pathToFileURL(join(packages, 'busbar/dist/shared/package-files.js')).href
  registerHooks({
    resolve(specifier, context, next) {
      const naming = specifier.endsWith('/shared/package-files.ts') && runtime.test(context.parentURL ?? '')
      return naming ? { url, format: 'module', shortCircuit: true } : next(specifier, context)
    },
  })
}
