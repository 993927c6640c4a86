/**
 * Writes the script of Scalar's API reference into the built package, for the gateway's OpenAPI
 * page. Scalar's own package would install 243 MB of dependencies. Its Fastify plugin serves the
 * one file that browsers need: `docs/decisions/expose/reference-page.md`.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'

const busbar = new URL('../packages/busbar/', import.meta.url)
const target = new URL('dist/gateway/openapi/reference.js', busbar)

interface Fastify {
  register(plugin: unknown, options: object): Promise<unknown>
  inject(url: string): Promise<{ readonly statusCode: number; readonly body: string }>
  close(): Promise<void>
}

const resolve = createRequire(new URL('package.json', busbar))
const load = async (name: string): Promise<{ default: unknown }> =>
  (await import(pathToFileURL(resolve.resolve(name)).href)) as { default: unknown }

const { default: fastify } = (await load('fastify')) as { default: () => Fastify }
const { default: plugin } = await load('@scalar/fastify-api-reference')
const app = fastify()
try {
  await app.register(plugin, { routePrefix: '/reference', configuration: { content: {} } })
  const { statusCode, body } = await app.inject('/reference/js/scalar.js')
  if (statusCode !== 200) throw new Error(`the plugin answered ${statusCode} for its script`)
  await mkdir(new URL('.', target), { recursive: true })
  await writeFile(target, (await banner()) + withoutSourceMap(body))
  console.log(`${fileURLToPath(target)}: ${(body.length / 1e6).toFixed(1)} MB`)
} finally {
  await app.close()
}

/** The licence must be in every copy. */
async function banner(): Promise<string> {
  const folder = new URL('../', pathToFileURL(resolve.resolve('@scalar/fastify-api-reference')))
  const [licence, manifest] = await Promise.all([
    readFile(new URL('LICENSE', folder), 'utf8'),
    readFile(new URL('package.json', folder), 'utf8'),
  ])
  const { version } = JSON.parse(manifest) as { version: string }
  return `/*!\nScalar API Reference, of @scalar/fastify-api-reference ${version}: https://github.com/scalar/scalar\n\n${licence.trim()}\n*/\n`
}

/** The source map is not included, and browsers would request it. */
function withoutSourceMap(script: string): string {
  return script.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n')
}
